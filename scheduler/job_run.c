/* SPDX-License-Identifier: MIT
 *
 * The life of a running job: see the picture in job_priv.h. A run is made from rows, whether the
 * job was allocated a moment ago or ran through a restart of the daemon.
 */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "model/machines.h"
#include "scheduler/job_priv.h"

static bool ended(enum exec_state x)
{
    return x == EXEC_SUCCEEDED || x == EXEC_FAILED;
}

/* --- making a run --------------------------------------------------------------------------- */

static void add_task(struct job_run *run, struct launch_task launch, bool is_prep)
{
    struct run_task *t = &run->tasks[run->n_tasks++];
    t->launch = launch;
    t->is_prep = is_prep;
    t->step = is_prep ? "job preparation" : "job";
    t->id = arena_printf(&run->a, "%s%s", slot_task_prefix(&run->slots[launch.rank]), launch.name);
}

static void make_tasks(struct job_run *run)
{
    struct launch_task *mains;
    size_t n = launch_tasks(&run->a, &run->spec, &mains);
    run->tasks = arena_alloc(&run->a, ((size_t)run->n_slots + n) * sizeof *run->tasks);
    for (int i = 0; run->spec.prep_command_line && i < run->n_slots; i++)
        add_task(run,
                 (struct launch_task){
                     .rank = i, .name = "prep", .command_line = run->spec.prep_command_line},
                 true);
    for (size_t i = 0; i < n; i++)
        if (mains[i].rank < run->n_slots)
            add_task(run, mains[i], false);
}

static void make_slots(struct job_run *run, const struct node *nodes, size_t n)
{
    run->n_slots = (int)n;
    run->slots = arena_alloc(&run->a, n * sizeof *run->slots);
    for (size_t i = 0; i < n; i++) {
        struct node_rt *rt = node_rt_get(run->s, &nodes[i]);
        struct job_slot *slot = &run->slots[i];
        assert(!rt->run);
        *slot = (struct job_slot){.run = run,
                                  .rt = rt,
                                  .node_id = nodes[i].id,
                                  .node_name = arena_strdup(&run->a, rt->name),
                                  .root = arena_strdup(&run->a, rt->root),
                                  .rank = (int)i};
        rt->run = run;
        rt->slot = (int)i;
        /* A lost node that was given up before the run was made: its link is not wanted. */
        wake(run->s, WAKE_NODE, rt->id);
    }
}

static void decode_spec(struct job_run *run, const struct job *row)
{
    struct err e = {0};
    const char *secrets;
    struct outcome out = {.kind = OUT_FAILED};
    if (st_job_secrets(run->s->st, &run->a, row->id, &secrets, &e) < 0 ||
        job_spec_decode(&run->a, row, secrets, &run->spec, &e) != 0)
        out.why = (struct failure){
            .code = "JobNotUnderstood", .message = e.msg, .step = "launch", .exit_code = -1};
    else if (!launch_refusal(&run->a, &run->spec, &out.why)) {
        make_tasks(run);
        return;
    }
    run_set_outcome(run, &out);
}

/* What a run that is resumed has sent before cannot be known. */
static void resume_run(struct job_run *run)
{
    for (size_t i = 0; i < run->n_tasks; i++)
        run->tasks[i].state = RT_SENT;
    for (int i = 0; i < run->n_slots; i++)
        run->slots[i].begun = true;
}

