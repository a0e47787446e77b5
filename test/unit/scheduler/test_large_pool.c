/* SPDX-License-Identifier: MIT
 *
 * A cluster of many nodes holds nobody up: what is done with all of them is done in steps, and what
 * each of them tells is looked at together. On fake nodes, in virtual time.
 */
#include "scheduler/queue_view.h"
#include "test/unit/support/says.h"
#include "virtual.h"

/* More than two steps of them, and so many that the cluster rests after each look. */
#define NODES 230
#define STEP  100

static struct scale scaled_to(int target)
{
    return (struct scale){.kind = SCALE_MANUAL, .target = target, .dealloc = DEALLOC_REQUEUE};
}

/* The loop's next turn, in which little time goes by. */
static void next_turn(struct world *w)
{
    pass(w, 1);
}

WORLD_TEST(test_nodes_come_and_go_in_steps, world_virtual(NODES))
{
    int64_t c = add_cluster_of(w, "c", NODES);
    turn(w);
    assert_int_equal(rows_of(counts(w, c)), STEP);
    WAIT(w, rows_of(counts(w, c)) == NODES);
    WAIT(w, counts(w, c).idle == NODES);
    set_scale(w, c, scaled_to(0));
    int before = 0, now;
    for (; (now = NODES - counts(w, c).idle) < NODES; before = now) {
        wait_step(w);
        assert_true(NODES - counts(w, c).idle - before <= 2 * STEP); /* two turns at most */
    }
    WAIT(w, rows_of(counts(w, c)) == 0);
}

/* Its set-up fails wherever it runs. */
WORLD_TEST(test_unusable_nodes_are_tried_again_in_steps_and_once, world_virtual(NODES + 1))
{
    int64_t c = add_cluster(w, "c",
                            (struct cluster_wish){.scale = {.target = NODES},
                                                  .setup = "'setupTask': {'commandLine': "
                                                           "'fake run=1 exit=1'}"});
    WAIT(w, counts(w, c).unusable == NODES);
    struct queue_view v;
    struct err e;
    assert_int_equal(queue_view(w->s, &w->a, c, &v, &e), 1);
    assert_says(v.no_use, "and 220 others unusable"); /* 2,000 names would be in each reason */
    int each = virtual_of(w)->started / NODES;
    assert_int_equal(virtual_of(w)->started, each * NODES);
    pass(w, SECOND);
    set_scale(w, c, scaled_to(NODES + 1));
    turn(w);
    assert_int_equal(counts(w, c).unusable, NODES - STEP);
    WAIT(w, counts(w, c).unusable == NODES + 1);
    pass(w, 10 * SECOND);
    assert_int_equal(virtual_of(w)->started, each * (2 * NODES + 1));
}

/* Else each node that gets ready would have the rows of all read. */
WORLD_TEST(test_a_large_cluster_rests_between_two_looks, world_virtual(NODES))
{
    int64_t c = idle_cluster(w, NODES);
    pass(w, SECOND);
    sched_wake_pool(w->s, c);
    turn(w);
    int64_t j = add_job(w, c, "j", JOB("fake run=1000"));
    next_turn(w);
    assert_int_equal(job_state(w, j), EXEC_QUEUED);
    pass(w, SECOND / 20);
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    WAIT(w, job_state(w, j) == EXEC_SUCCEEDED);
}
