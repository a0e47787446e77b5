/* SPDX-License-Identifier: MIT
 *
 * What the ended tasks of a run used on a node. Until the run ends, its nodes report the usage of
 * the run's own tasks, again after a restart of the daemon; the usage of all other tasks is written
 * to the row of the allocation.
 */
#include "scheduler/run/run_priv.h"

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
