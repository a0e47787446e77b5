/* SPDX-License-Identifier: MIT
 *
 * SIGHUP: what may change while the daemon runs is read again, which is the site's certificate. The
 * files are read on a thread; if they are of no use, the old ones go on and the log says why. A
 * certificate that has ended is said in the log at the start and each day.
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
    struct loop *loop;      /* borrowed, as everything below */
    struct loop_lane *lane; /* reads the files; it is closed after reload_stop() */
    struct certs *certs;
    const struct log *log;
    struct loop_timer *daily; /* owned */
    bool reading, again;
    int rc; /* of the thread */
    struct certs_site site;
    struct err err;
};

/* Fill in what is borrowed before. */
void reload_start(struct reload *r, uv_loop_t *loop);
/* No signal is heard any more. */
void reload_stop(struct reload *r);

#endif
