/* SPDX-License-Identifier: MIT
 *
 * Makes runs for the next tasks of each pool: enough that its nodes never wait for the next run,
 * and no more, so that other waiting tasks are only rows. Jobs with a higher priority go first,
 * then older jobs; within a job, older tasks.
 */
#include <string.h>

#include "lib/guid.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/multi_instance.h"

/* The most waiting runs of one pool with at least a given priority. A pass of the core reads 64 of
 * them, and starts at most as many. */
#define WINDOW 200
/* Jobs that one pass reads. */
#define JOBS_AT_ONCE 64

struct feeding {
    struct batch_front *f;
    struct arena *a;
    struct batch_pool pool;
    int nodes; /* the most nodes of one task */
    int fed;   /* in this pass */
};

/* The node of the pool with the affinityId; 0: there is no such node. */
static int find_near(struct feeding *k, const char *affinity, int64_t *near, struct err *e)
{
    struct node nd;
    if (!affinity || strncmp(affinity, BATCH_AFFINITY, strlen(BATCH_AFFINITY)) != 0)
        return 0;
    int rc = st_node_named(k->f->st, k->a, k->pool.id, affinity + strlen(BATCH_AFFINITY), &nd, e);
    if (rc == 1)
        *near = nd.id;
    return rc < 0 ? -1 : 0;
}

static int feed_task(struct feeding *k, const struct batch_job *j, const struct batch_task *t,
                     struct err *e)
{
    char guid[GUID_SIZE];
    struct batch_task_spec spec;
    int64_t near = 0;
    bool alone = t->manager & BATCH_MANAGER_ALONE;
    if (batch_task_decode_kept(k->f->docs, k->a, t->doc, &spec, e) < 0 ||
        find_near(k, spec.affinity, &near, e) < 0)
        return -1;
    guid_new(guid);
    const struct run r = {.pool_id = k->pool.id,
                          .owner_kind = RES_BATCH_TASK,
                          .owner_id = t->id,
                          .guid = guid,
                          .priority = j->priority,
                          .nodes = t->instances,
                          .need = {.slots = alone ? k->pool.slots : t->slots},
                          .max_wall_us = spec.limits.max_wall_us,
                          .state = RUN_WAITING,
                          .runs = 1,
                          .group_id = j->prepares ? j->id : 0,
                          .near_id = near,
                          .own_class = t->manager & BATCH_MANAGER_OWN_CLASS};
    int64_t id;
    k->fed++;
    if (st_run_insert(k->f->st, &r, &id, e) < 0)
        return -1;
    return st_batch_task_feed(k->f->st, t->id, true, e);
}

/* How many more tasks of this job may get a run. */
static int room_for(struct feeding *k, const struct batch_job *j, int *room, struct err *e)
{
    int64_t waiting, fed;
    if (st_run_count_waiting(k->f->st, k->pool.id, j->priority, &waiting, e) < 0)
        return -1;
    *room = waiting < WINDOW ? (int)(WINDOW - waiting) : 0;
    if (j->max_parallel == BATCH_UNLIMITED)
        return 0;
    if (st_batch_task_count_fed(k->f->st, j->id, &fed, e) < 0)
        return -1;
    if (j->max_parallel - fed < *room)
        *room = fed < j->max_parallel ? (int)(j->max_parallel - fed) : 0;
    return 0;
}

static int feed_job(struct feeding *k, const struct batch_job *j, struct err *e)
{
    struct batch_task *tasks;
    size_t n;
    int room;
    if (room_for(k, j, &room, e) < 0)
        return -1;
    if (room == 0)
        return 0;
    if (st_batch_task_ready(k->f->st, k->a, j->id, k->nodes, room, &tasks, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (feed_task(k, j, &tasks[i], e) < 0)
            return -1;
    return 0;
}

static int feed_pool(struct storage *st, void *ctx, struct err *e)
{
    struct feeding *k = ctx;
    struct batch_job *jobs;
    size_t n;
    if (team_nodes_max(k->a, &k->pool, &k->nodes, e) < 0 ||
        st_batch_job_turn(st, k->a, k->pool.account_id, k->pool.name, k->nodes, JOBS_AT_ONCE, &jobs,
                          &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (feed_job(k, &jobs[i], e) < 0)
            return -1;
    return 0;
}

static void feeder_reconcile(void *ctx, int64_t pool_id)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct err e = {0};
    arena_init(&a);
    struct feeding k = {.f = f, .a = &a};
    int rc = st_batch_pool_by_id(f->st, &a, pool_id, &k.pool, &e);
    if (rc == 1 && k.pool.state == BATCH_POOL_ACTIVE)
        rc = st_tx(f->st, "feed pool", feed_pool, &k, &e);
    if (rc < 0) {
        LOG_ERROR(f->log, "pool.tasks_not_dispatched", LF_INT("pool_id", pool_id),
                  LF_STR("why", e.msg));
        wake_at(f->wakes, &woken_tasks, pool_id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    } else if (k.fed > 0) {
        wake(f->wakes, &woken_pool, pool_id); /* in this turn, so that one sync covers both */
        wake_if_lost(f->wakes, &woken_tasks, pool_id);
    }
    arena_free(&a);
}

int feeder_wake(struct batch_front *f, const struct batch_job *j, struct err *e)
{
    struct arena a;
    struct batch_pool p;
    arena_init(&a);
    int rc = st_batch_pool_get(f->st, &a, j->account_id, j->pool_name, &p, e);
    if (rc == 1)
        wake(f->wakes, &woken_tasks, p.id);
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

void task_runs_wanted(const struct front *f, const struct pool *p)
{
    wake(batch_self(f)->wakes, &woken_tasks, p->id);
}

/* Runs that were over when the daemon stopped must be forgotten: they are reconciled again. */
static void wake_fed(struct batch_front *f)
{
    struct err e;
    if (wake_listed(f->wakes, &woken_run, st_batch_task_over, &e) < 0)
        LOG_ERROR(f->log, "batch_task.not_listed", LF_STR("why", e.msg));
}

void feeder_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_tasks, feeder_reconcile, f);
    wake_fed(f);
}
