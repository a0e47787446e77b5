/* SPDX-License-Identifier: MIT
 *
 * What must hold of jobs and tasks of Azure Batch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/batch_jobs.h"
#include "test/sim/sim_view.h"

#define FORGOTTEN_US (5 * SECOND)

static const struct batch_job *work_of(const struct view *v, int64_t id)
{
    for (size_t i = 0; i < v->n_works; i++)
        if (v->works[i].id == id)
            return &v->works[i];
    return NULL;
}

/* --- after each step -------------------------------------------------------------------------- */

/* A task has a run just while it is fed, and both say the same. */
static void check_run(struct view *v, const struct batch_task *t, const struct run *r)
{
    bool ended = r->state == RUN_RELEASING || r->state == RUN_OVER, agree = true;
    switch (t->state) {
    case BATCH_TASK_ACTIVE:
        agree = r->id == 0 || r->state == RUN_WAITING || ended; /* before its next one */
        break;
    case BATCH_TASK_PREPARING:
    case BATCH_TASK_RUNNING:
        agree =
            r->id != 0 && (r->state == RUN_ALLOCATED || (ended && t->fate == BATCH_FATE_DELETE));
        break;
    case BATCH_TASK_COMPLETED:
        agree = r->id == 0 || ended;
        break;
    }
    if (!agree || t->fed != (r->id != 0))
        sim_fail(v->m, "task %s in state %d, fed %d, fate %d, has run %lld in state %d, stop %d",
                 t->name, (int)t->state, (int)t->fed, (int)t->fate, (long long)r->id, (int)r->state,
                 (int)r->stop);
}

static void check_end(struct view *v, const struct batch_task *t, struct thing *k)
{
    struct sim *m = v->m;
    int64_t completed_us = t->state == BATCH_TASK_COMPLETED ? t->end_us : 0;
    if (k->duty.completed_us != 0 && completed_us != k->duty.completed_us)
        sim_fail(m, "task %s was completed, and is in state %d now", t->name, (int)t->state);
    if (t->retries > k->duty.retries)
        sim_fail(m, "task %s was tried again %d times, and %d are the most", t->name, t->retries,
                 k->duty.retries);
    if (t->state == BATCH_TASK_COMPLETED && t->result == BATCH_SUCCESS && k->starts == 0)
        sim_fail(m, "task %s succeeded and never ran", t->name);
    if (completed_us != 0 && k->duty.completed_us == 0 && !st_has_pending(m->life->st)) {
        k->duty.completed_us = completed_us;
        sim_trace(m, "task %s is completed: %d", t->name, (int)t->result);
    }
}

static bool moves(const struct batch_job *j)
{
    return j->state == BATCH_JOB_DISABLING || j->state == BATCH_JOB_ENABLING ||
           j->state == BATCH_JOB_TERMINATING || j->state == BATCH_JOB_DELETING;
}

/* A job on its way to another state, none of whose tasks has a run, waits for nobody. */
static void check_move(struct view *v, const struct batch_job *j, bool free_to_go)
{
    struct sim *m = v->m;
    struct thing *t = sim_thing_by_name(m, j->name);
    bool waits = t && !t->duty.prepares && free_to_go && moves(j) && !m->disk_full &&
                 m->t.now_us > m->writes_fail_until;
    if (!t)
        return;
    m->looked.waits = m->looked.waits || waits;
    if (!waits)
        t->waits_since = 0;
    else if (t->waits_since == 0)
        t->waits_since = m->t.now_us;
    else if (m->t.now_us - t->waits_since > FORGOTTEN_US)
        sim_fail(m, "job %s stays in state %d, and none of its tasks runs", j->name, (int)j->state);
}

static void check_work(struct view *v, const struct batch_job *j)
{
    int fed = 0, running = 0;
    for (size_t i = 0; i < v->n_tasks; i++) {
        const struct batch_task *t = &v->tasks[i];
        if (t->job_id != j->id)
            continue;
        fed += t->fed;
        running += t->state == BATCH_TASK_RUNNING && t->fate != BATCH_FATE_DELETE;
    }
    if (j->max_parallel != BATCH_UNLIMITED && fed > j->max_parallel)
        sim_fail(v->m, "job %s has %d tasks at once, and %d are the limit", j->name, fed,
                 j->max_parallel);
    if (running > 0 && (j->state == BATCH_JOB_DISABLED || j->state == BATCH_JOB_COMPLETED))
        sim_fail(v->m, "job %s in state %d has %d tasks that run", j->name, (int)j->state, running);
    check_move(v, j, fed + running == 0);
}

