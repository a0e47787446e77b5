/* SPDX-License-Identifier: MIT
 *
 * What an exit, an error, a deadline or a lost node means for the job, in the service's own codes
 * where it had one, with everything a user needs to see why.
 */
#include <string.h>

#include "scheduler/job_priv.h"

/* Between SIGTERM and SIGKILL. */
#define GRACE_US 5000000

/* A job whose nodes are lost again and again is not queued again for ever. */
#define ATTEMPTS_MAX 10

/* As shells do: a process killed by signal n counts as exit code 128 + n. */
#define EXIT_BY_SIGNAL 128

/* What callbacks and rows lend, the run owns. */
static void keep_texts(struct job_run *run, struct failure *f)
{
    f->message = arena_strdup(&run->a, f->message);
    f->stderr_tail = arena_strdup(&run->a, f->stderr_tail);
    f->node = arena_strdup(&run->a, f->node);
}

void run_set_outcome(struct job_run *run, const struct outcome *out)
{
    bool decided = run->phase >= RUN_ENDING && run->out.kind != OUT_REQUEUE;
    if (decided || out->kind <= run->out.kind)
        return;
    run->out = *out;
    keep_texts(run, &run->out.why);
    wake(run->s, WAKE_JOB, run->id);
}

static void fail(struct job_run *run, struct failure why)
{
    const struct outcome out = {.kind = OUT_FAILED, .why = why};
    run_set_outcome(run, &out);
}

/* --- tasks ---------------------------------------------------------------------------------- */

/* Which words go with which kind of task. */
static const struct wording {
    const char *code, *exited, *killed, *not_started;
} wordings[] = {
    [false] = {"JobFailed", "Job failed with non-zero exit code", "Job was killed by signal",
               "The job's command could not be started"},
    [true] = {"JobPreparationFailed", "Job preparation task failed with non-zero exit code",
              "Job preparation task was killed by signal",
              "The job preparation task could not be started"},
};

static struct failure task_failure(struct job_run *run, const struct run_task *task,
                                   const struct task_status *st)
{
    const struct wording *w = &wordings[task->is_prep];
    struct failure f = {.code = w->code,
                        .message = w->exited,
                        .node = run->slots[task->launch.rank].node_name,
                        .step = task->step,
                        .command = task->launch.command_line,
                        .stderr_tail = st->stderr_tail,
                        .exit_code = -1,
                        .signal = st->signal};
    if (st->state != TASK_EXITED)
        f.message =
            arena_printf(&run->a, "%s: %s", w->not_started, st->why ? st->why : "no reason given");
    else if (st->signal)
        f.message =
            arena_printf(&run->a, "%s %d (%s)", w->killed, st->signal, strsignal(st->signal));
    else
        f.exit_code = st->exit_code;
    return f;
}

static void task_failed(struct job_run *run, const struct run_task *task,
                        const struct task_status *st)
{
    struct outcome out = {.kind = OUT_FAILED, .why = task_failure(run, task, st)};
    out.has_exit_code = st->state == TASK_EXITED;
    out.exit_code = st->signal ? EXIT_BY_SIGNAL + st->signal : st->exit_code;
    run_set_outcome(run, &out);
}

/* The node is there, but what ran on it vanished: it was rebooted, or its supervisor was killed.
 * What that means for the job is the cluster's rule: see verdict_rows(). */
static void task_lost(struct job_run *run, const struct run_task *task,
                      const struct task_status *st)
{
    run->has_lost = true;
    run->lost = (struct failure){
        .code = "NodeLost",
        .message = arena_printf(&run->a, "The %s vanished from its node: %s", task->step,
                                st->why ? st->why : "there is no record of it"),
        .node = run->slots[task->launch.rank].node_name,
        .step = task->step,
        .command = task->launch.command_line,
        .stderr_tail = st->stderr_tail,
        .exit_code = -1};
    keep_texts(run, &run->lost);
}

/* How a task ended that was stopped for the job's time limit: which node, how, and its last words.
 */
static void complete_verdict(struct job_run *run, const struct run_task *task,
                             const struct task_status *st)
{
    struct failure *f = &run->out.why;
    if (run->phase >= RUN_ENDING || run->out.kind != OUT_FAILED || f->node ||
        st->state != TASK_EXITED)
        return;
    f->node = run->slots[task->launch.rank].node_name;
    f->exit_code = st->signal ? -1 : st->exit_code;
    f->signal = st->signal;
    f->stderr_tail = arena_strdup(&run->a, st->stderr_tail);
}

void verdict_task(struct job_run *run, struct run_task *task, const struct task_status *st)
{
    if (st->state == TASK_RUNNING || task->state == RT_OVER)
        return;
    task->state = RT_OVER;
    wake(run->s, WAKE_JOB, run->id);
    complete_verdict(run, task, st);
    if (run->phase != RUN_ACTIVE || run->out.kind != OUT_NONE)
        return;
    bool good = st->state == TASK_EXITED && st->exit_code == 0 && st->signal == 0;
    if (good && task->is_prep)
        return;
    if (good) {
        const struct outcome out = {.kind = OUT_SUCCEEDED, .has_exit_code = true, .exit_code = 0};
        run_set_outcome(run, &out);
    } else if (st->state == TASK_LOST || st->state == TASK_UNKNOWN) {
        task_lost(run, task, st);
    } else {
        task_failed(run, task, st);
    }
}

