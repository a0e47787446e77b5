/* SPDX-License-Identifier: MIT
 *
 * Azure Batch as a front of the core: its pools are pools of the core, and each of its tasks that
 * may run is a run. Knows nothing of HTTP; api/plane/batch/ stands above it.
 *
 * A pool is resized as long as its size has not been reached, has been stopped or its time is up.
 * After that the core wants what there is (pool.scale), and the row of the pool keeps what was
 * asked for (struct batch_size).
 */
#ifndef SCHEDULER_FRONT_BATCH_BATCH_H
#define SCHEDULER_FRONT_BATCH_BATCH_H

#include "lib/idmap.h"
#include "lib/log.h"
#include "model/batch/rows.h"
#include "scheduler/formula/formula.h"
#include "scheduler/front/front.h"
#include "storage/storage.h"

struct sched;
struct wakes;

/* What the site wants of command lines of Windows; may be set before the scheduler starts. */
struct batch_windows {
    bool commands;        /* they are run */
    const char *programs; /* a folder of nodes with the site's own programs, or NULL; borrowed */
};

/* Where tasks reach the service: "https://HOST:PORT". */
struct batch_address {
    const char *(*url)(void *ctx); /* NULL: nowhere yet */
    void *ctx;
};

/* Blobs of storage accounts here. Each: 1; 0: it is of no account here; -1: an error whose message
 * has no signature in it. */
struct file_place;
/* Where the blobs of a container are: its folder, and the one of those of which rows say that they
 * are aside (struct share_item). */
struct batch_blob_folder {
    const char *folder, *aside;
    int64_t share_id;
};

struct batch_blobs {
    /* The blob that a URL names, for those who have the URL and for the account `owner` (NULL:
     * none): see storage_url_open(); and a container likewise. */
    int (*open)(void *ctx, struct arena *a, const char *url, const char *owner, int64_t now_us,
                struct file_place *out, struct err *e);
    int (*open_all)(void *ctx, struct arena *a, const char *url, const char *owner, int64_t now_us,
                    struct batch_blob_folder *out, struct err *e);
    /* The URL of a container as one at the daemon itself. */
    int (*home)(void *ctx, struct arena *a, const char *url, const char **out, struct err *e);
    /* A container of an account, for those who may do everything there: such a URL to write to it,
     * and where it is. */
    int (*writable)(void *ctx, struct arena *a, const char *account, const char *container,
                    int64_t now_us, const char **url, struct err *e);
    int (*container)(void *ctx, struct arena *a, const char *account, const char *container,
                     struct batch_blob_folder *out, struct err *e);
    void *ctx;
};

struct batch_front {
    struct front front;
    struct storage *st; /* borrowed, as is log */
    const struct log *log;
    struct sched *sched;     /* the one that called begin(); NULL before */
    struct wakes *wakes;     /* of `sched` */
    struct id_map enabled;   /* pools: until when no formula is enabled again (monotonic) */
    struct id_map unsettled; /* pools whose size is not steady: NULL, or until when (monotonic) */
    struct batch_windows windows;
    struct batch_address address;    /* may be set before the scheduler starts, as may: */
    struct batch_blobs blobs;        /* may be set before the scheduler starts */
    const struct packages *packages; /* likewise; borrowed */
    struct id_map releasing; /* jobs that wait for nodes: until when (monotonic); node_tasks.c */
    struct id_map limited;   /* jobs with a time limit: since when they run (monotonic); jobs.c */
    struct id_map removing;  /* a set: rows of batch_litter whose removal is under way */
    struct kept_docs *docs;  /* of tasks, jobs and pools; since begin() */
};

/* Pools and tasks, AZ_BATCH_... */
extern const struct front_words batch_front_words;

/* To be given to the scheduler, at the address where it will stay. */
struct batch_front batch_front(struct storage *st, const struct log *log);

/* A container that something is put into. */
struct batch_destination {
    const char *url;
    bool own; /* it is a host of the daemon's */
};
/* Of the URL of one, for a Batch account; `identity`: the account's own rights are to be used if
 * there is no signature. Arena. ERR_FORBIDDEN, ERR_FILE_NOT_FOUND, ... */
int batch_destination(const struct batch_front *f, struct arena *a, int64_t account_id,
                      const char *url, bool identity, struct batch_destination *out,
                      struct err *e) MUST_CHECK;

/* --- pools ----------------------------------------------------------------------------------- */

/* What a resize asks for. */
struct batch_targets {
    int dedicated, low;
    int64_t timeout_us;
    enum dealloc_option how; /* what becomes of tasks on nodes that leave */
};

/* Makes the pool, whose resize begins; *id is its row's. ERR_CONFLICT: there is one of this name.
 */
int batch_pool_add(struct batch_front *f, const struct batch_pool *p, const char *secrets,
                   int64_t *id, struct err *e) MUST_CHECK;
/* Begins a resize. The pool's size is steady (batch_pool_is_steady()). */
int batch_pool_resize(struct batch_front *f, const struct batch_pool *p,
                      const struct batch_targets *t, int64_t updated_us, struct err *e) MUST_CHECK;
/* Ends the resize: the pool keeps the nodes that it has. */
int batch_pool_stop_resize(struct batch_front *f, const struct batch_pool *p,
                           struct err *e) MUST_CHECK;
/* Takes these nodes of the pool from it; its targets become so many less. */
int batch_pool_remove_nodes(struct batch_front *f, const struct batch_pool *p,
                            const struct node *const *nodes, size_t n,
                            const struct batch_targets *t, int64_t updated_us,
                            struct err *e) MUST_CHECK;
int batch_pool_delete(struct batch_front *f, const struct batch_pool *p, int64_t now_us,
                      struct err *e) MUST_CHECK;
static inline bool batch_pool_is_steady(const struct batch_pool *p)
{
    return p->size.state == BATCH_ALLOCATION_STEADY;
}

/* --- pools that a formula scales (autoscale.c) -------------------------------------------------
 */

/* Whether a user may enable or change a formula of this pool: once each 30 seconds. Notes it. */
bool batch_pool_may_enable(struct batch_front *f, const struct batch_pool *p);
/* Begins, changes or ends that. The formula can be parsed. The first evaluation is at once unless
 * s->evaluated_us says when the last one was. */
int batch_pool_scale_by(struct batch_front *f, const struct batch_pool *p,
                        const struct batch_auto_scale *s, int64_t updated_us,
                        struct err *e) MUST_CHECK;

struct batch_evaluation {
    const char *run; /* JSON text of an AutoScaleRun; the arena's */
    bool failed;     /* the formula has no value: the pool stays as it is */
    struct batch_targets targets;
};
/* What a formula comes to for a pool now; changes nothing. It cannot be parsed: -1, and `wrong`
 * says why. */
int batch_pool_evaluate(struct batch_front *f, struct arena *a, const struct batch_pool *p,
                        const char *formula, struct batch_evaluation *out,
                        struct formula_error *wrong, struct err *e) MUST_CHECK;

#endif