static struct job_run *run_new(struct sched *s, const struct job *row, const struct node *nodes,
                               size_t n)
{
    struct job_run *run = xcalloc(1, sizeof *run);
    arena_init(&run->a);
    run->s = s;
    run->id = row->id;
    run->cluster_id = nodes[0].cluster_id;
    run->name = arena_strdup(&run->a, row->name);
    run->guid = arena_strdup(&run->a, row->guid);
    run->attempt = row->attempt;
    run->start_us = row->start_us;
    run->exec = row->exec_state;
    id_map_put(&s->runs, run->id, run);
    make_slots(run, nodes, n);
    decode_spec(run, row);
    bool resumed = row->start_us < s->started_us;
    if (resumed)
        resume_run(run);
    if (ended(run->exec) || run->exec == EXEC_QUEUED)
        run->phase = RUN_CLEANING;
    LOG_INFO(s->log, resumed ? "job.resumed" : "job.running", LF_STR("job", run->name),
             LF_INT("job_id", run->id), LF_INT("attempt", run->attempt),
             LF_STR("node", run->slots[0].node_name), LF_INT("nodes", run->n_slots));
    return run;
}

static void detach(struct job_slot *slot)
{
    if (!slot->rt)
        return;
    slot->rt->run = NULL;
    slot->rt = NULL;
}

void job_run_free(struct job_run *run)
{
    for (int i = 0; i < run->n_slots; i++)
        detach(&run->slots[i]);
    wake_at(run->s, WAKE_JOB, run->id, 0);
    id_map_remove(&run->s->runs, run->id);
    job_spec_wipe(&run->spec);
    mounts_wipe(run->secrets);
    arena_free(&run->a);
    free(run);
}

/* --- jobs that no node holds ---------------------------------------------------------------- */

struct failed_note {
    struct sched *s; /* a reference */
    int64_t id;
    char *name, *why;
};

/* Rolled back: it has not happened, and is found and written again. */
static void on_failed_durable(void *ctx, const struct err *why)
{
    struct failed_note *n = ctx;
    if (!why)
        LOG_INFO(n->s->log, "job.failed", LF_STR("job", n->name), LF_INT("job_id", n->id),
                 LF_STR("why", n->why));
    sched_unref(n->s);
    free(n->name);
    free(n->why);
    free(n);
}

static void log_failed(struct sched *s, const struct job *j, const char *why)
{
    struct failed_note *n = xcalloc(1, sizeof *n);
    *n = (struct failed_note){s, j->id, xstrdup(j->name), xstrdup(why)};
    sched_ref(s);
    st_when_durable(s->st, on_failed_durable, n);
}

int job_fail_queued(struct sched *s, const struct job *j, const struct failure *f, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int64_t now = sched_now(s);
    const struct st_job_move m = {.id = j->id,
                                  .from = EXEC_QUEUED,
                                  .to = job_next(EXEC_QUEUED, JOB_EV_FAILED),
                                  .now_us = now,
                                  .start_us = now,
                                  .end_us = now,
                                  .errors = failure_append(&a, NULL, f)};
    int rc = st_job_move(s->st, &m, e);
    if (rc == 0) {
        log_failed(s, j, failure_line(&a, f));
        wake(s, WAKE_JOB, j->id);
        wake(s, WAKE_CLUSTER, j->cluster_id);
    }
    arena_free(&a);
    return rc;
}

/* A running job without nodes cannot come to be by our own writes: say so, and end it. */
static int end_nodeless(struct sched *s, struct arena *a, const struct job *row, struct err *e)
{
    const struct failure f = {
        .code = "NodeLost", .message = "The job's nodes are gone", .exit_code = -1};
    const struct st_job_move m = {.id = row->id,
                                  .from = row->exec_state,
                                  .to = job_next(row->exec_state, JOB_EV_FAILED),
                                  .now_us = sched_now(s),
                                  .end_us = sched_now(s),
                                  .errors = failure_append(a, NULL, &f)};
    LOG_ERROR(s->log, "job.without_nodes", LF_STR("job", row->name), LF_INT("job_id", row->id));
    return st_job_move(s->st, &m, e);
}

