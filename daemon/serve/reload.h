/* SPDX-License-Identifier: MIT
 *
 * Reads the configuration, the site's certificate and the token of metrics again, on SIGHUP or when
 * somebody asks. A thread reads and checks all files. If a file cannot be used, or a setting cannot
 * be taken, everything stays as it is; the log and the requester get the reason. An expired
 * certificate is logged at the start and each day.
 *
 *   IDLE -> READING -> IDLE
 *
 * A request during READING causes another reading after the present one, which may have read the
 * old files.
 */
#ifndef DAEMON_SERVE_RELOAD_H
#define DAEMON_SERVE_RELOAD_H

#include <stdbool.h>
#include <uv.h>

#include "api/admin/admin.h"
#include "daemon/serve/metering.h"
#include "daemon/serve/serve.h"
#include "lib/log.h"
#include "lib/loop.h"

/* The contents of all files in one reading. A reading that was in use stays in memory until the
 * daemon ends, because the daemon borrows its texts. */
struct reload_files {
    struct config config;
    struct daemon_site site;
    struct certs_site certificate;
    struct metering metering;
    struct reload_files *older; /* owned */
};

/* A requester that waits for a reading. */
struct reload_waiter {
    admin_reloaded *done;
    void *ctx;
    struct reload_waiter *next;
};

struct reload {
    uv_signal_t signal;
    struct loop *loop;      /* borrowed, like all members up to `ctx` */
    struct loop_lane *lane; /* reads the files; it is closed after reload_stop() */
    struct certs *certs;
    struct log *log;
    const struct serve_config *c;
    /* Takes the settings into use. -1: nothing was changed. */
    int (*take)(void *ctx, const struct config *config, const struct site *site, struct err *e);
    /* Takes over the content of *m (the rights to read metrics), and leaves *m empty. */
    void (*meter)(void *ctx, struct metering *m);
    void *ctx;
    struct loop_timer *daily;            /* owned, like all members below */
    struct reload_files *used;           /* the newest reading in use; NULL: no reload yet */
    struct reload_files *reading;        /* NULL: the state is IDLE */
    struct reload_waiter *now, *further; /* those who wait for this reading, and for the next */
    bool again, stopped;
    int rc; /* the result of the thread */
    struct err err;
};

/* The caller fills in the borrowed members first. */
void reload_start(struct reload *r, uv_loop_t *loop);
/* Requests a reading, for struct admin_reload. `of` is the struct reload. */
void reload_ask(void *of, admin_reloaded *done, void *ctx);
/* Replies to all waiting requesters that the daemon stops. */
void reload_end_requests(struct reload *r);
/* Stops the handling of SIGHUP. */
void reload_stop(struct reload *r);
/* Call it after the scheduler has ended. */
void reload_free(struct reload *r);

#endif