void sim_tasks_check(struct view *v)
{
    for (size_t i = 0; i < v->n_works; i++)
        check_work(v, &v->works[i]);
    for (size_t i = 0; i < v->n_tasks; i++) {
        struct thing *k = sim_thing_by_name(v->m, v->tasks[i].name);
        check_run(v, &v->tasks[i], &v->task_runs[i]);
        if (k && k->kind == THING_TASK)
            check_end(v, &v->tasks[i], k);
    }
}

/* --- now and then ----------------------------------------------------------------------------- */

/* Tasks on several nodes, managers, pools that are made for a job. 12: runs of tasks; 1, 2: live.
 */
static void compare_kinds(struct view *v)
{
    (void)(sim_view_none(
               v,
               "SELECT printf('task %s runs on %d nodes, and its parts are not on as many others', "
               "t.name, t.instances) FROM batch_task t LEFT JOIN batch_subtask p ON "
               "p.task_id = t.id WHERE t.instances > 1 AND t.state IN (2, 3) GROUP BY "
               "t.id HAVING count(p.id) <> t.instances - 1 OR count(DISTINCT "
               "p.node_name) <> t.instances - 1 OR total(p.node_name = t.node_name) > 0") &&
           sim_view_none(
               v, "SELECT printf('task %s wants its node for itself, and shares it', t.name) "
                  "FROM batch_task t JOIN run u ON u.owner_kind = 12 AND "
                  "u.owner_id = t.id JOIN allocation a ON a.run_id = u.id AND a.state IN "
                  "(1, 2) JOIN allocation b ON b.node_id = a.node_id AND b.run_id <> "
                  "a.run_id AND b.state IN (1, 2) AND b.slots > 0 WHERE t.manager & 4") &&
           sim_view_none(
               v, "SELECT printf('job %s is in state %d, and its manager, which it is to end "
                  "with, is completed', j.name, j.state) FROM batch_task t JOIN batch_job j ON "
                  "j.id = t.job_id WHERE t.manager & 2 AND t.state = 4 AND j.state NOT IN "
                  "(5, 6, 7)") &&
           sim_view_none(
               v, "SELECT printf('pool %s is there, and the job that it was made for has ended', "
                  "p.name) FROM batch_pool p WHERE p.name LIKE 'auto%' AND p.state = "
                  "1 AND NOT EXISTS (SELECT 1 FROM batch_job j WHERE j.pool_name = p.name "
                  "AND j.state <> 6)"));
}

/* In pools that say so the older job is first. 12: runs of tasks; attempt 0: they wait for their
 * first start. */
static void compare_order(struct view *v)
{
    (void)sim_view_none(
        v, "SELECT printf('task %s of the older job %d waits behind task %s of job %d, and pool %s "
           "orders jobs by their age', ot.name, ot.job_id, yt.name, yt.job_id, p.name) FROM "
           "batch_pool p JOIN run o ON o.pool_id = p.id JOIN run y ON y.pool_id = p.id AND "
           "y.priority = o.priority AND y.id < o.id JOIN batch_task ot ON ot.id = o.owner_id "
           "JOIN batch_task yt ON yt.id = y.owner_id AND yt.job_id > ot.job_id WHERE "
           "p.doc LIKE '%creationtime%' AND (o.owner_kind, o.phase, o.stop, o.held, o.attempt) = "
           "(12, 1, 0, 1, 0) AND (y.owner_kind, y.phase, y.stop, y.held, y.attempt) = "
           "(12, 1, 0, 1, 0)");
}

