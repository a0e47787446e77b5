/* SPDX-License-Identifier: MIT
 *
 * SIGHUP: reads the parts of the configuration that may change while the daemon runs: the site's
 * certificate. A thread reads the files; if they are not usable, the old certificate stays in use
 * and the log has the reason. An expired certificate is logged at the start and each day.
 */
#ifndef DAEMON_SERVE_RELOAD_H
#define DAEMON_SERVE_RELOAD_H

#include <stdbool.h>
#include <uv.h>

#include "daemon/certs/certs.h"
#include "lib/log.h"
#include "lib/loop.h"

struct reload {
    uv_signal_t signal;
    struct loop *loop;      /* borrowed, like all members below */
    struct loop_lane *lane; /* reads the files; it is closed after reload_stop() */
    struct certs *certs;
    const struct log *log;
    struct loop_timer *daily; /* owned */
    bool reading, again;
    int rc; /* of the thread */
    struct certs_site site;
    struct err err;
};

/* Fill in the borrowed members first. */
void reload_start(struct reload *r, uv_loop_t *loop);
/* Stops listening for the signal. */
void reload_stop(struct reload *r);

#endif
