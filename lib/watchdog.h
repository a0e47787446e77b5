/* SPDX-License-Identifier: MIT
 *
 * Detects that a thread stands still: the thread reports each turn, and a thread of the watchdog
 * counts its own ticks since the last report. It counts ticks and not time, so that a stopped
 * process, or a paused machine, is no standstill. After some ticks it logs the thread's present
 * work (lib/work.h) and its stack (`loop.stuck`). After more ticks it has the process ended; for
 * this, ticks in an uninterruptible system call are not counted (`loop.blocked_in_kernel`). Ticks
 * while a debugger has stopped the thread are never counted.
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
    int end_ticks;         /* 0: never; ticks in the kernel do not count */
    /* Ends the process, on the watchdog's thread. If it returns, it is called once for each
     * standstill. */
    void (*end)(void *ctx);
    void *ctx;
};

/* Watches the calling thread, and uses its signal SIGURG. One watchdog at a time in a process.
 * NULL: no thread can be started; see errno. */
struct watchdog *watchdog_create(const struct watchdog_config *c);
/* Called by the watched thread: often, and cheap. NULL is accepted, as below. */
void watchdog_turn(struct watchdog *w);
/* Whether backtrace() may be called in a signal handler: its library is loaded. */
bool watchdog_can_trace(void);
void watchdog_destroy(struct watchdog *w);

#endif