static int without_run(struct sched *s, struct arena *a, int64_t id, struct job_run **run,
                       struct err *e)
{
    struct job row;
    struct node *nodes;
    size_t n;
    if (id_map_has(&s->allocating, id))
        return 0;
    int rc = st_job_by_id(s->st, a, id, &row, e);
    if (rc <= 0)
        return rc;
    if (st_node_of_job(s->st, a, id, &nodes, &n, e) != 0)
        return -1;
    if (n > 0) {
        *run = run_new(s, &row, nodes, n);
        return 0;
    }
    if (row.prov_state == PROV_DELETING) {
        s->wake_deletions = true;
        return 0;
    }
    if (row.exec_state == EXEC_QUEUED)
        return 0;
    if (!ended(row.exec_state) && end_nodeless(s, a, &row, e) != 0)
        return -1;
    return st_op_finish(s->st, RES_JOB, id, false, NULL, NULL, sched_now(s), e);
}

/* --- the next step -------------------------------------------------------------------------- */

static void advance_active(struct job_run *run)
{
    for (int i = 0; i < run->n_slots; i++) {
        struct job_slot *slot = &run->slots[i];
        if (slot->has_error)
            verdict_slot_error(run, slot);
        else if (slot->state == SLOT_WAITING && slot->rt && node_rt_usable(slot->rt))
            slot_start(slot);
        else if (slot->state == SLOT_STARTED)
            slot_advance(slot);
    }
    if (run->out.kind == OUT_NONE && run_prepared(run))
        run_send_main(run);
}

static void begin_stop(struct job_run *run)
{
    run->phase = run->out.grace_us > 0 ? RUN_STOPPING : RUN_KILLING;
    run->kill_us = sched_now(run->s) + run->out.grace_us;
    if (!run_tasks_over(run))
        run_signal(run, run->phase == RUN_STOPPING ? SIGTERM : SIGKILL);
}

static void advance_stop(struct job_run *run)
{
    bool late = run->phase == RUN_STOPPING && sched_now(run->s) >= run->kill_us;
    if (late || (run->phase == RUN_STOPPING && run->out.grace_us == 0)) {
        run->phase = RUN_KILLING;
        run_signal(run, SIGKILL);
    }
    if (!run_tasks_over(run))
        return;
    bool end = run->out.kind != OUT_REQUEUE && run->out.kind != OUT_REMOVE;
    run->phase = end ? RUN_ENDING : RUN_CLEANING;
}

/* What fails is not forgiven: something of the job may still run there. */
static void end_cleaning(struct job_slot *slot)
{
    const struct failure *why = script_failure(slot->script);
    slot->state = SLOT_CLEAN;
    if (why)
        node_give_up(slot->rt, why);
}

/* True when every node is clean or given up. */
static bool advance_cleaning(struct job_run *run)
{
    bool all = true;
    for (int i = 0; i < run->n_slots; i++) {
        struct job_slot *slot = &run->slots[i];
        if (slot->state == SLOT_CLEANING && slot_cleaned(slot))
            end_cleaning(slot);
        bool done = slot->state == SLOT_CLEAN || slot->state == SLOT_GONE;
        if (!done && slot->state != SLOT_CLEANING && slot->rt && node_rt_usable(slot->rt))
            slot_clean(slot);
        all = all && done;
    }
    return all;
}

/* A job that was to be queued again, and is terminated or deleted now. */
static bool end_overtaken(const struct job_run *run)
{
    return run->out.kind == OUT_STOPPED && !ended(run->exec);
}

static void set_deadline(struct job_run *run)
{
    int64_t at = 0;
    if (run->phase == RUN_STOPPING)
        at = run->kill_us;
    else if (run->phase == RUN_ACTIVE && run->spec.max_wall_us > 0)
        at = run->start_us + run->spec.max_wall_us;
    else if (run->phase == RUN_ENDING)
        return; /* a write that failed has set its own */
    wake_at(run->s, WAKE_JOB, run->id, at);
}

/* A node with a task that does not die is given up. The task will not go on: what was sent SIGKILL
 * never returns from the kernel to its own code. */
