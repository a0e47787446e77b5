/* SPDX-License-Identifier: MIT
 *
 * Carries out deletions that st_mark_deleting() marked: ends and removes jobs, removes nodes from
 * clusters, and removes each resource when it is empty, from the inside out.
 */
#include "scheduler/front/batchai/front_priv.h"
#include "scheduler/wake/paced.h"
#include "storage/detachment.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

#include <assert.h>

/* Removals per pass. While there are more, there is one pass in each turn of the loop. A removal
 * takes some tens of microseconds, so other work waits for a few milliseconds. Each run of an array
 * counts as a removal. */
#define REMOVALS_PER_PASS 100

/* Runs removed from their queues per pass: a microsecond or two each. */
#define DOOMED_PER_PASS 2000

/* Rows of deleted groups that are marked per pass: some microseconds each. A group is always marked
 * as a whole. */
#define MARKED_PER_PASS 500

struct deletion_pass {
    struct batchai_front *f;
    struct arena a;
    int left;
    bool fresh; /* a resource was marked since the last pass */
    int64_t now_us;
};

static int remove_row(struct deletion_pass *p, enum resource_kind kind, int64_t id, struct err *e)
{
    assert(p->left > 0);
    if (st_remove(p->f->st, kind, id, p->now_us, e) != 0)
        return -1;
    p->left--;
    LOG_INFO(p->f->log, "resource.deleted",
             LF_STR("kind", enum_to_name(resource_kind_names, (int)kind)), LF_INT("id", id));
    return 0;
}

/* Ends the running jobs; their ends wake this reconciler. Runs of an array that have not begun were
 * removed from the queue already, so the runs behind them may start now. */
