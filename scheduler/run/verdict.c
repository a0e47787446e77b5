/* SPDX-License-Identifier: MIT
 *
 * Decides the effect of an exit, an error, a deadline or a lost node on the run. Uses the codes of
 * the real service, and adds the details that a user needs.
 */
#include <string.h>

#include "scheduler/run/run_priv.h"

/* As in shells: exit code 128 + n for a process that signal n killed. */
#define EXIT_BY_SIGNAL 128

/* Copies borrowed texts of callbacks, rows and slots into the run's arena. */
static void keep_texts(struct live_run *run, struct failure *f)
{
    f->message = arena_strdup(&run->a, f->message);
    f->stderr_tail = arena_strdup(&run->a, f->stderr_tail);
    f->node = arena_strdup(&run->a, f->node);
    f->step = arena_strdup(&run->a, f->step);
    f->command = arena_strdup(&run->a, f->command);
    f->remedy = arena_strdup(&run->a, f->remedy);
}

void run_set_outcome(struct live_run *run, const struct run_outcome *out)
{
    /* While the end of the run is written, its outcome is final, with one exception: the run may be
     * terminated while a full disk prevents the write. */
    bool settled =
        run->phase > RUN_ENDING || (run->phase == RUN_ENDING && out->kind != OUT_STOPPED);
    bool decided = settled && run->out.kind != OUT_REQUEUE;
    if (decided || out->kind <= run->out.kind)
        return;
    run->out = *out;
    keep_texts(run, &run->out.why);
    wake(run->runs->wakes, &woken_run, run->row.id);
}

static void fail(struct live_run *run, struct failure why)
{
    const struct run_outcome out = {.kind = OUT_FAILED, .why = why};
    run_set_outcome(run, &out);
}

/* --- tasks ---------------------------------------------------------------------------------- */

/* The texts (for front_text()) for each kind of task. */
static const struct wording {
    enum failure_code code;
    const char *exited, *killed, *not_started;
} wordings[] = {
    [false] = {FAIL_RUN_FAILED, "{Run} failed with non-zero exit code",
               "{Run} was killed by signal", "The {run}'s command could not be started"},
    [true] = {FAIL_RUN_PREPARATION_FAILED, "{Run} preparation task failed with non-zero exit code",
              "{Run} preparation task was killed by signal",
              "The {run} preparation task could not be started"},
};

static const char *command_of(const struct run_task *task)
{
    return task->process->shown ? task->process->shown : task->process->command_line;
}

/* The texts of a front that has its own name for the process. */
static const struct wording *wording_of(struct arena *a, const struct launch_process *p)
{
    const struct wording *usual = &wordings[p->role == LAUNCH_PREPARATION];
    if (p->role != LAUNCH_PREPARATION || !p->title)
        return usual;
    struct wording *w = arena_alloc(a, sizeof *w);
    *w = (struct wording){usual->code,
                          arena_concat(a, "The ", p->title, " failed with non-zero exit code"),
                          arena_concat(a, "The ", p->title, " was killed by signal"),
                          arena_concat(a, "The ", p->title, " could not be started")};
    return w;
}

/* What to advise if a task used a volume's path of the real service on a node whose agent is not
 * root: such a node has no volumes at these paths. NULL: this is not the case. */
static const char *mounts_remedy(struct live_run *run, const struct run_task *task,
                                 const struct task_status *st)
{
    const struct front_words *w = words_of(run);
    const struct run_slot *slot = &run->slots[task->process->rank];
    size_t first = 0;
    const char *variable = front_var_next(w, VAR_POOL_MOUNTS, &first);
    bool named = w->mounts_path && (strstr(command_of(task), w->mounts_path) ||
                                    (st->stderr_tail && strstr(st->stderr_tail, w->mounts_path)));
    if (!named || !variable || run->spec.container || !slot->tenant.node ||
        node_rt_is_root(slot->tenant.node))
        return NULL;
    return arena_concat(&run->a, "write $", variable, " instead of ", w->mounts_path,
                        ": the node's agent is not root, so volumes are at no other path there");
}

