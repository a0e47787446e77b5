/* SPDX-License-Identifier: MIT
 *
 * Makes runs for the next tasks of each pool: enough that its nodes never wait for the next run,
 * and no more, so that other waiting tasks are only rows. Jobs with a higher priority are first;
 * within a job, older tasks. The pool's jobDefaultOrder decides between jobs with the same
 * priority: the older job first, or a task of each job in turn. In pools of API versions without
 * this property the older job is first.
 *
 * Jobs that take turns do so by id, and behind the youngest job the oldest is next. The job of the
 * last run that waits had the last turn. A job with fewer waiting runs than others is before them.
 *
 * Runs start in the order in which they were made. If a job that is added later must start before
 * runs that wait, these runs are removed (their tasks are only rows again), and made anew later.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "model/batch/pool_spec.h"
#include "model/batch/tables_pool.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/multi_instance.h"

/* The most waiting runs of one pool with at least a given priority. A pass of the core reads 64
 * runs, and starts at most as many. */
#define WINDOW 200
/* The most waiting runs of a "barred" job, which may not use nodes on which its preparation failed.
 * Other runs start before such runs, so these are not counted in WINDOW. */
#define BARRED_WINDOW 64
/* The most waiting runs of all barred jobs of a pool together: half of the runs that a pass of the
 * core skips at most. Each job that has a node left may have one more, so that it continues. */
#define BARRED_MOST 512
/* Jobs that one pass reads: each has a task without a run, so they are enough to fill the window.
 */
#define JOBS_AT_ONCE WINDOW
/* Tasks of a job that are read at once when jobs take turns. */
#define TASKS_AT_ONCE 8

