/* SPDX-License-Identifier: MIT
 *
 * A wall clock that is set back or forward stops nothing and times nothing out.
 */
#include "scheduler/run/runs.h"
#include "world.h"

#define HOUR_US (3600LL * 1000000)

static bool runs(struct world *w, int64_t job)
{
    return strstr(out_of(w, job), "begun") != NULL;
}

/* Far beyond the limit by the wall clock, and far from it by the time that has passed. */
WORLD_TEST(set_forward_times_no_job_out, world_new(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j =
        add_job(w, c, "j",
                JOB("echo begun; until [ -e $PWD/go ]; do sleep 0.02; done; true",
                    .prep = "echo $PWD > $AZ_BATCHAI_MOUNT_ROOT/share/where", .wall_s = 1800));
    WAIT(w, runs(w, j));
    w->wall_set_us = 24 * HOUR_US;
    int64_t other = add_job(w, c, "other", JOB("true"));
    sched_wake_pool(w->s, c);
    for (int i = 0; i < 50; i++)
        uv_run(&w->loop, UV_RUN_NOWAIT);
    struct err e = {0};
    assert_int_equal(batchai_terminate(&w->front, other, &e), 1);
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    w->ahead_us = HOUR_US / 2 + 1000000; /* now its time is over */
    WAIT(w, job_ended(w, j));
    job_says(w, j, "JobTimedOut");
}

WORLD_TEST(set_back_stops_no_limit, world_new(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB("echo begun; sleep 1000", .wall_s = 60));
    WAIT(w, runs(w, j));
    w->wall_set_us = -48 * HOUR_US;
    w->ahead_us = 61 * 1000000;
    WAIT(w, job_ended(w, j));
    job_says(w, j, "JobTimedOut");
}

/* Idle nodes are let go after the time that they idled, whatever the clock on the wall says. */
WORLD_TEST(set_clock_moves_no_idle_time, world_new(2))
{
    w->idle_s = 600;
    restart(w);
    const struct cluster_wish wish = {
        .scale = {.kind = SCALE_AUTO, .minimum = 0, .maximum = 2, .initial = 2}};
    int64_t c = add_cluster(w, "c", wish);
    WAIT(w, counts(w, c).idle == 2);
    w->wall_set_us = 24 * HOUR_US;
    sched_wake_pool(w->s, c);
    for (int i = 0; i < 20; i++)
        uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(counts(w, c).idle, 2);
    w->wall_set_us = -24 * HOUR_US;
    w->ahead_us = 601 * 1000000LL;
    WAIT(w, rows_of(counts(w, c)) == 0);
}

/* Over a restart too: the limit is reckoned from the row, and no further off than it ever was. */
WORLD_TEST(set_back_over_a_restart, world_new(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB("echo begun; sleep 1000", .wall_s = 60));
    WAIT(w, runs(w, j));
    world_stop(w);
    w->wall_set_us = -48 * HOUR_US;
    world_start(w);
    sched_wake_pool(w->s, c);
    for (int i = 0; i < 20; i++) /* it is taken up again */
        uv_run(&w->loop, UV_RUN_NOWAIT);
    w->ahead_us = 61 * 1000000;
    WAIT(w, job_ended(w, j));
    job_says(w, j, "JobTimedOut");
}