static struct failure task_failure(struct live_run *run, const struct run_task *task,
                                   const struct task_status *st)
{
    const struct wording *w = wording_of(&run->a, task->process);
    const char *not_started = front_text(words_of(run), &run->a, w->not_started),
               *killed = front_text(words_of(run), &run->a, w->killed);
    struct failure f = {.code = w->code,
                        .message = front_text(words_of(run), &run->a, w->exited),
                        .node = run->slots[task->process->rank].node_name,
                        .step = task->step,
                        .command = command_of(task),
                        .stderr_tail = st->stderr_tail,
                        .exit_code = -1,
                        .signal = st->signal};
    if (st->state == TASK_FAILED_TO_START && st->exit_code == TASK_NO_PROGRAM)
        f.code = FAIL_NO_PROGRAM;
    if (st->state != TASK_EXITED)
        f.message =
            arena_printf(&run->a, "%s: %s", not_started, st->why ? st->why : "no reason given");
    else if (st->signal)
        f.message = arena_printf(&run->a, "%s %d (%s)", killed, st->signal, strsignal(st->signal));
    else
        f.exit_code = st->exit_code;
    f.remedy = mounts_remedy(run, task, st);
    return f;
}

/* Whether the run's user wants a retry after such a failure. */
static bool retries(const struct live_run *run, bool nodes_fault, int exit_code)
{
    const struct retry_rule *rule = &run->spec.wishes.retry;
    return run->row.retried < rule->times && wish_retries(rule, nodes_fault, exit_code);
}

static int exit_code_of(const struct task_status *st)
{
    return st->signal ? EXIT_BY_SIGNAL + st->signal : st->exit_code;
}

/* Records why a command could not be started; verdict_unstarted() judges it in the run's next
 * turn. */
static void note_unstarted(struct live_run *run, const struct run_task *task,
                           const struct failure *why)
{
    if (run->unstarted)
        return;
    run->unstarted = task;
    run->unstarted_us = wakes_mono(run->runs->wakes);
    run->unstarted_why = *why;
    keep_texts(run, &run->unstarted_why);
}

static void task_failed(struct live_run *run, const struct run_task *task,
                        const struct task_status *st)
{
    struct run_outcome out = {.kind = OUT_FAILED, .why = task_failure(run, task, st)};
    if (st->state == TASK_FAILED_TO_START && st->exit_code != TASK_NO_PROGRAM) {
        note_unstarted(run, task, &out.why);
        return;
    }
    out.has_exit_code = st->state == TASK_EXITED;
    out.exit_code = exit_code_of(st);
    if (out.has_exit_code && retries(run, false, out.exit_code)) {
        out.kind = OUT_REQUEUE;
        out.retry = true;
    }
    run_set_outcome(run, &out);
}

/* The node is there, but its task vanished: the node was rebooted, or the supervisor was killed.
 * The pool's rule decides what this means for the run: see verdict_rows(). */
static void task_lost(struct live_run *run, const struct run_task *task,
                      const struct task_status *st)
{
    run->has_lost = true;
    run->lost = (struct failure){
        .code = FAIL_NODE_LOST,
        .message = arena_printf(&run->a, "The %s vanished from its node: %s", task->step,
                                st->why ? st->why : "there is no record of it"),
        .node = run->slots[task->process->rank].node_name,
        .step = task->step,
        .command = command_of(task),
        .stderr_tail = st->stderr_tail,
        .exit_code = -1};
    keep_texts(run, &run->lost);
}

static void task_ended_badly(struct live_run *run, const struct run_task *task,
                             const struct task_status *st)
{
    if (task_is_lost(st))
        task_lost(run, task, st);
    else
        task_failed(run, task, st);
}

/* Completes the failure of a stopped run (for example a time-out) when its task ends: adds the
 * task's node, its exit and the end of its stderr. */
