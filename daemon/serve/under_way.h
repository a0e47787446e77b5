/* SPDX-License-Identifier: MIT
 *
 * The work in progress when the daemon crashed, in a small mapped file of the state directory: the
 * handler of a fatal signal (fatal.h) records it there, and the next start counts it. Work that has
 * crashed the daemon twice is refused (the judge of lib/work.h) until an operator allows it
 * (`batchaid refused allow`) or another version of the program runs. An end without a record, by
 * SIGKILL or a power cut, does not count.
 *
 * There is one such file in a process. Without space for the file nothing is recorded, and nothing
 * refused.
 */
#ifndef DAEMON_SERVE_UNDER_WAY_H
#define DAEMON_SERVE_UNDER_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/serve/fault_hook.h"
#include "lib/err.h"
#include "lib/log.h"
#include "lib/work.h"

enum { UNDER_WAY_ENDS = 2 }; /* crashes until work is refused */

/* Called by a starting daemon that holds the lock: counts the record of the last daemon, and logs
 * it. */
void under_way_open(const char *path, const struct log *log);
void under_way_close(void);
/* Whether this process has served here before it executed itself again. */
bool under_way_is_again(void);
/* The port that the system chose before the process executed itself again; `port` if it is not 0,
 * or there was none. */
int under_way_port(int port);
/* Where it listens now. */
void under_way_listens(const char *endpoint);

/* Begins to judge; `begins` is called for all work (fault_hook.h); NULL: none. */
void under_way_judge(fault_hook begins);

/* In the handler of a fatal signal. `loop`: on the loop's thread, or caused by its standstill
 * (watchdog). */
void under_way_note_end(int signo, bool loop, bool watchdog);
/* For the handler of the signal: whether the process may execute itself once more, at this second
 * of the monotonic clock. If so, counts it. */
bool under_way_may_go_again(int64_t now_s);

/* --- for the command, with or without a running daemon --- */

struct under_way_refused {
    uint64_t key;
    unsigned ends;
    int64_t last_us; /* wall clock */
    char why[48];    /* "the watchdog", "SIGSEGV" */
    char what[WORK_TEXT_SIZE];
};
enum { UNDER_WAY_MOST = 24 };
/* Lists refused work; empty without the file. */
int under_way_list(const char *path, struct under_way_refused out[UNDER_WAY_MOST], size_t *n,
                   struct err *e) MUST_CHECK;
/* `key` 0: all. Sets *n to how many there were. */
int under_way_allow(const char *path, uint64_t key, size_t *n, struct err *e) MUST_CHECK;

#endif
