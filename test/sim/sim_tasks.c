/* SPDX-License-Identifier: MIT
 *
 * Jobs and tasks of Azure Batch, as clients would make and change them: tasks of some slots or on
 * several nodes, tried again or not, alone or after others; jobs that are disabled, enabled,
 * terminated and deleted, and may have a task that manages them and a pool of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/batch/job_states.h"
#include "scheduler/front/batch/tasks.h"
#include "test/sim/sim_steps.h"
#include "test/sim/sim_view.h"

#define WORKS_MAX 4
#define TEAM_MAX  2 /* nodes of a task: as many as pools get in the end */
/* Within this, every task ends once there are nodes for it; after so long they are replaced. */
#define END_S   7200
#define RENEW_S 1800

/* --- rows ------------------------------------------------------------------------------------- */

static bool read_work(struct sim *m, const struct thing *t, struct batch_job *out)
{
    struct err e = {0};
    int rc = st_batch_job_by_id(m->life->st, &m->a, t->id, out, &e);
    return sim_ok(m, rc, &e, "job") && rc == 1 && strcmp(out->name, t->name) == 0;
}

static bool read_task(struct sim *m, const struct thing *t, struct batch_task *out)
{
    struct err e = {0};
    int rc = st_batch_task_by_id(m->life->st, &m->a, t->id, out, &e);
    return sim_ok(m, rc, &e, "task") && rc == 1 && strcmp(out->name, t->name) == 0;
}

/* --- making ----------------------------------------------------------------------------------- */

/* What it does on each node before its first task there, and after its last one. */
static const char *chores_doc(struct sim *m, struct thing *t)
{
    static const char form[] =
        "\"%s\":{\"id\":\"%s\",\"commandLine\":\"fake run=%d%s\",%s"
        "\"userIdentity\":{\"autoUser\":{\"scope\":\"pool\"}},\"constraints\":"
        "{\"maxTaskRetryCount\":0,\"maxWallClockTime\":\"PT60S\"}},";
    t->duty.prepares = chance(m, 30);
    if (!t->duty.prepares)
        return "";
    /* One that fails bars its node to the tasks that wait for it: nothing would run in the end. */
    bool awaited = chance(m, 70);
    const char *before = arena_printf(
        &m->a, form, "jobPreparationTask", "prep", any(m, 3) * 100, awaited ? "" : " exit=1",
        awaited ? "\"waitForSuccess\":true,\"rerunOnNodeRebootAfterSuccess\":true," : "");
    if (chance(m, 50))
        return before;
    return arena_concat(
        &m->a, before, arena_printf(&m->a, form, "jobReleaseTask", "rel", any(m, 3) * 100, "", ""));
}

static const char *yes_or_no(struct sim *m)
{
    return chance(m, 50) ? "true" : "false";
}

/* The task that manages a job, if it is to have one; *manager is what is known of it. */
static const char *manager_doc(struct sim *m, struct thing *work, struct thing **manager)
{
    struct thing *t = chance(m, 25) ? sim_thing_new(m, THING_TASK, "") : NULL;
    *manager = t;
    if (!t)
        return "";
    t->tree = work;
    t->duty = (struct duty){.slots = 1, .nodes = 1, .retries = any(m, 2), .alone = chance(m, 50)};
    return arena_printf(&m->a,
                        "\"jobManagerTask\":{\"id\":\"%s\",\"commandLine\":\"fake run=%d%s "
                        "job=%s\",\"killJobOnCompletion\":%s,\"runExclusive\":%s,"
                        "\"allowLowPriorityNode\":%s,\"requiredSlots\":1,"
                        "\"userIdentity\":{\"autoUser\":{\"scope\":\"pool\"}},"
                        "\"constraints\":{\"maxTaskRetryCount\":%d,\"maxWallClockTime\":\"PT1H\","
                        "\"retentionTime\":\"P7D\"}},",
                        t->name, any(m, 3) * 10000, chance(m, 20) ? " exit=3" : "", t->name,
                        yes_or_no(m), t->duty.alone ? "true" : "false", yes_or_no(m),
                        t->duty.retries);
}

