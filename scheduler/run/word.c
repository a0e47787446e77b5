/* SPDX-License-Identifier: MIT
 *
 * What the nodes of a run have reported of its tasks.
 */
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