void sim_tasks_compare(struct view *v)
{
    if (v->n_works == 0)
        return;
    compare_order(v);
    (void)(sim_view_none(
               v, "SELECT printf('the counts of job %s are not those of its tasks', j.name) FROM "
                  "batch_job j LEFT JOIN batch_count c ON c.job_id = j.id "
                  "LEFT JOIN batch_task t ON t.job_id = j.id GROUP BY j.id HAVING "
                  "(c.active, c.running, c.succeeded, c.failed, c.active_slots, c.running_slots, "
                  "c.succeeded_slots, c.failed_slots) IS NOT (total(t.state = 1), "
                  "total(t.state IN (2, 3)), total(t.state = 4 AND t.result = 1), "
                  "total(t.state = 4 AND t.result <> 1), total((t.state = 1) * t.slots), "
                  "total((t.state IN (2, 3)) * t.slots), "
                  "total((t.state = 4 AND t.result = 1) * t.slots), "
                  "total((t.state = 4 AND t.result <> 1) * t.slots))") &&
           sim_view_none(
               v, "SELECT printf('task %s waits for %d, and %d rows say so', name, waits, n) FROM "
                  "(SELECT t.name, t.waits, (SELECT count(*) FROM batch_wait w WHERE "
                  "w.task_id = t.id) AS n FROM batch_task t WHERE t.waits <> n)") &&
           sim_view_none(
               v, "SELECT printf('task %s waits for task %s, which is completed', t.name, n.name) "
                  "FROM batch_wait w JOIN batch_task t ON "
                  "t.id = w.task_id JOIN batch_task n ON n.job_id = w.job_id AND n.name = "
                  "coalesce(w.name, CAST(w.low AS TEXT)) WHERE n.satisfies = 1"));
    compare_kinds(v);
}

/* --- starts ----------------------------------------------------------------------------------- */

/* Ids of tasks are GUID-ATTEMPT-... */
static int attempt_of(const char *id)
{
    return strlen(id) > GUID_SIZE ? (int)strtol(id + GUID_SIZE, NULL, 10) : 0;
}

struct task_start {
    struct sim *m;
    struct fake_node *node;
    const struct thing *task;
    const char *id;
};

/* Twice at once is no fault where the daemon had to take the first for lost. */
static void compare(void *ctx, struct fake_node *n, const char *id, const char *command)
{
    const struct task_start *s = ctx;
    const char *name = strstr(command, " job=");
    if (strstr(id, "-coordination") && strncmp(id, s->id, GUID_SIZE) == 0 &&
        attempt_of(id) == attempt_of(s->id))
        sim_fail(s->m, "task %s starts on %s, and %s has not ended on %s", s->id,
                 fake_name(s->node), id, fake_name(n));
    const struct thing *other = name ? sim_thing_by_name(s->m, name + 5) : NULL;
    if (!other || strcmp(id, s->id) == 0)
        return;
    bool same_pool =
        other->kind == THING_TASK && strcmp(other->tree->duty.pool, s->task->tree->duty.pool) == 0;
    if (n == s->node && other != s->task && (other->duty.alone || s->task->duty.alone))
        sim_fail(s->m, "task %s starts on %s beside %s, and one of them wants the node for itself",
                 s->id, fake_name(n), id);
    if (n == s->node && !same_pool)
        sim_fail(s->m, "task %s starts on %s beside %s", s->id, fake_name(n), id);
    if (other == s->task && s->task->last_node == n && fake_troubles(n) == s->task->last_troubles)
        sim_fail(s->m, "task %s starts on %s while %s runs on %s", s->id, fake_name(s->node), id,
                 fake_name(n));
}

/* What its row and its run's say; false: there is no such run any more. */
static bool read_rows(struct sim *m, const struct thing *t, const char *id, struct batch_task *row)
{
    struct run r;
    struct err e = {0};
    struct storage *st = m->life->st;
    int rc = st_batch_task_by_id(st, &m->a, t->id, row, &e);
    if (rc == 1 && strcmp(row->name, t->name) == 0)
        rc = st_run_of(st, &m->a, RES_BATCH_TASK, row->id, 0, &r, &e);
    else
        rc = rc < 0 ? rc : 0;
    return sim_ok(m, rc, &e, "run") && rc == 1 && strncmp(r.guid, id, GUID_SIZE - 1) == 0 &&
           r.attempt == attempt_of(id);
}