static void complete_verdict(struct live_run *run, const struct run_task *task,
                             const struct task_status *st)
{
    struct failure *f = &run->out.why;
    if (run->phase >= RUN_ENDING || run->out.kind != OUT_FAILED || f->node ||
        st->state != TASK_EXITED)
        return;
    f->node = run->slots[task->process->rank].node_name;
    f->exit_code = st->signal ? -1 : st->exit_code;
    f->signal = st->signal;
    f->stderr_tail = arena_strdup(&run->a, st->stderr_tail);
}

static void check_success(struct live_run *run)
{
    const struct run_outcome out = {.kind = OUT_SUCCEEDED, .has_exit_code = true, .exit_code = 0};
    bool *over = arena_alloc(&run->a, run->n_tasks * sizeof *over);
    for (size_t i = 0; i < run->n_tasks; i++)
        over[i] = run->tasks[i].good;
    if (launch_succeeded(&run->plan, over))
        run_set_outcome(run, &out);
}

/* Whether the start on the task's node has failed; the run's next turn will find this. A task that
 * was sent at once may have ended before that turn: the failed start then decides, whether the task
 * failed or succeeded. If the link breaks first, the start is repeated, and so is the report of the
 * task's end. */
static bool start_failed(const struct live_run *run, const struct run_task *task)
{
    const struct run_slot *slot = &run->slots[task->process->rank];
    if (slot->state != SLOT_STARTED || slot->nodes_fault)
        return false;
    return slot->has_error ||
           (script_state(slot->script) == SCRIPT_FAILED && !script_nodes_fault(slot->script));
}

/* Records the end of the task for the front, whether it matters for the run or not. */
static void note_part(struct live_run *run, struct run_task *task, const struct task_status *st,
                      bool good)
{
    struct run_prep *p = arena_alloc(&run->a, sizeof *p);
    struct failure *why = arena_alloc(&run->a, sizeof *why);
    if (task->process->role != LAUNCH_PREPARATION || !run->front->ops->part_prepared)
        return;
    *why = task_failure(run, task, st);
    keep_texts(run, why);
    *p = (struct run_prep){.rank = task->process->rank,
                           .has_exit_code = st->state == TASK_EXITED,
                           .exit_code = exit_code_of(st),
                           .why = good ? NULL : why,
                           .now_us = wakes_wall(run->runs->wakes)};
    task->part = p;
}

void verdict_task(struct live_run *run, struct run_task *task, const struct task_status *st)
{
    if (st->state == TASK_RUNNING || task->state == RT_OVER)
        return;
    bool good = st->state == TASK_EXITED && st->exit_code == 0 && st->signal == 0;
    task->state = RT_OVER;
    if (!task->counted)
        slot_note_use(&run->slots[task->process->rank], st);
    task->counted = true;
    note_part(run, task, st, good);
    wake(run->runs->wakes, &woken_run, run->row.id);
    complete_verdict(run, task, st);
    if (run->phase != RUN_ACTIVE || run->out.kind != OUT_NONE)
        return;
    task->unjudged = !task_is_lost(st) && start_failed(run, task);
    if (task->unjudged)
        return;
    if (good) {
        task->good = true;
        check_success(run);
    } else if (run->resumed) {
        run_keep_end(run, task, st);
    } else {
        task_ended_badly(run, task, st);
    }
}

/* How often a node that answers may refuse a repeated start. */
#define REFUSALS_MAX 5

static bool may_run_there(const struct live_run *run, const struct run_slot *slot)
{
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank && run->tasks[i].state == RT_SENT)
            return true;
    return false;
}

/* Counts a refusal. True: the node has refused often enough, or is nearly lost. A node must not be
 * given up earlier, because then nobody would end its tasks. */
static bool refused_enough(struct run_slot *slot)
{
    return ++slot->refusals > REFUSALS_MAX ||
           (slot->tenant.node && node_rt_nearly_lost(slot->tenant.node));
}

/* --- disks without room ------------------------------------------------------------------------
 */

/* If a start failed on a node whose disk is full, or cannot be written, the run is not to blame: it
 * is requeued, and the node is closed. So before the run fails, the node is asked for its disk. */

