/* SPDX-License-Identifier: MIT
 *
 * Notices that a thread stands still: that thread says that it had a turn, and a thread of the
 * watchdog counts its own ticks without one. It counts ticks and not time, so that a process that
 * was stopped, or a machine that was paused, counts as little as what both did not do meanwhile.
 *
 * After some ticks it logs what the thread is in (lib/work.h) and its stack (`loop.stuck`), after
 * more it has the process ended. For that, ticks in a call of the kernel that cannot be interrupted
 * do not count (`loop.blocked_in_kernel`); ticks in which a debugger has stopped the thread never
 * do.
 */
#ifndef LIB_WATCHDOG_H
#define LIB_WATCHDOG_H

#include <stdbool.h>

#include "lib/log.h"

struct watchdog;

struct watchdog_config {
    const struct log *log; /* borrowed */
    int tick_ms;           /* a second, but in tests */
    int report_ticks;      /* at least 1 */
    int end_ticks;         /* 0: never; those in the kernel do not count */
    /* Ends the process, on the watchdog's thread. One that returns is called once for each time
     * that the thread stands still. */
    void (*end)(void *ctx);
    void *ctx;
};

/* Watches the thread that calls it, whose signal SIGURG it takes. One at a time in a process. NULL:
 * no thread can be started; the errno says why. */
struct watchdog *watchdog_create(const struct watchdog_config *c);
/* By the thread that is watched: often, and without cost. NULL is accepted, as below. */
void watchdog_turn(struct watchdog *w);
/* Whether backtrace() may be called in a signal handler: what it loads is loaded. */
bool watchdog_can_trace(void);
void watchdog_destroy(struct watchdog *w);

#endif
