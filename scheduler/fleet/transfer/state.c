/* SPDX-License-Identifier: MIT
 *
 * The states of a transfer as tables: the steps and the thread that takes each, and the invariants
 * of each state. The code keeps them by construction, so a violation is a bug, after which no
 * memory can be trusted.
 */
#include <assert.h>

#include "lib/sm.h"
#include "scheduler/fleet/transfer/transfer_priv.h"

enum { N_STATES = TRANSFER_GONE + 1, N_EVENTS = TRANSFER_HEAR + 1 };

#define TO(state)                                                                                  \
    {                                                                                              \
        .legal = 1, .next = (state)                                                                \
    }

static const struct sm_edge edges[N_STATES][N_EVENTS] = {
    [TRANSFER_PAUSED] = {[TRANSFER_ASK] = TO(TRANSFER_QUEUED), [TRANSFER_END] = TO(TRANSFER_GONE)},
    [TRANSFER_QUEUED] =
        {[TRANSFER_TAKE] = TO(TRANSFER_RUNNING), [TRANSFER_END] = TO(TRANSFER_GONE)},
    [TRANSFER_RUNNING] = {[TRANSFER_TELL] = TO(TRANSFER_TOLD), [TRANSFER_END] = TO(TRANSFER_GONE)},
    [TRANSFER_TOLD] = {[TRANSFER_HEAR] = TO(TRANSFER_PAUSED), [TRANSFER_END] = TO(TRANSFER_GONE)},
    /* A transfer that was ended after its result was reported: no callback runs. */
    [TRANSFER_GONE] = {[TRANSFER_HEAR] = TO(TRANSFER_GONE), [TRANSFER_TAKE] = TO(TRANSFER_GONE)},
};

static const char *const state_names[N_STATES] = {"paused", "queued", "running", "reported",
                                                  "gone"};
static const char *const event_names[N_EVENTS] = {"ask", "end", "take", "report", "hear"};

static const struct sm machine = {.name = "transfer",
                                  .states = N_STATES,
                                  .events = N_EVENTS,
                                  .state_names = state_names,
                                  .event_names = event_names,
                                  .edges = &edges[0][0]};

static const bool is_the_loops[N_EVENTS] = {
    [TRANSFER_ASK] = true, [TRANSFER_END] = true, [TRANSFER_HEAR] = true};

#define QUEUE  1U
#define ACTIVE 2U
#define TOLD   4U

#define ASKED(asked) (1U << (asked))
#define SOMETHING    (ASKED(ASKED_READ) | ASKED(ASKED_WRITE))

/* For each state of a transfer: the lists in which it must be, the lists in which it may be, and
 * the requests that it may have. */
static const struct {
    unsigned must, may, asked;
} holds[N_STATES] = {
    [TRANSFER_PAUSED] = {0, ACTIVE, ASKED(ASKED_NOTHING)},
    [TRANSFER_QUEUED] = {QUEUE, QUEUE | ACTIVE, SOMETHING},
    [TRANSFER_RUNNING] = {ACTIVE, ACTIVE, SOMETHING},
    [TRANSFER_TOLD] = {ACTIVE | TOLD, ACTIVE | TOLD, SOMETHING},
    /* The transfer is in the queue until the thread takes it; its result is not reported any
     * more. */
    [TRANSFER_GONE] = {0, QUEUE | ACTIVE | TOLD, SOMETHING | ASKED(ASKED_NOTHING)},
};

static unsigned lists_of(const struct transfer *t)
{
    return (t->is_queued ? QUEUE : 0) | (t->is_active ? ACTIVE : 0) | (t->is_told ? TOLD : 0);
}

void transfer_step(struct transfer *t, enum transfer_event event)
{
    const struct sm_edge *edge = sm_step(&machine, (int)t->state, (int)event);
    bool on_loop = pthread_equal(pthread_self(), t->tr->loop_thread);
    assert(edge);
    assert(on_loop == is_the_loops[event]);
    assert(event != TRANSFER_HEAR || !t->tr->out);
    t->state = (enum transfer_state)edge->next;
    unsigned lists = lists_of(t);
    assert((lists & holds[t->state].must) == holds[t->state].must);
    assert((lists & ~holds[t->state].may) == 0);
    assert(holds[t->state].asked & ASKED(t->wish.asked));
    assert(event != TRANSFER_END || t->is_queued);
    assert(event != TRANSFER_TAKE || (!t->is_queued && !t->is_told));
}
