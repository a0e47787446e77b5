/* SPDX-License-Identifier: MIT
 *
 * Whether the loop turns: a timer of the loop tells the watchdog (lib/watchdog.h), and the service
 * manager (systemd Type=notify) if the manager has set $WATCHDOG_USEC. The same timer asks how
 * orphans ended: agents of the daemon that this process was before it executed itself again. They
 * end when they find their pipes closed, and stay as zombies until somebody asks.
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

/* On the loop's thread, when the loop is about to run. */
void watching_begin(struct watching *w, struct loop *loop, const struct serve_config *c);
void watching_end(struct watching *w);

/* Remembers the children that this process has. Call before it starts its first child. */
void orphans_find(void);

/* Sends "READY=1" or "STOPPING=1" to $NOTIFY_SOCKET. Does nothing without that variable; a failure
 * is ignored. */
void notify_manager(const char *state);

#endif
