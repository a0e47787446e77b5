/* SPDX-License-Identifier: MIT
 *
 * The work in progress when the daemon crashed, in a small mapped file of the state directory: the
 * handler of a fatal signal (fatal.h) records the work there, and the next start counts the crash.
 * Work that has crashed the daemon twice is refused (by the judge of lib/work.h) until an operator
 * allows it (`batchaid refused allow`) or another version of the program runs. An end without a
 * record, by SIGKILL or a power cut, does not count.
 *
 * A process uses one such file. If there is no space for the file, nothing is recorded or refused.
 */
#ifndef DAEMON_SERVE_UNDER_WAY_H
#define DAEMON_SERVE_UNDER_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/serve/fault_hook.h"
#include "lib/err.h"
#include "lib/log.h"
#include "lib/work.h"

enum { UNDER_WAY_ENDS = 2 }; /* after so many crashes, work is refused */

/* Opens the file for a starting daemon that holds the lock, and counts and logs the crash of the
 * last daemon. */
void under_way_open(const char *path, const struct log *log);
void under_way_close(void);
/* Whether this process has served this state directory before it executed itself again. */
bool under_way_is_again(void);
/* If `port` is 0 and the process has executed itself again, returns the port on which it listened
 * before; otherwise `port`. */
int under_way_port(int port);
/* Records the port on which the daemon listens now. */
void under_way_listens(const char *endpoint);

/* Begins to judge work; `begins` is called for each piece of work (fault_hook.h); NULL: no such
 * call. */
void under_way_judge(fault_hook begins);

/* For the handler of a fatal signal. `loop`: the signal is on the loop's thread, or the watchdog
 * caused it because the loop stands still. */
void under_way_note_end(int signo, bool loop, bool watchdog);
/* For the signal handler: whether the process may execute itself again now (`now_s`: monotonic
 * seconds). If so, counts it. */
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
/* Lists refused work; *n is 0 if the file does not exist. */
int under_way_list(const char *path, struct under_way_refused out[UNDER_WAY_MOST], size_t *n,
                   struct err *e) MUST_CHECK;
/* Allows work again; `key` 0: all work. Sets *n to the number of entries that were removed. */
int under_way_allow(const char *path, uint64_t key, size_t *n, struct err *e) MUST_CHECK;

#endif
