/* SPDX-License-Identifier: MIT
 *
 * Counts of runs, for metrics: how many have nodes, and how long they waited for them.
 */
#include "scheduler/run/run_priv.h"
#include "storage/tallies.h"

/* Bounds of the waiting times, in seconds. */
static const int bounds_s[RUN_WAIT_BOUNDS] = {1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600};

const int *runs_wait_bounds_s(void)
{
    return bounds_s;
}

static size_t index_of_front(const struct runs *rs, const struct front *f)
{
    size_t i = 0;
    while (rs->fronts->all[i] != f)
        i++;
    return i;
}

void runs_note_wait(struct runs *rs, const struct run *r)
{
    struct run_wait_tally *w = &rs->waits[index_of_front(rs, front_of_run(rs, r))];
    int64_t since_ms;
    struct err e;
    if (st_run_waits_since(rs->st, r->id, &since_ms, &e) != 1)
        return;
    int64_t ms = r->start_us / 1000 > since_ms ? r->start_us / 1000 - since_ms : 0;
    size_t i = 0;
    while (i < RUN_WAIT_BOUNDS && ms > INT64_C(1000) * bounds_s[i])
        i++;
    w->in[i]++;
    w->sum_ms += ms;
}

const struct run_wait_tally *runs_wait_tally(const struct runs *rs, const struct front *f)
{
    return &rs->waits[index_of_front(rs, f)];
}

void runs_count_live(const struct runs *rs, const struct front *f, int *active, int *ending)
{
    *active = *ending = 0;
    for (size_t i = 0; i < rs->map.n; i++) {
        const struct live_run *lr = rs->map.e[i].p;
        if (lr->front == f)
            ++*(lr->row.state == RUN_ALLOCATED ? active : ending);
    }
}
