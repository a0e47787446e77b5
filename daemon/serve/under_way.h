/* SPDX-License-Identifier: MIT
 *
 * What was under way when the daemon ended badly, in a small file of the state directory that is
 * mapped: the handler of a fatal signal (fatal.h) notes it there, the next start counts it. What
 * the daemon has ended with twice is refused (the judge of lib/work.h) until somebody allows it
 * (`batchaid refused allow`) or another version of the program runs. An end that nobody noted, by
 * SIGKILL or a power cut, does not count.
 *
 * There is one in a process. Without room for the file nothing is noted, and nothing refused.
 */
#ifndef DAEMON_SERVE_UNDER_WAY_H
#define DAEMON_SERVE_UNDER_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/serve/fault_hook.h"
#include "lib/err.h"
#include "lib/log.h"
#include "lib/work.h"

enum { UNDER_WAY_ENDS = 2 }; /* of the daemon; then it is refused */

/* By a daemon that begins and holds the lock: counts what the last one noted, and says so in the
 * log. */
void under_way_open(const char *path, const struct log *log);
void under_way_close(void);
/* This process had been serving here before it executed itself again. */
bool under_way_is_again(void);
/* What the port was that the system had picked then; `port` if it is not 0, or there was none. */
int under_way_port(int port);
/* Where it listens now. */
void under_way_listens(const char *endpoint);

/* Begins to judge; `begins` is told of all work (fault_hook.h); NULL: nobody is. */
void under_way_judge(fault_hook begins);

/* In the handler of a fatal signal. `loop`: on the thread of the loop, or because of it, as the
 * watchdog is. */
void under_way_note_end(int signo, bool loop, bool watchdog);
/* Likewise: whether the process may execute itself once more, at this second of the monotonic
 * clock; it counts as done. */
bool under_way_may_go_again(int64_t now_s);

/* --- for the command, beside a running daemon or without one ------------------------------------
 */

struct under_way_refused {
    uint64_t key;
    unsigned ends;
    int64_t last_us; /* wall clock */
    char why[48];    /* "the watchdog", "SIGSEGV" */
    char what[WORK_TEXT_SIZE];
};
enum { UNDER_WAY_MOST = 24 };
/* What is refused; none if there is no such file. */
int under_way_list(const char *path, struct under_way_refused out[UNDER_WAY_MOST], size_t *n,
                   struct err *e) MUST_CHECK;
/* `key` 0: all. Sets *n to how many there were. */
int under_way_allow(const char *path, uint64_t key, size_t *n, struct err *e) MUST_CHECK;

#endif
