/* SPDX-License-Identifier: MIT
 *
 * Reports of nodes to their runs: each is recorded, and the run is woken.
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "scheduler/run/remote.h"

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

static void on_node_down(struct node_tenant *t)
{
    struct run_slot *slot = slot_of(t);
    struct live_run *run = slot->run;
    slot->pending = 0;
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
            run->tasks[i].asked = false;
}

static void on_node_gone(struct node_tenant *t)
{
    struct run_slot *slot = slot_of(t);
    struct live_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank)
            run->tasks[i].state = RT_OVER;
    slot_go(slot, SLOT_GONE);
    slot->pending = 0;
    if (slot->script)
        script_halt(slot->script);
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
    return remote_task_ended(slot, st);
}

static void on_remote(struct node_tenant *t, const struct remote_msg *m)
{
    remote_hear(slot_of(t), m);
}

const struct node_tenant_events run_tenant_events = {
    .ready = on_node_ready,
    .down = on_node_down,
    .gone = on_node_gone,
    .task_ended = on_task_ended,
    .remote = on_remote,
};
