/* SPDX-License-Identifier: MIT
 *
 * Forgets jobs and asynchronous operations that have ended, by the limits of the site. Purges
 * soft-deleted vaults and secrets after their retention. After a reset, removes what is left of
 * vaults, of the record of changes and of the record of use.
 */
#include "scheduler/front/batchai/front_priv.h"
#include "scheduler/keep.h"
#include "storage/changes.h"
#include "storage/usage.h"

/* One wake for all that resets have left. */
static const struct wake_kind woken_remains = {"remains", WAKE_LAST};

#define PURGE_EVERY_US (600LL * 1000000)
/* Rows per pass, some 10 us each; while there are more, the next pass follows at once. */
#define PURGE_PER_PASS 50 /* vaults and secrets */
#define SWEEP_PER_PASS 500

/* Forgets jobs as if their users had deleted them. */
static int forget_jobs(void *ctx, const struct keep_cut *cut, int limit, int *gone, struct err *e)
{
    struct batchai_front *f = ctx;
    int64_t *ids;
    size_t n;
    struct arena a;
    arena_init(&a);
    int rc = st_job_ended_before(f->st, &a, keep_until(cut), limit, &ids, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++, ++*gone)
        rc = st_mark_deleting(f->st, RES_JOB, ids[i], cut->now_us, e);
    arena_free(&a);
    if (*gone > 0)
        batchai_wake_deletions(f);
    return rc;
}

static int forget_operations(void *ctx, const struct keep_cut *cut, int limit, int *gone,
                             struct err *e)
{
    const struct batchai_front *f = ctx;
    int64_t at;
    int any = st_op_ended_nth(f->st, keep_until(cut), 1, &at, e);
    return any <= 0 ? any : st_op_expire(f->st, keep_until(cut), limit, gone, e);
}

static const struct keep_kind kept[] = {
    {KEEP_OWNERS, "jobs", st_job_ended_nth, forget_jobs, 100},
    {KEEP_OPERATIONS, "operations", st_op_ended_nth, forget_operations, 500},
};

/* Removes what resets have left. True: more may be left. */
static bool sweep(struct batchai_front *f)
{
    struct err e = {0};
    int changes = 0, use = 0;
    if (st_changes_sweep(f->st, SWEEP_PER_PASS, &changes, &e) != 0)
        LOG_ERROR(f->log, "reset.changes_not_removed", LF_STR("why", e.msg));
    if (st_usage_sweep(f->st, SWEEP_PER_PASS, &use, &e) != 0)
        LOG_ERROR(f->log, "reset.usage_not_removed", LF_STR("why", e.msg));
    return changes == SWEEP_PER_PASS || use == SWEEP_PER_PASS;
}

static void purge(void *ctx, int64_t id)
{
    struct batchai_front *f = ctx;
    struct err e = {0};
    int purged = 0;
    if (st_vault_expire(f->st, wakes_steady_wall(f->wakes), PURGE_PER_PASS, &purged, &e) != 0)
        LOG_ERROR(f->log, "vaults.not_purged", LF_STR("why", e.msg));
    bool more = sweep(f);
    if (purged > 0)
        LOG_INFO(f->log, "vaults.purged", LF_INT("count", purged));
    if (purged >= PURGE_PER_PASS || more)
        wake_at(f->wakes, &woken_remains, id, wakes_mono(f->wakes)); /* in the next turn */
    else
        wake_at(f->wakes, &woken_remains, id, wakes_mono(f->wakes) + PURGE_EVERY_US);
}

void keep_jobs_begin(struct batchai_front *f)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        keep_begin(f->sched, &kept[i], f);
    wakes_handle(f->wakes, &woken_remains, purge, f);
    wake(f->wakes, &woken_remains, WAKE_ALL);
}

void batchai_wake_remains(struct batchai_front *f)
{
    wake(f->wakes, &woken_remains, WAKE_ALL);
}

void batchai_wake_detachments(struct batchai_front *f)
{
    batchai_wake_deletions(f);
    batchai_wake_remains(f);
}
