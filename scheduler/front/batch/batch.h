/* SPDX-License-Identifier: MIT
 *
 * Azure Batch as a front of the core: its pools are pools of the core, and each of its tasks that
 * may run is a run. Independent of HTTP; api/plane/batch/ uses it.
 *
 * A resize continues until the size is reached, the resize is stopped, or its time limit is over.
 * After that the target of the core (pool.scale) is the present number of nodes, and the row of the
 * pool keeps the requested target (struct batch_size).
 */
#ifndef SCHEDULER_FRONT_BATCH_BATCH_H
#define SCHEDULER_FRONT_BATCH_BATCH_H

#include "lib/idmap.h"
#include "lib/log.h"
#include "model/batch/rows.h"
#include "scheduler/formula/formula.h"
#include "scheduler/front/front.h"
#include "storage/shares/blobs.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

struct sched;
struct wakes;

/* The site's settings for command lines of Windows; may be set before the scheduler starts. */
struct batch_windows {
    bool commands;        /* command lines of Windows are run */
    const char *programs; /* a folder on nodes with programs of the site, or NULL; borrowed */
};

/* The address of the service for tasks: "https://HOST:PORT". */
struct batch_address {
    const char *(*url)(void *ctx); /* returns NULL if there is no address yet */
    void *ctx;
};

/* Blobs of this daemon's storage accounts. Each function returns 1: found; 0: not in an account of
 * this daemon; -1: an error, whose message contains no signature. */
struct batch_blobs {
    /* Find the blob (open) or the container (open_all) at a URL: storage_url_open(). */
    int (*open)(void *ctx, struct arena *a, const char *url, const struct url_reader *reader,
                struct blob_place *out, struct err *e);
    int (*open_all)(void *ctx, struct arena *a, const char *url, const struct url_reader *reader,
                    struct container_place *out, struct err *e);
    /* The URL of a container, changed to the daemon's own address. */
    int (*home)(void *ctx, struct arena *a, const char *url, const char **out, struct err *e);
    /* For callers with all rights in the account: the URL of a container, with a signature for
     * writing (writable), and the container's folders (container). */
    int (*writable)(void *ctx, struct arena *a, const struct share_name *name, int64_t now_us,
                    const char **url, struct err *e);
    int (*container)(void *ctx, struct arena *a, const struct share_name *name,
                     struct container_place *out, struct err *e);
    /* The container's archived blobs whose names begin with `prefix`. */
    int (*archived)(void *ctx, struct arena *a, const struct container_place *c, const char *prefix,
                    struct archived_blobs *out, struct err *e);
    void *ctx;
};

/* The limits of each account; 0: no limit. */
struct batch_quotas {
    int64_t jobs, pools; /* jobs: active jobs and schedules, without completed ones */
};

struct batch_front {
    struct front front;
    struct storage *st; /* borrowed, as is log */
    const struct log *log;
    struct sched *sched;     /* the scheduler that called begin(); before that NULL */
    struct wakes *wakes;     /* of `sched` */
    struct id_map enabled;   /* pools: when a formula may be enabled again (monotonic) */
    struct id_map unsettled; /* pools whose size is not steady: NULL, or the end of the resize's
                                time limit (monotonic) */
    struct batch_windows windows;
    struct batch_quotas quotas;      /* may change at any time */
    struct batch_address address;    /* may be set before the scheduler starts */
    struct batch_blobs blobs;        /* may be set before the scheduler starts */
    const struct packages *packages; /* may be set before the scheduler starts; borrowed */
    /* jobs that wait for release tasks, and the end of that wait (monotonic); node_tasks.c */
    struct id_map releasing;
    /* jobs with a time limit, and the instant at which they became active (monotonic); jobs.c */
    struct id_map limited;
    struct id_map removing; /* a set: rows of batch_litter whose removal is in progress */
    struct id_map awaiting; /* a set: runs that wait for a removal in `removing` */
    /* sets: rows of batch_node_user and of batch_user_gone whose request is in progress */
    struct id_map users_coming, users_going;
    /* a deleted account whose jobs are being marked, the name of the last marked job (owned), and
     * whether another account was deleted meanwhile; account_deletion.c */
    int64_t doomed_account;
    char *doomed_after;
    bool doomed_again;
    struct kept_docs *docs; /* documents of tasks, jobs and pools; since begin() */
    /* how far the wall clock was set forward since the daemon's start; the instant (monotonic) of
     * that change; how much of it schedules use; schedules.c */
    int64_t ahead_us, ahead_since_us, trusted_us;
};

/* Pools and tasks, AZ_BATCH_... */
extern const struct front_words batch_front_words;

/* Returns the front. The caller puts it at its final address, and gives it to the scheduler
 * there. */
struct batch_front batch_front(struct storage *st, const struct log *log);