void verdict_slot_error(struct job_run *run, struct job_slot *slot)
{
    bool nodes_fault = slot->nodes_fault;
    slot->nodes_fault = false;
    if (nodes_fault && slot->rt)
        node_rt_distrust(slot->rt, slot->error.message); /* tried again, or the node is given up */
    else
        fail(run, slot->error);
}

/* --- rows ----------------------------------------------------------------------------------- */

static void terminated(struct job_run *run)
{
    const struct outcome out = {
        .kind = OUT_STOPPED,
        .grace_us = GRACE_US,
        .why = {.code = "JobTerminated",
                .message = "The specified job has been terminated by the user",
                .exit_code = -1}};
    run_set_outcome(run, &out);
}

static void timed_out(struct job_run *run)
{
    const struct outcome out = {
        .kind = OUT_FAILED,
        .grace_us = GRACE_US,
        .why = {.code = "JobTimedOut",
                .message = arena_printf(&run->a,
                                        "The job ran longer than its limit maxWallClockTime of "
                                        "%lld seconds and was stopped",
                                        (long long)(run->spec.max_wall_us / 1000000)),
                .step = "job",
                .command = run->spec.command_line,
                .remedy = "raise constraints.maxWallClockTime",
                .exit_code = -1}};
    run_set_outcome(run, &out);
}

/* How a job ends whose node leaves or was lost is the cluster's deallocation option. Automatic
 * scaling has none, and never takes a node from a job: only a lost one is a question there. */
static void apply_rule(struct job_run *run, const struct cluster *c, struct failure why, bool lost)
{
    struct outcome out = {.kind = OUT_REQUEUE, .why = why};
    enum dealloc_option rule = c->scale.kind == SCALE_MANUAL ? c->scale.dealloc : DEALLOC_REQUEUE;
    if (c->prov_state == PROV_DELETING) {
        out.why.code = "ClusterDeleted";
        out.why.message = "The job's cluster was deleted while the job ran";
        out.kind = OUT_FAILED;
    } else if (rule == DEALLOC_TERMINATE || (lost && rule != DEALLOC_REQUEUE) ||
               (lost && run->attempt >= ATTEMPTS_MAX)) {
        out.kind = OUT_FAILED;
    }
    run_set_outcome(run, &out);
}

static struct failure node_taken(struct job_run *run, const struct node *nd)
{
    return (struct failure){.code = "NodeDeallocated",
                            .message =
                                "A node of the job was deallocated because its cluster was resized",
                            .node = nd->name,
                            .step = "job",
                            .command = run->spec.command_line,
                            .exit_code = -1};
}

/* In the words of the node's own failure, if that is written already. */
static struct failure node_lost(struct job_run *run, const struct node *nd)
{
    const struct node_rt *rt = node_rt_find(run->s, nd->id);
    const char *code = failure_code(&run->a, nd->errors);
    const char *why = failure_message(&run->a, nd->errors);
    bool rebooted = code && strcmp(code, "NodeRebooted") == 0;
    if (!why)
        why = rt && rt->why_down ? rt->why_down : "see the errors of its cluster";
    struct failure f = node_taken(run, nd);
    f.code = rebooted ? "NodeRebooted" : "NodeLost";
    f.message = arena_printf(&run->a, "A node of the job was lost: %s", why);
    return f;
}

/* Is one of the nodes lost or leaving, or did a task vanish from one? */
static int check_nodes(struct job_run *run, struct arena *a, struct err *e)
{
    struct cluster c = {0};
    struct node *nodes;
    size_t n, i = 0;
    if (st_node_of_job(run->s->st, a, run->id, &nodes, &n, e) != 0)
        return -1;
    bool gone = false;
    for (; i < n; i++) {
        gone = i < (size_t)run->n_slots && run->slots[i].state == SLOT_GONE;
        if (nodes[i].state != NODE_RUNNING || gone)
            break;
    }
    if (i == n && !run->has_lost)
        return 0;
    if (st_cluster_by_id(run->s->st, a, run->cluster_id, &c, e) < 0)
        return -1;
    if (i == n) {
        apply_rule(run, &c, run->lost, true);
    } else {
        bool lost = nodes[i].state != NODE_LEAVING;
        apply_rule(run, &c, (lost ? node_lost : node_taken)(run, &nodes[i]), lost);
    }
    return 0;
}

static bool ended(enum exec_state x)
{
    return x == EXEC_SUCCEEDED || x == EXEC_FAILED;
}

int verdict_rows(struct job_run *run, struct arena *a, struct err *e)
{
    struct job row;
    int rc = st_job_by_id(run->s->st, a, run->id, &row, e);
    if (rc < 0)
        return -1;
    run->deleting = rc == 0 || row.prov_state == PROV_DELETING;
    if (rc == 0)
        return 0;
    run->exec = row.exec_state;
    if (ended(row.exec_state))
        return 0;
    if (run->deleting) {
        const struct outcome out = {.kind = OUT_REMOVE};
        run_set_outcome(run, &out);
    } else if (row.exec_state == EXEC_TERMINATING) {
        terminated(run);
    } else if (run->phase == RUN_ACTIVE && run->out.kind == OUT_NONE) {
        if (check_nodes(run, a, e) != 0)
            return -1;
        if (run->spec.max_wall_us > 0 && sched_now(run->s) >= run->start_us + run->spec.max_wall_us)
            timed_out(run);
    }
    return 0;
}