static void check_kills(struct job_run *run)
{
    for (int i = 0; i < run->n_slots; i++) {
        struct job_slot *slot = &run->slots[i];
        const char *task = slot_awaits_end_of(slot);
        struct failure why;
        if (!task)
            slot->killing_us = 0;
        else if (node_kill_is_overdue(slot->rt, task, &slot->killing_us, WAKE_JOB, run->id, &run->a,
                                      &why))
            node_give_up(slot->rt, &why);
    }
}

/* Each step falls through to the next as far as nothing has to be waited for. */
static void advance(struct job_run *run)
{
    if (run->phase == RUN_ACTIVE && run->out.kind == OUT_NONE)
        advance_active(run);
    if (run->phase == RUN_ACTIVE && run->out.kind != OUT_NONE)
        begin_stop(run);
    if (run->phase == RUN_STOPPING || run->phase == RUN_KILLING)
        advance_stop(run);
    if (run->phase == RUN_ENDING)
        run_write_end(run);
    if (run->phase == RUN_CLEANING && advance_cleaning(run)) {
        if (!end_overtaken(run)) {
            run_release(run);
            return;
        }
        run->phase = RUN_ENDING;
        run_write_end(run);
    }
    set_deadline(run);
    check_kills(run);
}

void job_reconcile(struct sched *s, int64_t id)
{
    struct arena a;
    arena_init(&a);
    struct err e = {0};
    struct job_run *run = id_map_find(&s->runs, id);
    int rc = run ? 0 : without_run(s, &a, id, &run, &e);
    if (rc == 0 && run)
        rc = verdict_rows(run, &a, &e);
    if (rc < 0) {
        LOG_ERROR(s->log, "job.reconcile_failed", LF_INT("job_id", id), LF_STR("why", e.msg));
        wake_at(s, WAKE_JOB, id, sched_now(s) + WRITE_AGAIN_US);
    } else if (run) {
        advance(run);
    }
    arena_free(&a);
}

/* --- what nodes report ---------------------------------------------------------------------- */

static struct job_slot *slot_of(const struct node_rt *rt)
{
    return &rt->run->slots[rt->slot];
}

void job_node_ready(struct node_rt *rt)
{
    struct job_slot *slot = slot_of(rt);
    if (slot->run->phase == RUN_STOPPING || slot->run->phase == RUN_KILLING)
        slot_signal(slot, slot->run->phase == RUN_STOPPING ? SIGTERM : SIGKILL);
    wake(rt->s, WAKE_JOB, slot->run->id);
}

void job_node_down(struct node_rt *rt)
{
    if (!rt->run)
        return;
    struct job_slot *slot = slot_of(rt);
    slot->pending = 0;
    slot->has_error = false;
    if (slot->script)
        script_halt(slot->script);
    if (slot->state == SLOT_STARTED || slot->state == SLOT_CLEANING)
        slot->state = SLOT_WAITING;
    /* Asked for again when the link is back, as the node may never have heard of it. */
    for (size_t i = 0; i < rt->run->n_tasks; i++)
        if (rt->run->tasks[i].launch.rank == slot->rank)
            rt->run->tasks[i].asked = false;
}

void job_node_gone(struct node_rt *rt)
{
    if (!rt->run)
        return;
    struct job_slot *slot = slot_of(rt);
    struct job_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].launch.rank == slot->rank)
            run->tasks[i].state = RT_OVER;
    slot->state = SLOT_GONE;
    slot->pending = 0;
    if (slot->script)
        script_halt(slot->script);
    detach(slot);
    wake(run->s, WAKE_JOB, run->id);
}

void job_task_ended(struct node_rt *rt, const struct task_status *st)
{
    struct job_run *run = rt->run;
    struct job_slot *slot = slot_of(rt);
    if (slot->script && script_task_ended(slot->script, st))
        return;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (strcmp(run->tasks[i].id, st->id) == 0) {
            verdict_task(run, &run->tasks[i], st);
            return;
        }
}
