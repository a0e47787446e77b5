/* SPDX-License-Identifier: MIT
 *
 * Reports that the loop turns: a timer of the loop reports to the watchdog (lib/watchdog.h), and to
 * the service manager (systemd Type=notify) if that has set $WATCHDOG_USEC. The same timer reaps
 * orphans: agents that this process started before it executed itself again. They end when their
 * pipes are closed, and are zombies until they are reaped.
 */
#ifndef DAEMON_SERVE_WATCHING_H
#define DAEMON_SERVE_WATCHING_H

#include <stdint.h>

#include "daemon/serve/serve.h"
#include "lib/loop.h"
#include "lib/watchdog.h"

struct watching {
    struct loop *loop; /* borrowed */
    struct loop_timer *timer;
    struct watchdog *dog;
    int64_t period_us, ping_us; /* time between two reports; between two pings, 0: no pings */
    int64_t pinged_us;
};

/* Call it on the loop's thread, just before the loop runs. */
void watching_begin(struct watching *w, struct loop *loop, const struct serve_config *c);
void watching_end(struct watching *w);

/* Records the children that this process has already. Call it before the process starts its first
 * child. */
void orphans_find(void);

/* Sends "READY=1" or "STOPPING=1" to $NOTIFY_SOCKET; does nothing if that is not set. Errors are
 * ignored. */
void notify_manager(const char *state);

#endif
