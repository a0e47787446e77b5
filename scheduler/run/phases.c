/* SPDX-License-Identifier: MIT
 *
 * The allowed steps of a run and its slots, and the invariants of each phase: the diagram in
 * run_priv.h as tables. The code must keep the invariants, so a violation is a bug.
 */
#include <assert.h>

#include "scheduler/run/run_priv.h"

#define BIT(state) (1U << (state))

static const unsigned phase_steps[] = {
    /* A run that was made only to clean up begins in this phase. */
    [RUN_ACTIVE] = BIT(RUN_STOPPING) | BIT(RUN_KILLING) | BIT(RUN_CLEANING),
    [RUN_STOPPING] = BIT(RUN_KILLING) | BIT(RUN_SAVING) | BIT(RUN_ENDING) | BIT(RUN_CLEANING),
    [RUN_KILLING] = BIT(RUN_SAVING) | BIT(RUN_ENDING) | BIT(RUN_CLEANING),
    [RUN_SAVING] = BIT(RUN_ENDING) | BIT(RUN_CLEANING),
    [RUN_ENDING] = BIT(RUN_ENDED),
    [RUN_ENDED] = BIT(RUN_ENDING) /* the end was rolled back */ | BIT(RUN_CLEANING),
    [RUN_CLEANING] = BIT(RUN_ENDING), /* the run was terminated before it was requeued */
};
static_assert(sizeof phase_steps / sizeof phase_steps[0] == RUN_CLEANING + 1, "a row a phase");

static const unsigned slot_steps[] = {
    [SLOT_WAITING] = BIT(SLOT_STARTED) | BIT(SLOT_CLEANING) | BIT(SLOT_GONE),
    /* The state SLOT_WAITING follows if the link breaks. */
    [SLOT_STARTED] = BIT(SLOT_WAITING) | BIT(SLOT_CLEANING) | BIT(SLOT_GONE),
    [SLOT_CLEANING] = BIT(SLOT_WAITING) | BIT(SLOT_CLEAN) | BIT(SLOT_GONE),
    [SLOT_CLEAN] = BIT(SLOT_GONE),
    [SLOT_GONE] = 0,
};
static_assert(sizeof slot_steps / sizeof slot_steps[0] == SLOT_GONE + 1, "a row a state");

bool run_may_go(enum run_phase from, enum run_phase to)
{
    return phase_steps[from] & BIT(to);
}

bool slot_may_go(enum slot_state from, enum slot_state to)
{
    return slot_steps[from] & BIT(to);
}

bool run_has_verdict(const struct run *r)
{
    return r->state == RUN_RELEASING || r->state == RUN_OVER;
}

void run_go(struct live_run *run, enum run_phase to)
{
    assert(run_may_go(run->phase, to));
    run->phase = to;
}

void slot_go(struct run_slot *slot, enum slot_state to)
{
    assert(slot_may_go(slot->state, to));
    slot->state = to;
}

static void check_slot(const struct run_slot *slot)
{
    assert((slot->state == SLOT_GONE) == !slot->tenant.node);
    assert(slot->forgetting >= 0 && slot->pending >= slot->forgetting);
    if (slot->state == SLOT_STARTED || slot->state == SLOT_CLEANING)
        assert(slot->script && node_rt_link(slot->tenant.node));
}

void run_check(const struct live_run *run)
{
    bool stops = run->phase == RUN_STOPPING || run->phase == RUN_KILLING;
    bool ends = run->phase == RUN_ENDING || run->phase == RUN_ENDED;
    assert(!(stops || ends) || run->out.kind != OUT_NONE);
    assert(!ends || (run->out.kind != OUT_REQUEUE && run->out.kind != OUT_REMOVE));
    for (int i = 0; i < run->n_slots; i++)
        check_slot(&run->slots[i]);
    for (size_t i = 0; i < run->n_tasks; i++)
        assert(!run->tasks[i].asked || run->tasks[i].state != RT_NOT_SENT);
}
