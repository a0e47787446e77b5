/* SPDX-License-Identifier: MIT
 *
 * What the nodes of a run have reported of its tasks: their ends, and what they used.
 *
 * When a task ends the run, the daemon kills the run's other tasks. The outcome is written only
 * when all of them have ended. A daemon that is restarted before that write learns all ends again,
 * in any order. So it judges no failure until it knows all tasks of the run: then a success
 * decides, else the end that is the least likely result of such a kill.
 *
 * Until the run ends, its nodes report the usage of the run's own tasks, again after a restart of
 * the daemon; the usage of all other tasks is written to the row of the allocation.
 */
#include <signal.h>

#include "scheduler/run/run_priv.h"

/* How long (us) nodes with a link may take to report which tasks run. */
#define WORD_US (INT64_C(60) * 1000000)

/* Whether a run past its time limit still waits for its nodes' reports. It may have ended in time,
 * while the daemon or a link was down; no signal can be sent without a link either. */
bool run_awaits_word(struct live_run *run)
{
    int64_t now = wakes_mono(run->runs->wakes);
    bool sent = false, reached = true;
    for (size_t i = 0; i < run->n_tasks; i++) {
        if (run->tasks[i].state == RT_SENT && run->tasks[i].runs)
            return false;
        sent = sent || run->tasks[i].state == RT_SENT;
    }
    for (int i = 0; i < run->n_slots; i++)
        reached =
            reached && (!run->slots[i].tenant.node || node_rt_usable(run->slots[i].tenant.node));
    if (!sent || !reached)
        return sent;
    if (run->late_us == 0)
        run->late_us = now;
    return now - run->late_us < WORD_US;
}

/* --- ends of tasks of a resumed run ----------------------------------------------------------- */

/* Whether the nodes have reported all preparations (or all other processes) since the restart. */
static bool are_reported(const struct live_run *run, bool preparations)
{
    for (size_t i = 0; i < run->n_tasks; i++) {
        const struct run_task *t = &run->tasks[i];
        bool prepares = t->process->role == LAUNCH_PREPARATION;
        if (prepares == preparations && t->state != RT_OVER && !t->runs)
            return false;
    }
    return true;
}

void run_keep_end(struct live_run *run, struct run_task *task, const struct task_status *st)
{
    struct task_status *end = arena_alloc(&run->a, sizeof *end);
    *end = *st;
    end->id = task->id;
    end->why = arena_strdup(&run->a, st->why);
    end->stderr_tail = arena_strdup(&run->a, st->stderr_tail);
    task->end = end;
}

/* In rising order of likeliness that the daemon, or the end of another task, has caused the end. */
enum end_rank { END_BY_ITSELF, END_LOST, END_BY_SIGNAL, END_KILLED };

static enum end_rank rank_of(const struct task_status *st)
{
    if (task_is_lost(st))
        return END_LOST;
    if (st->state != TASK_EXITED || st->signal == 0)
        return END_BY_ITSELF;
    return st->signal == SIGKILL ? END_KILLED : END_BY_SIGNAL;
}

static bool has_lost_node(const struct live_run *run)
{
    for (int i = 0; i < run->n_slots; i++)
        if (run->slots[i].state == SLOT_GONE)
            return true;
    return false;
}

struct run_task *run_kept_end(struct live_run *run)
{
    struct run_task *best = NULL;
    bool unprepared = false;
    if (!run->resumed || !are_reported(run, true))
        return NULL;
    for (size_t i = 0; i < run->n_tasks; i++) {
        struct run_task *t = &run->tasks[i];
        unprepared = unprepared || (t->end && t->process->role == LAUNCH_PREPARATION);
        if (t->end && (!best || rank_of(t->end) < rank_of(best->end)))
            best = t;
    }
    /* After a failed preparation no other process is started, so no node reports any. */
    if (!unprepared && !are_reported(run, false))
        return NULL;
    run->resumed = false;
    return best && rank_of(best->end) > END_LOST && has_lost_node(run) ? NULL : best;
}

/* --- what tasks used -------------------------------------------------------------------------- */

static struct usage_measured measured_of(const struct task_status *st)
{
    return (struct usage_measured){.known = st->measured,
                                   .user_us = st->user_us,
                                   .kernel_us = st->kernel_us,
                                   .memory_peak = st->memory_peak,
                                   .memory_used = st->memory_used,
                                   .read_bytes = st->read_bytes,
                                   .write_bytes = st->write_bytes,
                                   .read_ops = st->read_ops,
                                   .write_ops = st->write_ops};
}

void slot_note_use(struct run_slot *slot, const struct task_status *st)
{
    const struct usage_measured used = measured_of(st);
    if (!slot->summed)
        usage_measured_add(&slot->used, &used);
}

void slot_keep_use(struct run_slot *slot, const struct task_status *st)
{
    const struct usage_measured used = measured_of(st);
    const struct live_run *run = slot->run;
    /* When the run's end is written, the row contains the usage of all its tasks. */
    const struct usage_measured *sum = run->phase == RUN_ENDED ? &slot->used : &slot->kept;
    struct err e;
    if (slot->summed || !used.known)
        return;
    usage_measured_add(&slot->used, &used);
    usage_measured_add(&slot->kept, &used);
    if (st_allocation_note_used(run->runs->st, run->row.id, run->row.attempt, slot->rank, sum, &e) <
        0)
        LOG_DEBUG(run->runs->log, "run.usage_not_written", LF_STR("run", run->name),
                  LF_STR("why", e.msg));
}