/* What it waits for is completed, as far as anybody knows. */
static void check_needs(struct sim *m, const struct thing *t)
{
    const struct thing *need = t->duty.needs;
    struct batch_task row;
    struct err e = {0};
    if (!need || need->gone || need->delete_asked || need->duty.again > 0)
        return;
    int rc = st_batch_task_by_id(m->life->st, &m->a, need->id, &row, &e);
    if (rc != 1 || strcmp(row.name, need->name) != 0)
        return;
    if (row.state != BATCH_TASK_COMPLETED || !row.satisfies)
        sim_fail(m, "task %s starts, and task %s, which it waits for, is in state %d", t->name,
                 need->name, (int)row.state);
}

static void check_times(struct sim *m, const struct thing *t, const struct batch_task *row,
                        const char *id)
{
    bool known = strncmp(t->duty.guid, id, GUID_SIZE - 1) == 0;
    int most = 1 + row->retries + row->requeues + t->duty.again * (1 + t->duty.retries);
    if (known && attempt_of(id) <= t->begun)
        sim_fail(m, "task %s starts once more: attempt %d of task %s has begun", id, t->begun,
                 t->name);
    if (t->duty.starts + 1 > most)
        sim_fail(m, "task %s starts for the %dth time, after %d retries and %d requeues", t->name,
                 t->duty.starts + 1, row->retries, row->requeues);
    if (t->duty.completed_us != 0)
        sim_fail(m, "task %s starts, and it was completed", t->name);
}

static void note_start(struct thing *t, struct fake_node *n, const char *id)
{
    t->starts++;
    t->duty.starts++;
    t->begun = attempt_of(id);
    snprintf(t->duty.guid, sizeof t->duty.guid, "%.*s", (int)sizeof t->duty.guid - 1, id);
    t->last_node = n;
    t->last_troubles = fake_troubles_over(n);
}

void sim_task_start(struct sim *m, struct thing *t, struct fake_node *n, const char *id)
{
    struct batch_task row;
    struct task_start s = {m, n, t, id};
    if (!m->life->st) { /* the daemon stops, and has let go of its database */
        note_start(t, n, id);
        return;
    }
    if (!read_rows(m, t, id, &row)) {
        /* A node that was in trouble may carry out what it was told before. */
        if (fake_troubles(n) == 0 && !sim_failed(m))
            sim_fail(m, "task %s starts, and its run is gone", id);
        return;
    }
    check_times(m, t, &row, id);
    check_needs(m, t);
    fake_each_running(m->fake, compare, &s);
    note_start(t, n, id);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* How many nodes the pool is to have; -1: it is not there, or goes. */
static int nodes_of_pool(const struct view *v, const struct batch_job *j)
{
    struct batch_account b;
    struct batch_pool p = {0};
    struct err e = {0};
    struct sim *m = v->m;
    int rc = st_batch_account_by_name(m->life->st, &m->a, "acct", &b, &e);
    if (rc == 1)
        rc = st_batch_pool_get(m->life->st, &m->a, b.id, j->pool_name, &p, &e);
    if (!sim_ok(m, rc, &e, "pool") || rc == 0 || p.state != BATCH_POOL_ACTIVE)
        return -1;
    return p.size.dedicated + p.size.low;
}

/* One that may run waits in vain only for a pool without nodes. */
static bool rests(const struct view *v, const struct batch_task *t)
{
    const struct batch_job *j = work_of(v, t->job_id);
    int nodes = j ? nodes_of_pool(v, j) : -1;
    if (t->state != BATCH_TASK_ACTIVE || t->fate != BATCH_FATE_OWN)
        return t->state == BATCH_TASK_COMPLETED && !t->fed;
    if (j && j->state == BATCH_JOB_ACTIVE && t->waits == 0)
        return nodes == 0 || (nodes < 0 && !t->fed);
    return !t->fed;
}

bool sim_tasks_at_rest(struct view *v, char *why, size_t size)
{
    for (size_t i = 0; i < v->n_works; i++)
        if (moves(&v->works[i])) {
            snprintf(why, size, "job %s is in state %d", v->works[i].name, (int)v->works[i].state);
            return false;
        }
    for (size_t i = 0; i < v->n_tasks; i++) {
        const struct batch_task *t = &v->tasks[i];
        if (rests(v, t))
            continue;
        snprintf(why, size,
                 "task %s is in state %d, fed %d, waits %d, fate %d; its run in state %d", t->name,
                 (int)t->state, (int)t->fed, t->waits, (int)t->fate, (int)v->task_runs[i].state);
        return false;
    }
    return true;
}