struct feeding {
    struct batch_front *f;
    struct arena *a;
    struct batch_pool pool;
    int job_order;               /* enum batch_job_order; 0: a pool of an older version */
    struct st_batch_fit fit;     /* the tasks that may get a run */
    int fed;                     /* in this pass */
    bool taken;                  /* in this pass: waiting runs were removed */
    struct batch_barred *barred; /* the jobs that may not use some nodes */
    int *share;                  /* the most waiting runs of each job in `barred` */
    size_t n_barred;
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

/* How many more runs with this priority there may be. */
static int window_left(struct feeding *k, int priority, int *left, struct err *e)
{
    int64_t waiting;
    if (st_run_count_waiting(k->f->st, k->pool.id, priority, k->fit.nodes, k->fit.slots,
                             k->fit.dedicated, &waiting, e) < 0)
        return -1;
    *left = waiting < WINDOW ? (int)(WINDOW - waiting) : 0;
    return 0;
}

static void lower(int *left, int64_t most, int64_t there)
{
    if (most - there < *left)
        *left = there < most ? (int)(most - there) : 0;
}

/* The most waiting runs of a job that may not use some nodes; NULL: the job may use all nodes. */
static const int *share_of(const struct feeding *k, int64_t job_id)
{
    for (size_t i = 0; i < k->n_barred; i++)
        if (k->barred[i].id == job_id)
            return &k->share[i];
    return NULL;
}

/* How many more runs the job may have, at most `most`: maxParallelTasks limits its waiting and
 * running runs together. If the job is barred from nodes, its waiting runs are limited too. */
static int job_left(struct feeding *k, const struct batch_job *j, int most, int *left,
                    struct err *e)
{
    int64_t fed, queued;
    const int *share = share_of(k, j->id);
    *left = most;
    if (j->max_parallel != BATCH_UNLIMITED) {
        if (st_batch_task_count_fed(k->f->st, j->id, &fed, e) < 0)
            return -1;
        lower(left, j->max_parallel, fed);
    }
    if (!share)
        return 0;
    if (st_batch_task_count_queued(k->f->st, j->id, &queued, e) < 0)
        return -1;
    lower(left, *share, queued);
    return 0;
}

/* 1: the window is full, for jobs with a lower priority, too; 0: it may not be. */
static int feed_job(struct feeding *k, const struct batch_job *j, struct err *e)
{
    struct batch_task *tasks;
    size_t n;
    int room;
    if (window_left(k, j->priority, &room, e) < 0)
        return -1;
    if (room == 0)
        return 1;
    if (job_left(k, j, room, &room, e) < 0)
        return -1;
    if (room == 0)
        return 0;
    if (st_batch_task_ready(k->f->st, k->a, j->id, &k->fit, room, &tasks, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (feed_task(k, j, &tasks[i], e) < 0)
            return -1;
    return 0;
}

/* --- jobs to which nodes are barred ----------------------------------------------------------- */

static int remove_runs(struct feeding *k, const int64_t *tasks, size_t n, struct err *e)
{
    k->taken |= n > 0;
    return waiting_runs_remove(k->f->st, tasks, n, e);
}

/* How many jobs, from the first on, have the same priority and has_left as the first. */
static size_t barred_alike(const struct batch_barred *jobs, size_t n)
{
    size_t i = 1;
    while (i < n && jobs[i].has_left == jobs->has_left && jobs[i].priority == jobs->priority)
        i++;
    return i;
}

/* Reads the jobs that may not use some nodes. Jobs with a node left come first; within each kind,
 * jobs with a higher priority. */
static int read_barred(struct feeding *k, struct err *e)
{
    int left = BARRED_MOST;
    if (st_batch_job_barred(k->f->st, k->a, k->pool.id, &k->fit, &k->barred, &k->n_barred, e) < 0)
        return -1;
    k->share = arena_alloc(k->a, (k->n_barred + 1) * sizeof *k->share);
    for (size_t i = 0, n; i < k->n_barred; i += n) {
        n = barred_alike(&k->barred[i], k->n_barred - i);
        int share = left / (int)n < BARRED_WINDOW ? left / (int)n : BARRED_WINDOW;
        if (share == 0 && k->barred[i].has_left)
            share = 1;
        for (size_t m = 0; m < n; m++)
            k->share[i + m] = share;
        left = left > share * (int)n ? left - share * (int)n : 0;
    }
    return 0;
}

/* Removes a barred job's waiting runs above its share. The job got them before it was barred from
 * nodes, or while there were fewer such jobs. */
static int share_window(struct feeding *k, struct err *e)
{
    int64_t *tasks;
    size_t n;
    if (read_barred(k, e) < 0)
        return -1;
    for (size_t i = 0; i < k->n_barred; i++)
        if (k->barred[i].queued > k->share[i] &&
            (st_batch_task_surplus(k->f->st, k->a, k->barred[i].id, k->share[i], &tasks, &n, e) <
                 0 ||
             remove_runs(k, tasks, n, e) < 0))
            return -1;
    return 0;
}

/* --- jobs with one priority ------------------------------------------------------------------- */

/* The queue of one priority: the jobs of the runs that wait for their first start, in the order in
 * which the runs start. */
struct waiting {
    int64_t *job;
    size_t n;
    size_t repeated; /* the place, from 1, of the last run whose job has another run behind it; 0:
                      * no job has two runs */
};

/* Whether a run of the job waits behind this place, which counts from 1. */
static bool has_run_behind(const struct waiting *w, size_t place, int64_t job_id)
{
    for (size_t i = place; i < w->n; i++)
        if (w->job[i] == job_id)
            return true;
    return false;
}

static int read_waiting(struct feeding *k, int priority, struct waiting *w, struct err *e)
{
    if (st_batch_job_waiting(k->f->st, k->a, k->pool.id, priority, &w->job, &w->n, e) < 0)
        return -1;
    w->repeated = w->n;
    while (w->repeated > 0 && !has_run_behind(w, w->repeated, w->job[w->repeated - 1]))
        w->repeated--;
    return 0;
}

/* The job of the last run; 0: no run waits. */
static int64_t last_job(const struct waiting *w)
{
    return w->n > 0 ? w->job[w->n - 1] : 0;
}

static int runs_of(const struct waiting *w, int64_t job_id)
{
    int n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += w->job[i] == job_id;
    return n;
}

/* The youngest job of which a run waits. */
static int64_t youngest(const struct waiting *w)
{
    int64_t id = 0;
    for (size_t i = 0; i < w->n; i++)
        id = w->job[i] > id ? w->job[i] : id;
    return id;
}

/* Whether another job had two turns since this job's last turn. */
static bool was_passed_over(const struct waiting *w, int64_t job_id)
{
    return w->repeated > 0 && !has_run_behind(w, w->repeated, job_id);
}

/* Whether this job, which has tasks without a run, must start before runs that wait. */
static bool goes_before(const struct feeding *k, const struct batch_job *j, const struct waiting *w)
{
    return k->job_order == BATCH_ORDER_CREATION_TIME ? youngest(w) > j->id
                                                     : was_passed_over(w, j->id);
}

/* Removes the runs that wait of younger jobs; or, if jobs take turns, all but the first run: the
 * turn goes on behind its job. */
static int take_back(struct feeding *k, const struct batch_job *before, struct err *e)
{
    bool older_first = k->job_order == BATCH_ORDER_CREATION_TIME;
    size_t kept = older_first ? 0 : 1, n;
    int64_t *tasks;
    if (st_batch_task_waiting(k->f->st, k->a, k->pool.id, before->priority,
                              older_first ? before->id : 0, &tasks, &n, e) < 0)
        return -1;
    return n > kept ? remove_runs(k, tasks + kept, n - kept, e) : 0;
}

/* Removes waiting runs if one of these jobs, which all have the same priority, must start before
 * them. 1: some were removed; 0: none. */
static int put_in_order(struct feeding *k, const struct batch_job *jobs, size_t n, struct err *e)
{
    struct waiting w;
    if (read_waiting(k, jobs->priority, &w, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int left;
        if (!goes_before(k, &jobs[i], &w))
            continue;
        if (job_left(k, &jobs[i], 1, &left, e) < 0)
            return -1;
        if (left > 0)
            return take_back(k, &jobs[i], e) < 0 ? -1 : 1;
    }
    return 0;
}

/* A job among those that take turns. */
struct in_turn {
    const struct batch_job *job;
    struct batch_task *tasks; /* without a run */
    size_t n, next;
    int waiting; /* how many of its runs wait */
    int left;    /* how many more runs the job may have */
};

/* 1: the job has a task that may get a run; 0: it has none. */
static int has_next(struct feeding *k, struct in_turn *t, struct err *e)
{
    if (t->next == t->n) {
        int most = t->left < TASKS_AT_ONCE ? t->left : TASKS_AT_ONCE;
        t->next = 0;
        if (st_batch_task_ready(k->f->st, k->a, t->job->id, &k->fit, most, &t->tasks, &t->n, e) < 0)
            return -1;
        if (t->n == 0)
            t->left = 0;
    }
    return t->n > 0;
}

/* The jobs of one priority that take turns. */
struct turns {
    struct in_turn *jobs; /* by id */
    size_t n;
    int64_t last; /* the job that had the last turn; 0: none had one */
};

/* Whether x is next before y: the job with fewer runs, then the job that follows first by id behind
 * the job that had the last turn; behind the youngest job follows the oldest. */
static bool is_before(const struct turns *t, const struct in_turn *x, const struct in_turn *y)
{
    bool x_follows = x->job->id > t->last, y_follows = y->job->id > t->last;
    if (x->waiting != y->waiting)
        return x->waiting < y->waiting;
    return x_follows != y_follows ? x_follows : x->job->id < y->job->id;
}

/* NULL: no job may have more runs. */
static struct in_turn *next_job(const struct turns *t)
{
    struct in_turn *next = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (t->jobs[i].left > 0 && (!next || is_before(t, &t->jobs[i], next)))
            next = &t->jobs[i];
    return next;
}

/* 1: a task has its run; 0: no job has a task that may get a run. */
static int feed_next(struct feeding *k, struct turns *t, struct err *e)
{
    struct in_turn *next;
    while ((next = next_job(t))) {
        int rc = has_next(k, next, e);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        next->waiting++;
        next->left--;
        t->last = next->job->id;
        return feed_task(k, next->job, &next->tasks[next->next++], e) < 0 ? -1 : 1;
    }
    return 0;
}

/* Returns like feed_job(). */
static int feed_in_turn(struct feeding *k, const struct batch_job *jobs, size_t n, struct err *e)
{
    struct turns t = {.jobs = arena_alloc(k->a, n * sizeof *t.jobs), .n = n};
    struct waiting w;
    int left, rc = 1;
    if (window_left(k, jobs->priority, &left, e) < 0)
        return -1;
    if (left == 0)
        return 1;
    if (read_waiting(k, jobs->priority, &w, e) < 0)
        return -1;
    t.last = last_job(&w);
    for (size_t i = 0; i < n; i++) {
        t.jobs[i] = (struct in_turn){.job = &jobs[i], .waiting = runs_of(&w, jobs[i].id)};
        if (job_left(k, &jobs[i], left, &t.jobs[i].left, e) < 0)
            return -1;
    }
    while (left-- > 0 && rc == 1)
        rc = feed_next(k, &t, e);
    return rc < 0 ? -1 : 0;
}

/* --- pools ------------------------------------------------------------------------------------ */

static int by_turn(const void *a, const void *b)
{
    const struct batch_job *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Adds the barred jobs that may have more runs, with their present rows. */
static int add_barred(struct feeding *k, struct batch_job **jobs, size_t *n, struct err *e)
{
    struct batch_job *all;
    if (read_barred(k, e) < 0)
        return -1;
    all = arena_alloc(k->a, (*n + k->n_barred + 1) * sizeof *all);
    for (size_t i = 0; i < *n; i++)
        all[i] = (*jobs)[i];
    for (size_t i = 0; i < k->n_barred; i++) {
        if (!k->barred[i].ready || k->barred[i].queued >= k->share[i])
            continue;
        int rc = st_batch_job_by_id(k->f->st, k->a, k->barred[i].id, &all[*n], e);
        if (rc < 0)
            return -1;
        *n += rc > 0;
    }
    *jobs = all;
    if (*n > 0)
        qsort(all, *n, sizeof *all, by_turn);
    return 0;
}

/* More jobs take turns than one pass reads. Adds the jobs that follow behind the job that had the
 * last turn, as far as the list lacks them. */
static int add_following(struct feeding *k, struct batch_job **jobs, size_t *n, struct err *e)
{
    const struct batch_job *end = &(*jobs)[*n - 1];
    struct waiting w;
    struct batch_job_rows more;
    struct batch_job *all;
    if (read_waiting(k, end->priority, &w, e) < 0)
        return -1;
    const struct st_page page = {.after = last_job(&w) > end->id ? last_job(&w) : end->id,
                                 .limit = JOBS_AT_ONCE};
    if (st_batch_job_turn_behind(k->f->st, k->a, k->pool.account_id, k->pool.name, k->pool.id,
                                 &k->fit, end->priority, &page, &more, e) < 0)
        return -1;
    if (more.n == 0)
        return 0;
    all = arena_alloc(k->a, (*n + more.n) * sizeof *all);
    memcpy(all, *jobs, *n * sizeof *all);
    memcpy(all + *n, more.items, more.n * sizeof *all);
    *jobs = all;
    *n += more.n;
    return 0;
}

static int list_jobs(struct feeding *k, struct batch_job **jobs, size_t *n, struct err *e)
{
    if (st_batch_job_turn(k->f->st, k->a, k->pool.account_id, k->pool.name, k->pool.id, &k->fit,
                          JOBS_AT_ONCE, jobs, n, e) < 0)
        return -1;
    bool lacks = k->job_order == BATCH_ORDER_NONE && *n == JOBS_AT_ONCE;
    return lacks && add_following(k, jobs, n, e) < 0 ? -1 : add_barred(k, jobs, n, e);
}

/* How many jobs, from the first on, have the same priority as the first. */
static size_t equals(const struct batch_job *jobs, size_t n)
{
    size_t i = 1;
    while (i < n && jobs[i].priority == jobs->priority)
        i++;
    return i;
}

/* 1: waiting runs were removed, so other jobs may have tasks without a run; 0: none. */
static int put_all_in_order(struct feeding *k, const struct batch_job *jobs, size_t n,
                            struct err *e)
{
    int some = 0;
    for (size_t i = 0; i < n && k->job_order; i += equals(&jobs[i], n - i)) {
        int rc = put_in_order(k, &jobs[i], equals(&jobs[i], n - i), e);
        if (rc < 0)
            return -1;
        some |= rc;
    }
    return some;
}

/* Returns like feed_job(). */
static int feed_equals(struct feeding *k, const struct batch_job *jobs, size_t n, struct err *e)
{
    int rc = 0;
    if (k->job_order == BATCH_ORDER_NONE)
        return feed_in_turn(k, jobs, n, e);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = feed_job(k, &jobs[i], e);
    return rc;
}

/* Computes which tasks may get a run. A task that is larger, or that wants a dedicated node of a
 * pool of low-priority nodes, can never start and would take the place of others, so it gets a run
 * only when the pool has changed. A pool without nodes counts as one dedicated node, because it may
 * get a node. */
static int read_fit(struct feeding *k, struct err *e)
{
    const struct batch_pool *p = &k->pool;
    int nodes = p->size.dedicated + p->size.low;
    k->fit.slots = p->slots;
    k->fit.dedicated = batch_pool_is_dedicated(p);
    if (team_nodes_max(k->a, p, &k->fit.nodes, e) < 0)
        return -1;
    if (nodes < k->fit.nodes)
        k->fit.nodes = nodes > 1 ? nodes : 1;
    return 0;
}

static int feed_pool(struct storage *st, void *ctx, struct err *e)
{
    struct feeding *k = ctx;
    struct batch_pool_spec spec;
    struct batch_job *jobs;
    size_t n;
    (void)st;
    if (batch_pool_decode_kept(k->f->docs, k->a, k->pool.doc, &spec, e) < 0)
        return -1;
    k->job_order = spec.job_order;
    if (read_fit(k, e) < 0 || share_window(k, e) < 0 || list_jobs(k, &jobs, &n, e) < 0)
        return -1;
    int rc = put_all_in_order(k, jobs, n, e);
    if (rc < 0 || (rc == 1 && list_jobs(k, &jobs, &n, e) < 0))
        return -1;
    rc = 0;
    for (size_t i = 0; i < n && rc == 0; i += equals(&jobs[i], n - i))
        rc = feed_equals(k, &jobs[i], equals(&jobs[i], n - i), e);
    return rc < 0 ? -1 : 0;
}

static void dispatcher_reconcile(void *ctx, int64_t pool_id)
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
    } else if (k.fed > 0 || k.taken) {
        wake(f->wakes, &woken_pool, pool_id); /* in this turn, so that one sync covers both */
        wake_if_lost(f->wakes, &woken_tasks, pool_id);
    }
    arena_free(&a);
}

int dispatcher_wake(struct batch_front *f, const struct batch_job *j, struct err *e)
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

/* Wakes runs that were over when the daemon stopped: they are reconciled again, so that they are
 * forgotten. */
static void wake_fed(struct batch_front *f)
{
    struct err e;
    if (wake_listed(f->wakes, &woken_run, st_batch_task_over, &e) < 0)
        LOG_ERROR(f->log, "batch_task.ended_runs_not_read", LF_STR("why", e.msg));
}

void dispatcher_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_tasks, dispatcher_reconcile, f);
    wake_fed(f);
}