/* The pool that a job is for, or one that is made for it. */
static const char *pool_doc(struct sim *m, struct thing *t, bool own)
{
    if (!own)
        return arena_printf(&m->a, "\"poolId\":\"%s\"", t->duty.pool);
    return arena_printf(&m->a,
                        "\"autoPoolSpecification\":{\"autoPoolIdPrefix\":\"%s\","
                        "\"poolLifetimeOption\":\"job\",\"keepAlive\":%s,\"pool\":{"
                        "\"vmSize\":\"standard_d1\",\"targetDedicatedNodes\":%d,"
                        "\"enableInterNodeCommunication\":%s,\"taskSlotsPerNode\":%d}}",
                        t->duty.keeps ? "kept" : "auto", t->duty.keeps ? "true" : "false",
                        any(m, 3), t->duty.slots == 1 ? "true" : "false", t->duty.slots);
}

struct kind_of_work {
    bool own_pool; /* a pool is made for the job */
    bool is_rival; /* of other jobs with its priority, for the nodes of a pool */
};

static const char *work_doc(struct sim *m, struct thing *t, const struct kind_of_work *kind,
                            struct thing **manager)
{
    int priority = kind->is_rival || chance(m, 60) ? 0 : (any(m, 3) - 1) * 100;
    bool ends = chance(m, 20);
    const char *chores = chores_doc(m, t), *boss = manager_doc(m, t, manager),
               *pool = pool_doc(m, t, kind->own_pool);
    return arena_printf(&m->a,
                        "{%s%s\"id\":\"%s\",\"poolInfo\":{%s},\"priority\":%d,"
                        "\"maxParallelTasks\":%d,\"usesTaskDependencies\":%s,"
                        "\"onAllTasksComplete\":\"%s\"}",
                        chores, boss, t->name, pool, priority, t->duty.at_once,
                        t->duty.depends ? "true" : "false", ends ? "terminatejob" : "noaction");
}

/* It came with its job. */
static void note_manager(struct sim *m, struct thing *t, const struct batch_job *j, bool ok)
{
    struct batch_task row;
    struct err e = {0};
    int rc = ok ? st_batch_task_get(m->life->st, &m->a, j->id, t->name, &row, &e) : 0;
    t->gone = !sim_ok(m, rc, &e, "manager") || rc == 0;
    t->id = t->gone ? 0 : row.id;
    sim_when_acknowledged(m, t);
}

static struct thing *add_work(struct sim *m, const struct batch_pool *pool,
                              struct kind_of_work kind)
{
    struct err e = {0};
    bool own_pool = kind.own_pool;
    struct thing *t = pool ? sim_thing_new(m, THING_WORK, "w") : NULL;
    if (!t)
        return NULL;
    int slots = own_pool ? 1 + any(m, 2) : pool->slots;
    bool team = slots == 1 && (own_pool || strstr(pool->doc, "InterNodeCommunication\":true"));
    t->duty =
        (struct duty){.at_once = !kind.is_rival && chance(m, 30) ? 1 + any(m, 3) : BATCH_UNLIMITED,
                      .depends = chance(m, 60),
                      .keeps = own_pool && chance(m, 30),
                      .slots = slots,
                      .nodes = team ? TEAM_MAX : 1};
    snprintf(t->duty.pool, sizeof t->duty.pool, "%s", pool->name);
    int64_t now = wall(m);
    struct thing *manager;
    struct batch_job j = {.account_id = pool->account_id,
                          .name = t->name,
                          .doc = work_doc(m, t, &kind, &manager),
                          .state = BATCH_JOB_ACTIVE,
                          .state_us = now,
                          .created_us = now,
                          .updated_us = now,
                          .start_us = now,
                          .number = 1};
    bool ok = sim_ok(m, batch_job_add(&m->life->batch, &m->a, &j, NULL, &e), &e, "job");
    t->gone = !ok;
    t->id = j.id;
    if (ok)
        batch_job_changed(&m->life->batch, t->id);
    if (ok && own_pool)
        snprintf(t->duty.pool, sizeof t->duty.pool, "%s", j.pool_name);
    sim_when_acknowledged(m, t);
    sim_trace(m, "job %s on pool %s: %s", t->name, t->duty.pool, j.doc);
    if (manager)
        note_manager(m, manager, &j, ok);
    return t;
}

