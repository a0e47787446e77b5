/* SPDX-License-Identifier: MIT
 *
 * A wall clock that is set back or forward stops no limit and times nothing out. On fake nodes, in
 * virtual time.
 */
#include "storage/usage.h"
#include "virtual.h"

#define HOUR    (3600 * SECOND)
#define ENDLESS "fake run=10000000"

/* The clock on the wall is set, of daemon and nodes. */
static void set_clock(struct world *w, int64_t by_us)
{
    virtual_of(w)->t.wall_ahead_us += by_us;
}

/* A job that runs, on a node of its own. */
static int64_t start_job(struct world *w, int wall_s)
{
    int64_t j = add_job(w, add_cluster_of(w, "c", 1), "j", JOB(ENDLESS, .wall_s = wall_s));
    WAIT(w, job_state(w, j) == EXEC_RUNNING && virtual_of(w)->started == 1);
    return j;
}

/* Runs for so long, and is out of time soon after. */
static void assert_times_out_after(struct world *w, int64_t job, int64_t us)
{
    pass(w, us);
    assert_int_equal(job_state(w, job), EXEC_RUNNING);
    pass(w, 20 * SECOND);
    assert_ends(w, job, EXEC_FAILED);
    job_says(w, job, "JobTimedOut");
}

/* Far beyond the limit by the wall clock, and far from it by the time that has passed. */
WORLD_TEST(set_forward_times_no_job_out, world_virtual(1))
{
    int64_t j = start_job(w, 1800);
    set_clock(w, 24 * HOUR);
    sched_wake_pool(w->s, job_row(w, j).cluster_id);
    assert_times_out_after(w, j, 1790 * SECOND);
}

WORLD_TEST(set_back_stops_no_limit, world_virtual(1))
{
    int64_t j = start_job(w, 60);
    set_clock(w, -48 * HOUR);
    assert_times_out_after(w, j, 50 * SECOND);
}

/* Idle nodes are let go after the time that they idled, whatever the clock on the wall says. */
WORLD_TEST(set_clock_moves_no_idle_time, world_virtual(2))
{
    w->idle_s = 600;
    restart(w);
    const struct cluster_wish wish = {
        .scale = {.kind = SCALE_AUTO, .minimum = 0, .maximum = 2, .initial = 2}};
    int64_t c = add_cluster(w, "c", wish);
    WAIT(w, counts(w, c).idle == 2);
    set_clock(w, 24 * HOUR);
    sched_wake_pool(w->s, c);
    pass(w, 300 * SECOND);
    assert_int_equal(counts(w, c).idle, 2);
    set_clock(w, -48 * HOUR);
    pass(w, 330 * SECOND);
    assert_int_equal(rows_of(counts(w, c)), 0);
}

/* Over a restart too: the limit is reckoned from the row, and no further off than it ever was. */
WORLD_TEST(set_back_over_a_restart, world_virtual(1))
{
    int64_t j = start_job(w, 60);
    world_stop(w);
    set_clock(w, -48 * HOUR);
    world_start(w);
    assert_times_out_after(w, j, 50 * SECOND);
}

/* The record of use has the time that went by. */
TEST(set_clock_is_no_use)
{
    static const int64_t by_us[] = {365 * 24 * HOUR, -48 * HOUR};
    for (size_t i = 0; i < 2; i++) {
        struct err e = {0};
        struct usage *rows;
        size_t n;
        struct world *w = world_virtual(1);
        int64_t c = idle_cluster(w, 1), j = add_job(w, c, "j", JOB("fake run=60000"));
        WAIT(w, job_state(w, j) == EXEC_RUNNING);
        pass(w, 30 * SECOND);
        set_clock(w, by_us[i]);
        assert_ends(w, j, EXEC_SUCCEEDED);
        WAIT(w, counts(w, c).idle == 1);
        ok(st_usage_of_owner(w->st, &w->a, RES_JOB, j, &rows, &n, &e), &e);
        assert_int_equal(n, 1);
        assert_in_range(rows[0].end_ms - rows[0].begin_ms, 60000, 65000);
        assert_in_range(wakes_wall(sched_wakes(w->s)) / 1000 - rows[0].end_ms, 0, 60000);
        world_free(w);
    }
}

/* The machine of the daemon began without a clock, which was set while no daemon ran: how long the
 * job ran before is not known, and is not 50 years. */
WORLD_TEST(not_set_at_first_records_no_decades, world_virtual(1))
{
    struct err e = {0};
    struct usage *rows;
    size_t n;
    int64_t now_us = wakes_wall(sched_wakes(w->s));
    set_clock(w, HOUR - now_us);
    int64_t j = start_job(w, 1800);
    world_stop(w);
    set_clock(w, now_us - HOUR);
    world_start(w);
    assert_ends(w, j, EXEC_FAILED);
    WAIT(w, counts(w, job_row(w, j).cluster_id).idle == 1);
    ok(st_usage_of_owner(w->st, &w->a, RES_JOB, j, &rows, &n, &e), &e);
    assert_int_equal(n, 1);
    assert_in_range(rows[0].end_ms, now_us / 1000, now_us / 1000 + 3600000);
    assert_in_range(rows[0].end_ms - rows[0].begin_ms, 0, 60000);
}
