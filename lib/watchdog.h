/* SPDX-License-Identifier: MIT
 *
 * Detects that a thread stands still: the watched thread reports each turn of its loop, and the
 * watchdog's own thread counts ticks since the last report. It counts ticks and not time, so that a
 * stopped process, or a paused machine, is no standstill. After some ticks it logs the thread's
 * present work (lib/work.h) and its stack (`loop.stuck`). After more ticks it calls a function that
 * ends the process; ticks in an uninterruptible system call do not count for that
 * (`loop.blocked_in_kernel`). Ticks while a debugger has stopped the thread are never counted.
 */
#ifndef LIB_WATCHDOG_H
#define LIB_WATCHDOG_H

#include <stdbool.h>

#include "lib/log.h"

struct watchdog;

struct watchdog_config {
    const struct log *log; /* borrowed */
    int tick_ms;           /* 1000, except in tests */
    int report_ticks;      /* at least 1 */
    int end_ticks;         /* 0: never; ticks in an uninterruptible system call do not count */
    /* Must end the process; called on the watchdog's thread. If it returns, it is called once for
     * each standstill. */
    void (*end)(void *ctx);
    void *ctx;
};

/* Watches the calling thread, to which it sends SIGURG. A process may have one watchdog at a time.
 * NULL: the watchdog's thread cannot be started; see errno. */
struct watchdog *watchdog_create(const struct watchdog_config *c);
/* Reports a turn of the watched thread. Cheap, so the thread may call it often. Does nothing if w
 * is NULL, like watchdog_destroy(). */
void watchdog_turn(struct watchdog *w);
/* True: backtrace() may be called in a signal handler, because its library is loaded. */
bool watchdog_can_trace(void);
void watchdog_destroy(struct watchdog *w);

#endif