/* Whether the disk of the slot's node has room, as asked after the error at `at_us` (0: no request
 * to the node failed). ROOM_ASKED: not known yet; the node's answer, or its next link, will wake
 * the run. */
static enum room room_of(struct live_run *run, struct run_slot *slot, int64_t at_us)
{
    if (!slot->tenant.node || at_us == 0 || run->row.attempt >= ATTEMPTS_MAX)
        return ROOM_LEFT;
    return node_room_since(slot->tenant.node, at_us);
}

/* The reason for a requeue: the start failed with `why` because the node's disk has no room. */
static struct failure room_failure(struct live_run *run, const struct run_slot *slot,
                                   const struct failure *why)
{
    struct failure f = *why;
    f.code = FAIL_NODE_DISK;
    f.node = slot->node_name;
    f.message = front_say(words_of(run), &run->a, "The {run} could not start there (%s): %s",
                          why->message, node_room_closed(slot->tenant.node));
    return f;
}

/* Whether the run is to blame for the failed start. False: not known yet, or the run will be
 * requeued. */
static bool counts(struct live_run *run, struct run_slot *slot, const struct failure *why,
                   int64_t at_us)
{
    enum room room = room_of(run, slot, at_us);
    if (room == ROOM_NONE) {
        const struct run_outcome out = {.kind = OUT_REQUEUE, .why = room_failure(run, slot, why)};
        run_set_outcome(run, &out);
    }
    return room == ROOM_LEFT;
}

void verdict_unstarted(struct live_run *run)
{
    const struct run_task *task = run->unstarted;
    if (task &&
        counts(run, &run->slots[task->process->rank], &run->unstarted_why, run->unstarted_us))
        fail(run, run->unstarted_why);
}