static int wake_held(struct deletion_pass *p, struct err *e)
{
    int64_t *ids, *pools;
    size_t n, n_pools;
    if (st_run_doomed_ids(p->f->st, &p->a, &ids, &n, e) != 0 ||
        st_run_doomed_pools(p->f->st, &p->a, &pools, &n_pools, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        runs_end(sched_runs(p->f->sched), ids[i]);
    for (size_t i = 0; i < n_pools; i++)
        sched_wake_pool(p->f->sched, pools[i]);
    return 0;
}

/* The runs behind a removed job may start now. If jobs are deleted with their experiment, their
 * cluster is woken after the last job, because each pass over its queue would have to skip the
 * remaining jobs. */
static void wake_queue(struct deletion_pass *p, const struct doomed_job *j)
{
    if (j->cluster_id == 0)
        return;
    if (j->with_experiment)
        id_map_put(&p->f->bereft, j->cluster_id, NULL);
    else
        sched_wake_pool(p->f->sched, j->cluster_id);
}

static void wake_bereft(struct batchai_front *f)
{
    int64_t id;
    while (id_map_pop(&f->bereft, &id))
        sched_wake_pool(f->sched, id);
}

/* The first step: marks resources inside deleted groups, because unmarked resources might begin to
 * run. */
static int mark_detached(struct deletion_pass *p, bool *more, struct err *e)
{
    *more = false;
    return p->fresh ? st_detached_mark(p->f->st, p->now_us, MARKED_PER_PASS, more, e) : 0;
}

/* The second step: no run of a resource that is being deleted may start any more. */
static int take_out_of_queues(struct deletion_pass *p, bool *more, struct err *e)
{
    if (p->fresh)
        p->f->doom = (struct st_doom){0};
    p->f->dooming = p->f->dooming || p->fresh;
    *more = p->f->dooming;
    if (!p->f->dooming)
        return 0;
    int rc = st_doom_runs(p->f->st, &p->f->doom, DOOMED_PER_PASS, e);
    p->f->dooming = rc != 0;
    *more = rc > 0;
    return rc < 0 ? -1 : 0;
}

/* 1: the rows of all runs of the job may be removed; 0: a run is still in progress. */
static int forget_runs(struct deletion_pass *p, const struct doomed_job *j, struct err *e)
{
    struct runs *runs = sched_runs(p->f->sched);
    int64_t *ids;
    size_t n;
    int all = 1;
    if (j->runs <= 1)
        return runs_forget(runs, &p->a, j->run_id, e);
    if (st_run_ids_of(p->f->st, &p->a, RES_JOB, j->id, &ids, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int may = runs_forget(runs, &p->a, ids[i], e);
        if (may < 0)
            return -1;
        all = all && may;
    }
    return all;
}

/* *held: the deletion of the resource must take longer (strict mode). A resource that is deleted
 * with its parent does not wait itself. */
static int is_held_up(struct deletion_pass *p, enum resource_kind kind, int64_t id, bool *held,
                      struct err *e)
{
    struct operation op;
    *held = false;
    if (!pace_is_on(wakes_pace(p->f->wakes), NULL))
        return 0;
    int rc = st_op_under_way(p->f->st, &p->a, kind, id, true, &op, e);
    if (rc <= 0)
        return rc;
    const struct paced deletion = {.step = pace_of_operation(kind, true),
                                   .subscription = op.subscription,
                                   .since_us = op.start_us};
    *held = wake_paced(p->f->wakes, &woken_deletions, WAKE_ALL, &deletion);
    return 0;
}

/* Called when a job was removed with all its runs: counts each run as a removal of this pass. */
static void count_runs(struct deletion_pass *p, const struct doomed_job *j)
{
    if (j->runs > 1)
        p->left = p->left < j->runs ? 0 : p->left - (j->runs - 1);
}

/* Removes jobs that hold no nodes, up to the limit of a pass. */
static int remove_jobs(struct deletion_pass *p, struct err *e)
{
    struct doomed_job *rows;
    size_t n;
    if (st_doomed_jobs(p->f->st, &p->a, p->left, &rows, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n && p->left > 0; i++) {
        bool held, left = false;
        if (is_held_up(p, RES_JOB, rows[i].id, &held, e) < 0)
            return -1;
        int may = held ? 0 : forget_runs(p, &rows[i], e);
        if (may < 0 || (may > 0 && dependents_leave(p->f, rows[i].id, &left, e) < 0) ||
            (may > 0 && !left && remove_row(p, RES_JOB, rows[i].id, e) != 0))
            return -1;
        if (left)
            wake_durable(p->f->wakes, &woken_deletions, WAKE_ALL);
        else if (may > 0)
            count_runs(p, &rows[i]);
        if (may > 0 || (held && p->fresh)) /* a delayed job has left the queue already */
            wake_queue(p, &rows[i]);
    }
    return 0;
}

static int wake_clusters(struct deletion_pass *p, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_deleting_cluster_ids(p->f->st, &p->a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        sched_wake_pool(p->f->sched, ids[i]);
    return 0;
}

/* storage/shares/ removes the storage accounts with their content, and then wakes this
 * reconciler. */
static int wake_accounts(struct deletion_pass *p, struct err *e)
{
    return wake_listed(p->f->wakes, &woken_account, st_deleting_account_ids, e);
}

/* Azure Batch's front removes its pools; then their accounts are removed. */
static int wake_batch_pools(struct deletion_pass *p, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_batch_pool_deleting_ids(p->f->st, &p->a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        sched_wake_pool(p->f->sched, ids[i]);
    sched_marked(p->f->sched); /* other fronts have more than pools in accounts */
    return 0;
}

/* A cluster whose queue still has jobs waits until they have failed; a file server waits until its
 * export has ended. */
static int may_go(struct deletion_pass *p, enum resource_kind kind, int64_t id, bool *may,
                  struct err *e)
{
    struct sched *sched = p->f->sched;
    bool held;
    if (is_held_up(p, kind, id, &held, e) < 0)
        return -1;
    *may = false;
    if (held)
        return 0;
    *may = kind != RES_FILE_SERVER || file_server_cleared(sched_fleet(sched), &p->a, id);
    return kind == RES_CLUSTER ? sched_pool_cleared(sched, &p->a, id, may, e) : 0;
}

/* Detaches jobs from a cluster that is to be removed: they keep the name of the cluster, but no
 * longer refer to its row. */
static int leave_jobs(struct deletion_pass *p, int64_t cluster_id, struct err *e)
{
    int left;
    if (st_cluster_leave_jobs(p->f->st, cluster_id, p->left, &left, e) < 0)
        return -1;
    p->left -= left;
    return 0;
}

static int remove_empty(struct deletion_pass *p, enum resource_kind kind, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_removable_ids(p->f->st, &p->a, kind, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n && p->left > 0; i++) {
        bool may;
        if (may_go(p, kind, ids[i], &may, e) != 0)
            return -1;
        if (may && kind == RES_CLUSTER && leave_jobs(p, ids[i], e) != 0)
            return -1;
        if (!may || p->left == 0)
            continue;
        if (remove_row(p, kind, ids[i], e) != 0)
            return -1;
        if (kind == RES_CLUSTER)
            sched_pool_gone(p->f->sched, ids[i]);
        if (kind == RES_FILE_SERVER)
            file_server_forget(sched_fleet(p->f->sched), ids[i]);
    }
    return 0;
}

static int run_pass(struct deletion_pass *p, struct err *e)
{
    static const enum resource_kind inside_out[] = {
        RES_FILE_SERVER, RES_CLUSTER, RES_EXPERIMENT, RES_WORKSPACE, RES_BATCH_ACCOUNT, RES_GROUP};
    bool more, began = p->f->dooming || p->fresh;
    if (mark_detached(p, &more, e) != 0)
        return -1;
    if (more) {
        p->f->fresh_deletions = true;
        p->left = 0;
        return 0;
    }
    if (p->fresh &&
        (wake_clusters(p, e) != 0 || wake_accounts(p, e) != 0 || wake_batch_pools(p, e) != 0))
        return -1;
    if (take_out_of_queues(p, &more, e) != 0 || (began && wake_held(p, e) != 0))
        return -1;
    if (more) {
        p->left = 0;
        p->f->jobs_go_first = true;
        return 0;
    }
    if (remove_jobs(p, e) != 0)
        return -1;
    p->f->jobs_go_first = p->left == 0;
    if (p->left == 0)
        return 0; /* more jobs are left, and their experiments and groups must wait for them */
    wake_bereft(p->f);
    if (wake_clusters(p, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof inside_out / sizeof inside_out[0]; i++)
        if (remove_empty(p, inside_out[i], e) != 0)
            return -1;
    return 0;
}

static void effect_removed(void *ctx, int64_t id, const struct err *why)
{
    struct batchai_front *f = ctx;
    if (!why)
        return;
    f->fresh_deletions = true; /* the next pass begins with the first step */
    wake_at(f->wakes, &woken_deletions, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
}

static void reconcile(void *ctx, int64_t id)
{
    struct batchai_front *f = ctx;
    struct deletion_pass p = {.f = f,
                              .left = REMOVALS_PER_PASS,
                              .fresh = f->fresh_deletions,
                              .now_us = wakes_wall(f->wakes)};
    f->fresh_deletions = false;
    arena_init(&p.a);
    struct err e = {0};
    int rc = run_pass(&p, &e);
    if (p.left < REMOVALS_PER_PASS)
        wake_when_durable(f->wakes, effect_removed, f, id);
    if (rc != 0) {
        LOG_ERROR(f->log, "deletion.failed", LF_STR("why", e.msg));
        f->fresh_deletions = true;
        wake_at(f->wakes, &woken_deletions, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    } else if (p.left == 0) {
        /* in the next turn, after other work */
        wake_at(f->wakes, &woken_deletions, id, wakes_mono(f->wakes));
    }
    arena_free(&p.a);
}

void may_remove(struct front *f)
{
    wake(front_self_rw(f)->wakes, &woken_deletions, WAKE_ALL);
}

bool removes_runs(const struct front *f)
{
    return front_self(f)->jobs_go_first;
}

void batchai_wake_deletions(struct batchai_front *f)
{
    f->fresh_deletions = true;
    wake(f->wakes, &woken_deletions, WAKE_ALL);
}

void deletions_begin(struct batchai_front *f)
{
    wakes_handle(f->wakes, &woken_deletions, reconcile, f);
    batchai_wake_deletions(f);
}
