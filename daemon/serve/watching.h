/* SPDX-License-Identifier: MIT
 *
 * Reports that the loop turns: a timer of the loop informs the watchdog (lib/watchdog.h), and the
 * service manager if it has a timeout ($WATCHDOG_USEC).
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

#endif
