/* SPDX-License-Identifier: MIT
 *
 * What the steps of a history share.
 */
#ifndef TEST_SIM_SIM_STEPS_H
#define TEST_SIM_SIM_STEPS_H

#include "test/sim/sim.h"

/* 0 to n - 1. */
static inline int any(struct sim *m, int n)
{
    return sim_any(&m->t, n);
}

static inline bool chance(struct sim *m, int percent)
{
    return any(m, 100) < percent;
}

static inline int64_t wall(struct sim *m)
{
    return loop_wall_us(m->life->loop);
}

/* A client would use it. */
bool sim_there(const struct thing *t, enum thing_kind kind);
void sim_scale(struct sim *m, struct thing *t, struct scale s);

/* sim_lend.c: if there is a cluster of each kind on machines, and all is healed. */
void sim_lend(struct sim *m);

/* sim_jobs.c: some jobs are made. */
void sim_add_jobs(struct sim *m);

#endif