void verdict_slot_error(struct live_run *run, struct run_slot *slot)
{
    bool nodes_fault = slot->nodes_fault;
    bool clients = failure_fault(slot->error.code) == FAULT_CLIENT && !nodes_fault;
    if (!clients && !counts(run, slot, &slot->error, slot->error_us))
        return;
    slot->nodes_fault = false;
    if (nodes_fault && may_run_there(run, slot) && refused_enough(slot)) {
        run->has_lost = true; /* the node answers: its tasks are ended before it is released */
        run->lost = slot->error;
        run->lost.code = FAIL_NODE_LOST;
        keep_texts(run, &run->lost);
        wake(run->runs->wakes, &woken_run, run->row.id);
    } else if (nodes_fault && slot->tenant.node)
        /* the start is tried again, or the node is given up */
        node_rt_distrust(slot->tenant.node, slot->error.message);
    else
        fail(run, slot->error);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* The time between SIGTERM and SIGKILL (us). */
static int64_t grace_of(const struct live_run *run)
{
    const struct wishes *w = &run->spec.wishes;
    return (w->has_grace ? w->grace_s : WISH_GRACE_DEFAULT_S) * 1000000LL;
}

static void terminated(struct live_run *run)
{
    const struct run_outcome out = {
        .kind = OUT_STOPPED,
        .grace_us = grace_of(run),
        .why = {.code = FAIL_RUN_TERMINATED,
                .message = front_text(words_of(run), &run->a, RUN_TERMINATED_TEXT),
                .exit_code = -1}};
    run_set_outcome(run, &out);
}

static void timed_out(struct live_run *run)
{
    const struct front_words *w = words_of(run);
    const struct run_outcome out = {
        .kind = OUT_FAILED,
        .grace_us = grace_of(run),
        .why = {.code = FAIL_RUN_TIMED_OUT,
                .message = front_say(w, &run->a,
                                     "The {run} ran longer than its limit {time_limit} of %lld "
                                     "seconds and was stopped",
                                     (long long)(run->spec.max_wall_us / 1000000)),
                .step = w->run,
                .command = run->spec.toolkit.command_line,
                .remedy = front_text(w, &run->a, "raise {time_limit_path}"),
                .exit_code = -1}};
    run_set_outcome(run, &out);
}

/* The pool's deallocation option decides the end of a run whose node leaves or was lost. Automatic
 * scaling has no such option and never takes a node from a run, so there it decides only about lost
 * nodes. */
static enum dealloc_option rule_of(const struct pool *p)
{
    return p->scale.kind == SCALE_MANUAL ? p->scale.dealloc : DEALLOC_REQUEUE;
}

static void apply_rule(struct live_run *run, const struct pool *p, enum dealloc_option rule,
                       struct failure why, bool lost)
{
    struct run_outcome out = {.kind = OUT_REQUEUE, .why = why};
    if (p->going) {
        out.why.code = FAIL_POOL_DELETED;
        out.why.message = front_text(words_of(run), &run->a,
                                     "The {run}'s {pool} was deleted while the {run} ran");
        out.kind = OUT_FAILED;
    } else if (why.code == FAIL_NODE_RECLAIMED) {
        out.kind = OUT_REQUEUE;
    } else if (rule == DEALLOC_TERMINATE || (lost && rule != DEALLOC_REQUEUE) ||
               (lost && run->row.attempt >= ATTEMPTS_MAX)) {
        out.retry = lost && retries(run, true, -1);
        out.kind = out.retry ? OUT_REQUEUE : OUT_FAILED;
    }
    run_set_outcome(run, &out);
}

static struct failure node_taken(struct live_run *run, const struct node *nd)
{
    const struct front_words *w = words_of(run);
    const char *text = nd->reclaimed ? "The machine of a node of the {run} was taken back for "
                                       "another {pool}"
                       : nd->state == NODE_IDLE
                           ? "A node of the {run} was taken out of use, as was asked for"
                           : "A node of the {run} was deallocated because its "
                             "{pool} was resized";
    return (struct failure){.code = nd->reclaimed ? FAIL_NODE_RECLAIMED : FAIL_NODE_DEALLOCATED,
                            .message = front_text(w, &run->a, text),
                            .node = nd->name,
                            .step = w->run,
                            .command = run->spec.toolkit.command_line,
                            .exit_code = -1};
}

/* The failure of a run whose node was lost. Uses the message of the node's own failure, if that is
 * written already. */
static struct failure node_lost(struct live_run *run, const struct node *nd)
{
    const struct node_rt *rt = node_rt_find(run->runs->fleet, nd->id);
    const char *why = nd->why;
    if (!why)
        why = rt ? node_rt_why_down(rt) : NULL;
    if (!why)
        why = front_text(words_of(run), &run->a, "see the errors of its {pool}");
    struct failure f = node_taken(run, nd);
    bool is_told = nd->failure == FAIL_NODE_REBOOTED || nd->failure == FAIL_NODE_RECLAIMED;
    f.code = is_told ? nd->failure : FAIL_NODE_LOST;
    f.message = front_say(words_of(run), &run->a, "A node of the {run} was lost: %s", why);
    return f;
}

/* The requested treatment of the run on a node; 0: none was requested. */
static enum dealloc_option asked_how(const struct live_run *run, const struct node *nd)
{
    const struct place_spec *place = run->spec.place;
    if (nd->wish != WISH_NOTHING)
        return nd->how;
    return place && place->unscheduled ? 0 : nd->off;
}

static bool asked_to_end(const struct live_run *run, const struct node *nd)
{
    enum dealloc_option how = asked_how(run, nd);
    return how == DEALLOC_REQUEUE || how == DEALLOC_TERMINATE;
}

/* Whether the run keeps this node. A node on which another run's task does not die gets no new run,
 * and loses runs that were allocated but have not begun; its other runs continue. */
static bool still_has(const struct live_run *run, const struct node *nd, size_t i)
{
    bool attached = i < (size_t)run->n_slots && run->slots[i].tenant.node;
    if (i < (size_t)run->n_slots && run->slots[i].state == SLOT_GONE)
        return false;
    if (nd->state == NODE_UNUSABLE && attached)
        return nd->failure == FAIL_TASK_NOT_KILLED && run->slots[i].begun;
    return nd->state == NODE_IDLE && !asked_to_end(run, nd);
}

/* Checks whether a node is lost or leaving, or a task has vanished from a node. */
static int check_nodes(struct live_run *run, struct arena *a, struct err *e)
{
    /* the default, for a pool that has no row any more because it was deleted */
    struct pool p = {.going = true};
    struct node *nodes;
    size_t n, i = 0;
    if (st_node_of_run(run->runs->st, a, run->row.id, &nodes, &n, e) != 0)
        return -1;
    while (i < n && still_has(run, &nodes[i], i))
        i++;
    if (i == n && !run->has_lost)
        return 0;
    if (st_pool_by_id(run->runs->st, a, run->row.pool_id, &p, e) < 0)
        return -1;
    if (i == n) {
        apply_rule(run, &p, rule_of(&p), run->lost, true);
    } else if (nodes[i].state == NODE_UNUSABLE || nodes[i].state == NODE_PREPARING) {
        apply_rule(run, &p, rule_of(&p), node_lost(run, &nodes[i]), true);
    } else {
        enum dealloc_option how = asked_how(run, &nodes[i]);
        apply_rule(run, &p, how != 0 ? how : rule_of(&p), node_taken(run, &nodes[i]), false);
    }
    return 0;
}

static bool is_too_late(struct live_run *run)
{
    return run->spec.max_wall_us > 0 && !run->held &&
           wakes_mono(run->runs->wakes) >= run->began_us + run->spec.max_wall_us &&
           !run_awaits_word(run);
}

/* Stops a run that is past its time limit. If the reason is on disk, no restart forgets it; if it
 * was rolled back, the run's processes are stopped all the same. */
static void effect_late(void *ctx, int64_t id, const struct err *why)
{
    struct runs *rs = ctx;
    struct live_run *run = id_map_find(&rs->map, id);
    (void)why;
    if (!run || !run->noting_late)
        return;
    run->noting_late = false;
    if (run->phase == RUN_ACTIVE && run->out.kind == OUT_NONE)
        timed_out(run);
}

static void note_late(struct live_run *run)
{
    struct runs *rs = run->runs;
    struct err e = {0};
    if (st_run_note_failure(rs->st, run->row.id, FAIL_RUN_TIMED_OUT, &e) < 0) {
        LOG_ERROR(rs->log, "run.failure_not_written", LF_INT("run_id", run->row.id),
                  LF_STR("why", e.msg));
        timed_out(run);
        return;
    }
    run->noting_late = true;
    wake_when_durable(rs->wakes, effect_late, rs, run->row.id);
}

/* Checks a run that has its nodes and no outcome yet. */
static int check_active(struct live_run *run, const struct run *row, struct arena *a, struct err *e)
{
    if (row->failure == FAIL_RUN_TIMED_OUT && !run->noting_late) { /* recorded before a restart */
        timed_out(run);
        return 0;
    }
    const struct run_task *ended = run_kept_end(run);
    if (ended)
        task_ended_badly(run, ended, ended->end);
    if (run->out.kind != OUT_NONE)
        return 0;
    if (check_nodes(run, a, e) != 0)
        return -1;
    if (!run->noting_late && is_too_late(run))
        note_late(run);
    return 0;
}

int verdict_rows(struct live_run *run, struct arena *a, struct err *e)
{
    struct run row;
    int rc = st_run_by_id(run->runs->st, a, run->row.id, &row, e);
    if (rc < 0)
        return -1;
    run->deleting = rc == 0 || row.stop == STOP_AND_FORGET;
    if (rc == 0)
        return 0;
    run->row.state = row.state;
    run->row.stop = row.stop;
    if (run_has_verdict(&row))
        return 0;
    if (run->deleting) {
        const struct run_outcome out = {.kind = OUT_REMOVE};
        run_set_outcome(run, &out);
    } else if (row.stop == STOP_RUN) {
        terminated(run);
    } else if (run->phase == RUN_SAVING && run->slots[0].state == SLOT_GONE) {
        return check_nodes(run, a, e);
    } else if (run->phase == RUN_ACTIVE && run->out.kind == OUT_NONE) {
        return check_active(run, &row, a, e);
    }
    return 0;
}
