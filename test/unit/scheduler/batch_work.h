/* SPDX-License-Identifier: MIT
 *
 * Jobs of Azure Batch and their tasks in a world of virtual time.
 */
#ifndef TEST_SCHEDULER_BATCH_WORK_H
#define TEST_SCHEDULER_BATCH_WORK_H

#include "scheduler/front/batch/tasks.h"
#include "test/unit/scheduler/batch_pools.h"

/* `how`: what becomes of the tasks of nodes that are lost. */
static inline void add_ruled_nodes(struct world *w, const char *name, int nodes, int slots,
                                   enum dealloc_option how)
{
    int64_t id = put_pool(w, (struct batch_pool){.name = name,
                                                 .size = {.dedicated = nodes},
                                                 .vm_size = "STANDARD_D1",
                                                 .dealloc = how,
                                                 .slots = slots});
    WAIT(w, has_nodes(w, id, nodes));
}

static inline void add_nodes(struct world *w, const char *name, int nodes, int slots)
{
    add_ruled_nodes(w, name, nodes, slots, DEALLOC_REQUEUE);
}

/* A pool of one node. */
static inline void add_slots(struct world *w, const char *name, int slots)
{
    add_nodes(w, name, 1, slots);
}

/* `more`: properties, each with a comma behind it; ' for ". */
static inline struct batch_job add_work(struct world *w, const char *name, const char *more)
{
    struct err e = {0};
    int64_t now = wakes_wall(sched_wakes(w->s));
    struct batch_job j = {
        .account_id = add_account(w),
        .name = arena_strdup(&w->a, name),
        .doc = json(w, arena_printf(&w->a, "{%s 'id':'%s','poolInfo':{'poolId':'p'}}", more, name)),
        .state = BATCH_JOB_ACTIVE,
        .state_us = now,
        .created_us = now,
        .updated_us = now,
        .start_us = now,
        .number = 1};
    ok(batch_job_add(&w->batch, &w->a, &j, NULL, &e), &e);
    return j;
}

/* `properties`: at least the command line; ' for ". */
static inline struct batch_task add_task_of(struct world *w, const struct batch_job *j,
                                            const char *name, const char *properties, int retries,
                                            const struct batch_waits *waits)
{
    struct err e = {0};
    int64_t now = wakes_wall(sched_wakes(w->s));
    struct batch_task t = {
        .job_id = j->id,
        .name = name,
        .doc = json(w, arena_printf(&w->a,
                                    "{'id':'%s',%s,"
                                    "'constraints':{'retentionTime':'P7D','maxTaskRetryCount':%d}}",
                                    name, properties, retries)),
        .state = BATCH_TASK_ACTIVE,
        .state_us = now,
        .created_us = now,
        .updated_us = now,
        .slots = 1,
        .instances = 1,
        .job_name = j->name};
    ok(batch_task_add(w->st, &t, NULL, waits, &e), &e);
    return t;
}

static inline struct batch_task add_command_task(struct world *w, const struct batch_job *j,
                                                 const char *name, const char *command, int retries,
                                                 const struct batch_waits *waits)
{
    const char *line = arena_printf(&w->a, "'commandLine':'%s'", command);
    return add_task_of(w, j, name, line, retries, waits);
}

static inline struct batch_task add_named_task(struct world *w, const struct batch_job *j,
                                               const char *name, int run_s,
                                               const struct batch_waits *waits)
{
    return add_command_task(w, j, name, arena_printf(&w->a, "fake run=%d", run_s * 1000), 0, waits);
}

static inline struct batch_task add_waiting_task(struct world *w, const struct batch_job *j,
                                                 int number, int run_s,
                                                 const struct batch_waits *waits)
{
    return add_named_task(w, j, arena_printf(&w->a, "t%d", number), run_s, waits);
}

static inline struct batch_task add_work_task(struct world *w, const struct batch_job *j,
                                              int number, int run_s)
{
    const struct batch_waits nothing = {0};
    return add_waiting_task(w, j, number, run_s, &nothing);
}

/* They end one after the other, each 10 s after the one before. */
static inline void add_tasks(struct world *w, const struct batch_job *j, int n)
{
    for (int i = 0; i < n; i++)
        (void)add_work_task(w, j, i, 600 + 10 * i);
    batch_job_has_more(&w->batch, j->id);
}

static inline struct batch_job work_row(struct world *w, const struct batch_job *j)
{
    struct err e = {0};
    struct batch_job row = {.id = 0};
    ok(st_batch_job_by_id(w->st, &w->a, j->id, &row, &e), &e);
    return row;
}

static inline enum batch_task_state task_state(struct world *w, const struct batch_task *t)
{
    struct err e = {0};
    struct batch_task row = {.id = 0};
    ok(st_batch_task_by_id(w->st, &w->a, t->id, &row, &e), &e);
    return row.state;
}

/* The one node of the one pool. */
static inline struct fake_node *the_node(struct world *w)
{
    return fake_of(w, pool_row(w, 1).id, 0);
}

#endif
