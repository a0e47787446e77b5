/* SPDX-License-Identifier: MIT
 *
 * The daemon as a struct: serve.c makes and ends its parts, deps.c connects them.
 */
#ifndef DAEMON_SERVE_SERVE_PRIV_H
#define DAEMON_SERVE_SERVE_PRIV_H

#include <uv.h>

#include "api/access/access.h"
#include "api/services.h"
#include "daemon/serve/hosts.h"
#include "daemon/serve/listens.h"
#include "daemon/serve/metering.h"
#include "daemon/serve/reload.h"
#include "daemon/serve/scripted.h"
#include "daemon/serve/seeding.h"
#include "daemon/serve/serve.h"
#include "daemon/serve/served_time.h"
#include "daemon/serve/watching.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batchai/batchai.h"
#include "storage/shares/lease_clock.h"

enum { STOP_SIGNALS = 2 };

/* The blobs of storage accounts, for Azure Batch's front; all pointers are borrowed. */
struct batch_blobs_source {
    struct azstorage store; /* with storage and storage_dir */
    const struct hosts *hosts;
};

struct daemon {
    const struct serve_config *c;
    uv_loop_t loop;
    struct loop *tools; /* the loop as struct loop; owned */
    struct served_time time;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_signal_t signals[STOP_SIGNALS];
    struct reload reload;
    struct watching watching;
    struct node_provider *local, *machines; /* owned */
    struct scripted scripted;
    struct storage *storage; /* NULL as soon as closing has begun, like the next members */
    struct sched *sched;
    struct batchai_front front; /* the scheduler borrows `front` and `batch` */
    struct batch_front batch;
    struct fronts fronts;
    struct batch_blobs_source blobs; /* for batch */
    struct files *files;
    struct shares *shares; /* lives as long as the loop runs, like the journal */
    struct journal *journal;
    struct packages *packages;
    struct transfers *transfers;
    struct history *samples;
    struct loop_lane *logins;
    struct share_server *share_server; /* NULL: there are no machines, or they get no shares */
    int stopping_rooms;
    struct api *api; /* NULL when it has stopped; until then replies are sent at each turn end */
    /* Scheduler and api borrow these; owned. */
    char **vm_sizes;
    struct listens listens;
    struct metering metering;
    struct api_deps deps;
    struct served services[API_SERVICES];
    struct hosts own_hosts;
    struct access access;
    struct lease_clock leases;
    struct directory directory;
    struct api_watch watch;
    struct daemon_readiness readiness;
    struct seeding seeding;
    bool seed_failed;
};

/* deps.c */
struct batch_blobs_source deps_blobs_source(struct daemon *d);
struct batch_blobs deps_blobs(struct batch_blobs_source *s);
/* The storage as the "disk" on which replies wait for durable writes. */
struct api_disk deps_disk(struct storage *st);
/* The data of each service's handlers. */
struct api_deps deps_api(struct daemon *d);
/* Sets the rights to read metrics, borrowed from the daemon. */
void deps_meter(const struct daemon *d, struct metrics *out);

#endif
