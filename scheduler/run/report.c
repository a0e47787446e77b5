/* SPDX-License-Identifier: MIT
 *
 * Reports of nodes to their runs: each report is recorded, and the run is woken.
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "scheduler/run/remote.h"
#include "scheduler/run/terminal.h"

/* Samples are written when more than this time (us) is not on disk yet. */
#define NOTE_US INT64_C(300000000)

static struct run_slot *slot_of(struct node_tenant *t)
{
    return (struct run_slot *)((char *)t - offsetof(struct run_slot, tenant));
}

static void on_node_ready(struct node_tenant *t)
{
    struct run_slot *slot = slot_of(t);
    struct live_run *run = slot->run;
    slot_forget_link(slot);
    if (run->phase == RUN_STOPPING || run->phase == RUN_KILLING)
        slot_signal(slot, run->phase == RUN_STOPPING ? SIGTERM : SIGKILL);
    wake(run->runs->wakes, &woken_run, run->row.id);
}

/* The link that reported the task's state is broken. The node reports an unjudged end again. */
static void forget_word(const struct live_run *run, struct run_task *task)
{
    task->asked = task->runs = false;
    if (task->unjudged && run->phase == RUN_ACTIVE && run->out.kind == OUT_NONE) {
        task->state = RT_SENT;
        task->unjudged = false;
    }
}

static void on_node_down(struct node_tenant *t)
{
    struct run_slot *slot = slot_of(t);
    struct live_run *run = slot->run;
    slot->pending = slot->forgetting = 0;
    slot->has_error = false;
    slot->error_us = 0;
    if (slot->script)
        script_halt(slot->script);
    if (slot->state == SLOT_STARTED || slot->state == SLOT_CLEANING)
        slot_go(slot, SLOT_WAITING);
    /* The requests are sent again when the link is back, because the node may never have received
     * them. */
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank)
            forget_word(run, &run->tasks[i]);
}

static void on_node_gone(struct node_tenant *t)
{
    struct run_slot *slot = slot_of(t);
    struct live_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank)
            run->tasks[i].state = RT_OVER;
    slot_go(slot, SLOT_GONE);
    slot->pending = slot->forgetting = 0;
    if (slot->script)
        script_halt(slot->script);
    slot_mounts_over(slot); /* whoever has the machine now must not use the run's key */
    wake(run->runs->wakes, &woken_run, run->row.id);
}

static bool on_task_ended(struct node_tenant *t, const struct task_status *st)
{
    struct run_slot *slot = slot_of(t);
    struct live_run *run = slot->run;
    if (slot->script && script_task_ended(slot->script, st))
        return true;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (strcmp(run->tasks[i].id, st->id) == 0) {
            verdict_task(run, &run->tasks[i], st);
            return true;
        }
    return terminal_task_ended(slot, st) || remote_task_ended(slot, st);
}

static void on_remote(struct node_tenant *t, const struct remote_msg *m)
{
    if (m->rank == REMOTE_DAEMON)
        terminal_hear(slot_of(t), m);
    else
        remote_hear(slot_of(t), m);
}

/* Writes the sampled GPU times to the row of the allocation, because a restart forgets unwritten
 * samples. */
static void note_sampled(struct run_slot *slot)
{
    const struct live_run *run = slot->run;
    struct err e;
    if (slot->busy_us + slot->idle_us - slot->noted_us < NOTE_US)
        return;
    if (st_allocation_sampled(run->runs->st, run->row.id, run->row.attempt, slot->rank,
                              slot->busy_us, slot->idle_us, &e) == 0)
        slot->noted_us = slot->busy_us + slot->idle_us;
    else
        LOG_DEBUG(run->runs->log, "run.gpu_samples_not_written", LF_STR("run", run->name),
                  LF_STR("why", e.msg));
}

static void on_sampled(struct node_tenant *t, const struct node_sample *s, int64_t us)
{
    struct run_slot *slot = slot_of(t);
    int64_t age = wakes_mono(slot->run->runs->wakes) - slot->run->began_us;
    int gpus = 0, busy = 0, idle = 0;
    us = us < age ? us : age;
    for (int i = 0; i < s->n_gpus; i++) {
        if (slot->devices && !gpu_is_among(slot->devices, s->gpus[i].index))
            continue;
        int works = gpu_sample_works(&s->gpus[i]);
        gpus++;
        busy += works == 1;
        idle += works == 0;
    }
    if (gpus > 0 && us > 0) {
        slot->busy_us += us * busy / gpus;
        slot->idle_us += us * idle / gpus;
        note_sampled(slot);
    }
}

const struct node_tenant_events run_tenant_events = {
    .ready = on_node_ready,
    .down = on_node_down,
    .gone = on_node_gone,
    .task_ended = on_task_ended,
    .remote = on_remote,
    .sampled = on_sampled,
};