void sim_add_work(struct sim *m)
{
    if (sim_count(m, THING_WORK) < WORKS_MAX)
        (void)add_work(m, sim_any_pool(m), (struct kind_of_work){.own_pool = chance(m, 25)});
}

/* What is gone may be named as well: then it is waited for for ever. */
static struct thing *any_other(struct sim *m, const struct thing *work)
{
    struct thing *found[THINGS_MAX];
    int n = 0;
    for (int i = 0; i < m->n_things; i++)
        if (m->things[i]->kind == THING_TASK && m->things[i]->tree == work &&
            !m->things[i]->unsure && !(m->things[i]->gone && m->things[i]->acknowledged))
            found[n++] = m->things[i];
    return n > 0 ? found[any(m, n)] : NULL;
}

static const char *task_doc(struct sim *m, const struct thing *t)
{
    static const int runs_ms[] = {0, 5, 400, 3000, 20000, 90000};
    const char *exit = chance(m, 25) ? " exit=3" : "", *stubborn = chance(m, 10) ? " stubborn" : "",
               *fails =
                   chance(m, 50)
                       ? ""
                       : "\"exitConditions\":{\"default\":{\"dependencyAction\":\"satisfy\"}},",
               *limit = chance(m, 10) ? "PT5S" : "P10675199DT2H48M5.4775807S",
               *scope = chance(m, 50) ? "pool" : "task";
    const char *team =
        t->duty.nodes == 1
            ? ""
            : arena_printf(&m->a,
                           "\"multiInstanceSettings\":{\"numberOfInstances\":%d,"
                           "\"coordinationCommandLine\":\"fake run=%d%s\"},",
                           t->duty.nodes, any(m, 4) * 100, chance(m, 15) ? " exit=1" : "");
    return arena_printf(&m->a,
                        "{%s\"id\":\"%s\",\"commandLine\":\"fake run=%d%s%s job=%s\",%s"
                        "\"userIdentity\":{\"autoUser\":{\"scope\":\"%s\"}},"
                        "\"requiredSlots\":%d,\"constraints\":{\"maxTaskRetryCount\":%d,"
                        "\"maxWallClockTime\":\"%s\",\"retentionTime\":\"%s\"}}",
                        team, t->name, runs_ms[any(m, 6)], exit, stubborn, t->name, fails, scope,
                        t->duty.slots, t->duty.retries, limit, chance(m, 20) ? "PT90S" : "P7D");
}

struct adding {
    struct batch_task *t;
    struct batch_waits waits;
};

static int write_task(struct storage *st, void *ctx, struct err *e)
{
    const struct adding *k = ctx;
    return batch_task_add(st, k->t, NULL, &k->waits, e);
}

/* By name or by number, as all names of tasks are numbers. */
static void wait_for(struct sim *m, struct thing *t, struct batch_waits *out)
{
    struct thing *other = t->tree->duty.depends && chance(m, 50) ? any_other(m, t->tree) : NULL;
    *out = (struct batch_waits){0};
    if (!other || other == t)
        return;
    t->duty.needs = other;
    sim_trace(m, "%s waits for %s", t->name, other->name);
    if (chance(m, 60)) {
        const char **names = arena_alloc(&m->a, sizeof *names);
        names[0] = other->name;
        *out = (struct batch_waits){.names = names, .n_names = 1};
        return;
    }
    struct batch_range *range = arena_alloc(&m->a, sizeof *range);
    range->low = range->high = strtol(other->name, NULL, 10);
    *out = (struct batch_waits){.ranges = range, .n_ranges = 1};
}

