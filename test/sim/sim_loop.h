/* SPDX-License-Identifier: MIT
 *
 * Loops in virtual time: what is due next happens next, and the clock jumps there. Several share
 * one time (struct sim_time): that of the nodes, and one for each life of the daemon, which may be
 * drained on its own once that life is over. Work of lanes is done on the same thread, some random
 * time after it was given, and its end is told some time after that.
 */
#ifndef TEST_SIM_LOOP_H
#define TEST_SIM_LOOP_H

#include "lib/loop.h"

struct sim_time {
    int64_t now_us;
    int64_t wall_ahead_us; /* of the wall clock; may be changed at any time */
    uint64_t seq;          /* of events: those of one instant happen in their order */
    uint64_t random;
};

uint64_t sim_random(struct sim_time *t);
/* 0 to n - 1. */
int sim_any(struct sim_time *t, int n);

/* `mono_ahead_us`: its monotonic clock shows so much more than `now_us`. Not before `work_max_us`
 * has passed, at most, is work done and told. */
struct loop *sim_loop_create(struct sim_time *t, int64_t mono_ahead_us, int64_t work_max_us);
/* Nothing is to happen on it any more: its timers are destroyed, its lanes closed. */
void sim_loop_free(struct loop *loop);
/* When its next event is due; false: it waits for nothing. */
bool sim_loop_next(struct loop *loop, int64_t *at_us);
/* Runs the events that are due by now; how many. */
int sim_loop_run_due(struct loop *loop);

#endif
