/* SPDX-License-Identifier: MIT
 *
 * Ends a run's tasks: SIGTERM, SIGKILL, and a limit for the time that a node may need for this.
 */
#include <signal.h>
#include <string.h>

#include "scheduler/run/remote.h"
#include "scheduler/run/step.h"

bool run_tasks_over(const struct live_run *run)
{
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].state == RT_SENT)
            return false;
    return true;
}

/* Pauses (us) before a node that refuses is asked again. */
#define KILL_AGAIN_FIRST_US 1000000
#define KILL_AGAIN_MOST_US  15000000

/* Schedules a refused request (signal or list) to be sent again, with growing pauses. A refused
 * SIGTERM is not sent again, because SIGKILL follows it. */
static void note_refusal(struct run_slot *slot, const struct err *why)
{
    struct wakes *wakes = slot->run->runs->wakes;
    int64_t pause = 2 * slot->kill_pause_us;
    if (slot->run->phase != RUN_KILLING || slot->kill_again_us != 0)
        return;
    if (pause < KILL_AGAIN_FIRST_US)
        pause = KILL_AGAIN_FIRST_US;
    slot->kill_pause_us = pause < KILL_AGAIN_MOST_US ? pause : KILL_AGAIN_MOST_US;
    slot->kill_again_us = wakes_mono(wakes) + slot->kill_pause_us;
    slot->kill_refused = arena_strdup(&slot->a, why->msg);
    wake(wakes, &woken_run, slot->run->row.id);
}

/* A task has ended when the node reports it (task_ended, or its list), not when it was
 * signalled. */
static void on_signal(void *ctx, const struct err *why)
{
    struct run_step *st = ctx;
    struct run_slot *slot = st->slot;
    if (!step_answered(slot))
        return;
    if (!why) {
        slot->kill_refused = NULL;
        return;
    }
    LOG_WARN(slot->run->runs->log, "task.not_signalled", LF_STR("task", st->task->id),
             LF_STR("why", why->msg));
    note_refusal(slot, why);
}

/* Learns from the node's list which tasks run, because the daemon does not know this after a
 * restart. */
static void on_list(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct run_step *st = ctx;
    struct run_slot *slot = st->slot;
    struct live_run *run = slot->run;
    if (!step_answered(slot))
        return;
    if (why) {
        note_refusal(slot, why);
        return;
    }
    for (size_t k = 0; k < run->n_tasks; k++) {
        struct run_task *t = &run->tasks[k];
        bool runs = false;
        for (size_t i = 0; i < n; i++)
            runs = runs || (list[i].state == TASK_RUNNING && !strcmp(list[i].id, t->id));
        if (t->process->rank == slot->rank && !runs)
            t->state = RT_OVER;
    }
    remote_signal(slot, list, n, run->phase == RUN_STOPPING ? SIGTERM : SIGKILL);
    wake(run->runs->wakes, &woken_run, run->row.id);
}

void slot_signal(struct run_slot *slot, int signo)
{
    struct live_run *run = slot->run;
    if (!slot->tenant.node || !node_rt_usable(slot->tenant.node))
        return;
    slot->kill_again_us = 0;
    for (size_t i = 0; i < run->n_tasks; i++) {
        struct run_task *t = &run->tasks[i];
        if (t->process->rank != slot->rank || t->state != RT_SENT)
            continue;
        struct run_step *st = step_new(slot, FAIL_RUN_STOP_FAILED, "signal");
        st->task = t;
        node_ask(node_rt_link(slot->tenant.node), REQUEST(signal, .task = t->id, .signal = signo),
                 on_signal, st);
    }
    node_tasks(node_rt_link(slot->tenant.node), on_list,
               step_new(slot, FAIL_RUN_STOP_FAILED, "list tasks"));
}

static void kill_again(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    if (slot->kill_again_us == 0 || run->phase != RUN_KILLING)
        return;
    if (wakes_mono(run->runs->wakes) >= slot->kill_again_us)
        slot_signal(slot, SIGKILL);
    else
        wake_by(run->runs->wakes, &woken_run, run->row.id, slot->kill_again_us);
}

void run_signal(struct live_run *run, int signo)
{
    for (int i = 0; i < run->n_slots; i++)
        slot_signal(&run->slots[i], signo);
}

/* A task that has not ended although SIGKILL was sent to it over the present link; NULL: none. */
static const char *awaits_end_of(const struct run_slot *slot)
{
    const struct live_run *run = slot->run;
    if (!slot->tenant.node || !node_rt_usable(slot->tenant.node))
        return NULL;
    if (slot->state == SLOT_CLEANING)
        return script_awaits_end_of(slot->script);
    for (size_t i = 0; run->phase == RUN_KILLING && i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank && run->tasks[i].state == RT_SENT)
            return run->tasks[i].id;
    return NULL;
}

/* Gives up a node with a task that does not die. The task does no further harm: after SIGKILL a
 * process never returns from the kernel to its own code. A node that refuses to send SIGKILL is
 * given up too, and so is a node that does not answer: the next preparation there begins by ending
 * all tasks. */
static void check_kill(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    const char *task = awaits_end_of(slot);
    struct failure why;
    int64_t until;
    if (!task) {
        slot->killing_us = slot->kill_again_us = 0;
        return;
    }
    if (!node_kill_is_overdue(slot->tenant.node, task, &slot->killing_us, &until, &run->a, &why)) {
        wake_by(run->runs->wakes, &woken_run, run->row.id, until);
        kill_again(slot);
        return;
    }
    if (slot->kill_refused)
        why.message =
            arena_printf(&run->a, "Task %s still runs, because its node refuses to kill it: %s",
                         task, slot->kill_refused);
    node_give_up(&slot->tenant, &why);
}

void run_check_kills(struct live_run *run)
{
    for (int i = 0; i < run->n_slots; i++)
        check_kill(&run->slots[i]);
}