static void add_task(struct sim *m, struct thing *work)
{
    struct err e = {0};
    struct thing *t = sim_thing_new(m, THING_TASK, "");
    if (!t)
        return;
    int64_t now = wall(m);
    t->tree = work;
    t->duty.slots = 1 + any(m, work->duty.slots);
    t->duty.nodes = work->duty.nodes > 1 && chance(m, 50) ? work->duty.nodes : 1;
    t->duty.retries = chance(m, 50) ? 0 : any(m, 3);
    struct batch_task row = {.job_id = work->id,
                             .name = t->name,
                             .doc = task_doc(m, t),
                             .state = BATCH_TASK_ACTIVE,
                             .state_us = now,
                             .created_us = now,
                             .updated_us = now,
                             .slots = t->duty.slots,
                             .instances = t->duty.nodes,
                             .job_name = work->name};
    struct adding k = {.t = &row};
    wait_for(m, t, &k.waits);
    int rc = chance(m, 50) ? st_tx(m->life->st, "add task", write_task, &k, &e)
                           : st_whole(m->life->st, write_task, &k, &e);
    t->gone = !sim_ok(m, rc, &e, "task");
    t->id = row.id;
    sim_when_acknowledged(m, t);
    sim_trace(m, "task %s of job %s: %s", t->name, work->name, row.doc);
}

static void add_tasks(struct sim *m, struct thing *work)
{
    struct batch_job j = {0};
    if (!work || !read_work(m, work, &j) || j.state >= BATCH_JOB_TERMINATING)
        return;
    for (int n = 1 + any(m, 4); n > 0; n--)
        add_task(m, work);
    batch_job_changed(&m->life->batch, work->id);
}

void sim_add_tasks(struct sim *m)
{
    add_tasks(m, sim_pick(m, THING_WORK));
}

/* Two jobs with one priority: the newer gets tasks first. */
void sim_add_rivals(struct sim *m)
{
    const struct kind_of_work rival = {.is_rival = true};
    const struct batch_pool *pool = sim_any_pool(m);
    if (!pool || sim_count(m, THING_WORK) + 2 > WORKS_MAX)
        return;
    struct thing *older = add_work(m, pool, rival), *newer = add_work(m, pool, rival);
    add_tasks(m, newer);
    sim_pass(m, SECOND);
    add_tasks(m, older);
}

/* --- changing --------------------------------------------------------------------------------- */

static int move_work(struct sim *m, const struct batch_job *j, enum batch_job_event ev,
                     struct err *e)
{
    struct batch_front *f = &m->life->batch;
    switch (ev) {
    case BATCH_JOB_EV_DISABLE:
        return batch_job_disable(f, j, (enum batch_disable)(1 + any(m, 3)), wall(m), e);
    case BATCH_JOB_EV_ENABLE:
        return batch_job_enable(f, j, wall(m), e);
    case BATCH_JOB_EV_TERMINATE:
        return batch_job_terminate(f, j, NULL, true, wall(m), e);
    case BATCH_JOB_EV_DELETE:
        return batch_job_delete(f, j, wall(m), e);
    case BATCH_JOB_EV_DISABLED:
    case BATCH_JOB_EV_ENABLED:
    case BATCH_JOB_EV_COMPLETED:
    case BATCH_JOB_EVENTS:
        break;
    }
    return 0;
}

/* As the service has it: an event that its state does not allow is refused. */
static void ask_work(struct sim *m, struct thing *t, enum batch_job_event ev)
{
    const char *word = batch_job_machine.event_names[ev];
    struct err e = {0};
    struct batch_job j = {0};
    if (!read_work(m, t, &j) || batch_job_next(j.state, ev) == 0)
        return;
    sim_trace(m, "%s %s", word, t->name);
    t->delete_asked = t->delete_asked || ev == BATCH_JOB_EV_DELETE;
    (void)sim_ok(m, move_work(m, &j, ev, &e), &e, word);
}

void sim_change_work(struct sim *m)
{
    static const enum batch_job_event events[] = {
        BATCH_JOB_EV_DISABLE, BATCH_JOB_EV_DISABLE, BATCH_JOB_EV_ENABLE,    BATCH_JOB_EV_ENABLE,
        BATCH_JOB_EV_ENABLE,  BATCH_JOB_EV_ENABLE,  BATCH_JOB_EV_TERMINATE, BATCH_JOB_EV_DELETE};
    struct thing *t = sim_pick(m, THING_WORK);
    if (t)
        ask_work(m, t, events[any(m, (int)(sizeof events / sizeof *events))]);
}