/* A container for uploads. */
struct batch_destination {
    const char *url;
    bool own; /* the URL's host is this daemon */
};
/* Resolves a container's URL for a Batch account; `identity`: use the rights of the account if the
 * URL has no signature. In the arena. ERR_FORBIDDEN, ERR_FILE_NOT_FOUND, ... */
int batch_destination(const struct batch_front *f, struct arena *a, int64_t account_id,
                      const char *url, bool identity, struct batch_destination *out,
                      struct err *e) MUST_CHECK;

/* --- pools ----------------------------------------------------------------------------------- */

/* The parameters of a resize. */
struct batch_targets {
    int dedicated, low;
    int64_t timeout_us;
    enum dealloc_option how; /* the treatment of tasks on nodes that leave */
};

/* Fails for an account that is being deleted (ERR_BEING_DELETED) or is gone
 * (ERR_RESOURCE_NOT_FOUND). A request may have been admitted before its body arrived, and so before
 * the deletion. Therefore code that makes a row of the account calls this in the same turn of the
 * loop. */
int batch_account_accepts(const struct batch_front *f, int64_t account_id,
                          struct err *e) MUST_CHECK;
/* Whether an account may have one more pool: 1, 0, or -1 on error. Pools that are being deleted are
 * counted, except with `for_job` (a pool that the front makes): otherwise the pool of a job that
 * has ended would prevent the pool of the next job. */
int batch_pool_may_add(const struct batch_front *f, int64_t account_id, bool for_job,
                       struct err *e) MUST_CHECK;
/* Makes the pool and begins its resize; *id is its row's id. ERR_CONFLICT: the name is taken. Other
 * errors as in batch_account_accepts(). */
int batch_pool_add(struct batch_front *f, const struct batch_pool *p, const char *secrets,
                   int64_t *id, struct err *e) MUST_CHECK;
/* Begins a resize. The pool's size must be steady (batch_pool_is_steady()). */
int batch_pool_resize(struct batch_front *f, const struct batch_pool *p,
                      const struct batch_targets *t, int64_t updated_us, struct err *e) MUST_CHECK;
/* Ends the resize: the pool keeps its present nodes. */
int batch_pool_stop_resize(struct batch_front *f, const struct batch_pool *p,
                           struct err *e) MUST_CHECK;
/* Removes these nodes from the pool; its targets are reduced by their number. */
int batch_pool_remove_nodes(struct batch_front *f, const struct batch_pool *p,
                            const struct node *const *nodes, size_t n,
                            const struct batch_targets *t, int64_t updated_us,
                            struct err *e) MUST_CHECK;
int batch_pool_delete(struct batch_front *f, const struct batch_pool *p, int64_t now_us,
                      struct err *e) MUST_CHECK;
/* Deletes the pool that a job or a schedule made, if it exists. */
int auto_pool_end(struct batch_front *f, int64_t account_id, const char *name,
                  struct err *e) MUST_CHECK;
static inline bool batch_pool_is_steady(const struct batch_pool *p)
{
    return p->size.state == BATCH_ALLOCATION_STEADY;
}

/* --- users of nodes (node_users.c) -------------------------------------------------------------
 */

/* Each changes the row; the node follows. batch_node_user_add(): ERR_CONFLICT if the node has a
 * user of this name. batch_node_user_change() replaces expiry time, key and password. */
int batch_node_user_add(struct batch_front *f, const struct batch_node_user *u,
                        const char *password, struct err *e) MUST_CHECK;
int batch_node_user_change(struct batch_front *f, const struct batch_node_user *u,
                           const char *password, struct err *e) MUST_CHECK;
int batch_node_user_remove(struct batch_front *f, const struct batch_node_user *u,
                           struct err *e) MUST_CHECK;

/* --- pools that a formula scales (autoscale.c) -------------------------------------------------
 */

/* Whether a user may enable or change a formula of this pool: once every 30 seconds. Records the
 * time. */
bool batch_pool_may_enable(struct batch_front *f, const struct batch_pool *p);
/* Begins, changes or ends automatic scaling. The formula must be valid. The first evaluation is
 * immediate unless s->evaluated_us has the time of the last. */
int batch_pool_scale_by(struct batch_front *f, const struct batch_pool *p,
                        const struct batch_auto_scale *s, int64_t updated_us,
                        struct err *e) MUST_CHECK;

struct batch_evaluation {
    const char *run; /* JSON text of an AutoScaleRun; in the arena */
    bool failed;     /* the formula has no value: the pool stays unchanged */
    struct batch_targets targets;
};
/* Evaluates a formula for a pool now; changes nothing. -1: the formula cannot be parsed, with the
 * reason in `wrong`. */
int batch_pool_evaluate(struct batch_front *f, struct arena *a, const struct batch_pool *p,
                        const char *formula, struct batch_evaluation *out,
                        struct formula_error *wrong, struct err *e) MUST_CHECK;

#endif