struct sim_change {
    struct sim *m;
    const struct batch_task *t;
    int (*fn)(struct batch_front *f, const struct batch_task *t, int64_t now_us, struct err *e);
};

static int write_change(struct storage *st, void *ctx, struct err *e)
{
    const struct sim_change *k = ctx;
    (void)st;
    return k->fn(&k->m->life->batch, k->t, wall(k->m), e);
}

static void change(struct sim *m, const struct batch_task *t, const char *what,
                   int (*fn)(struct batch_front *, const struct batch_task *, int64_t,
                             struct err *))
{
    struct err e = {0};
    struct sim_change k = {m, t, fn};
    sim_trace(m, "%s task %s", what, t->name);
    (void)sim_ok(m, st_tx(m->life->st, what, write_change, &k, &e), &e, what);
}

static void reactivate(struct sim *m, struct thing *t, const struct batch_task *row)
{
    struct batch_job j = {0};
    if (!read_work(m, t->tree, &j) || j.state >= BATCH_JOB_TERMINATING ||
        row->state != BATCH_TASK_COMPLETED || row->result == BATCH_SUCCESS)
        return;
    t->duty.again++;
    t->duty.completed_us = 0;
    change(m, row, "reactivate", batch_task_reactivate);
}

void sim_delete_duty(struct sim *m, struct thing *t)
{
    struct batch_task row = {0};
    t->delete_asked = true;
    if (t->kind == THING_WORK)
        ask_work(m, t, BATCH_JOB_EV_DELETE);
    else if (read_task(m, t, &row) && row.fate != BATCH_FATE_DELETE)
        change(m, &row, "delete", batch_task_delete);
}

void sim_change_task(struct sim *m)
{
    struct thing *t = sim_pick(m, THING_TASK);
    struct batch_task row = {0};
    if (!t || !read_task(m, t, &row) || row.fate == BATCH_FATE_DELETE)
        return;
    switch (any(m, 4)) {
    case 0:
        sim_delete_duty(m, t);
        break;
    case 1:
        if (row.state != BATCH_TASK_COMPLETED)
            change(m, &row, "terminate", batch_task_terminate);
        break;
    default:
        reactivate(m, t, &row);
        break;
    }
}

/* --- the end ---------------------------------------------------------------------------------- */

static void enable_all(struct sim *m)
{
    for (int i = 0; i < m->n_things && !sim_failed(m); i++)
        if (m->things[i]->kind == THING_WORK && !m->things[i]->gone)
            ask_work(m, m->things[i], BATCH_JOB_EV_ENABLE);
}

static void wait_for_all(struct sim *m)
{
    char why[300] = "";
    for (int s = 0; s < END_S && !sim_failed(m); s += 20) {
        struct view v;
        sim_pass(m, 20 * SECOND);
        sim_check(m);
        if (sim_failed(m) || !sim_view_read(m, &v) || sim_tasks_at_rest(&v, why, sizeof why))
            return;
        arena_free(&m->a);
        if (s != RENEW_S)
            continue;
        sim_pools_resize(m, 0); /* a task that did not die may hold a node */
        sim_pass(m, 300 * SECOND);
        sim_pools_resize(m, 2);
    }
    sim_fail(m, "two hours after there were nodes for all, %s", why);
}

void sim_tasks_heal(struct sim *m)
{
    struct view v;
    char why[300];
    if (!sim_view_read(m, &v) || v.n_works == 0)
        return;
    enable_all(m);
    sim_pass(m, 20 * SECOND);
    if (sim_failed(m) || !sim_view_read(m, &v) || !sim_tasks_at_rest(&v, why, sizeof why)) {
        sim_make_empty(m);
        sim_pools_resize(m, 2);
        wait_for_all(m);
    }
    for (int i = 0; i < m->n_things && !sim_failed(m); i += 2)
        if (m->things[i]->kind == THING_WORK && !m->things[i]->gone)
            sim_delete_duty(m, m->things[i]);
    arena_free(&m->a);
}
