/* SPDX-License-Identifier: MIT
 *
 * Jobs of Azure Batch with the same priority that take turns in a pool. On fake nodes with one
 * slot, in virtual time.
 */
#include "test/unit/scheduler/batch_work.h"

#define IN_TURN                                                                                    \
    "{\"taskSchedulingPolicy\":{\"nodeFillType\":\"spread\",\"jobDefaultOrder\":\"none\"}}"
#define MOST 230

/* Jobs with the same number of tasks, 10 s each. */
struct crowd {
    struct world *w;
    struct batch_job jobs[MOST];
    int n;
};

static void add_jobs(struct crowd *c, int n, int tasks)
{
    for (int i = 0; i < n; i++) {
        struct batch_job *j = &c->jobs[c->n++];
        *j = add_work(c->w, arena_printf(&c->w->a, "j%d", c->n), "");
        for (int t = 0; t < tasks; t++)
            (void)add_work_task(c->w, j, t, 10);
        batch_job_has_more(&c->w->batch, j->id);
    }
}

static struct crowd jobs_in_turn(struct world *w, int n, int tasks)
{
    struct crowd c = {.w = w};
    int64_t id = put_pool(w, (struct batch_pool){.name = "p",
                                                 .doc = IN_TURN,
                                                 .size = {.dedicated = 1},
                                                 .vm_size = "STANDARD_D1",
                                                 .dealloc = DEALLOC_REQUEUE,
                                                 .slots = 1});
    add_jobs(&c, n, tasks);
    WAIT(w, has_nodes(w, id, 1));
    return c;
}

static int done(const struct crowd *c, int job)
{
    struct err e = {0};
    struct batch_counts n = {0};
    ok(st_batch_job_counts(c->w->st, &c->w->a, c->jobs[job].id, &n, &e), &e);
    return (int)n.succeeded;
}

/* Until so many tasks have ended; the next runs for a while yet. */
static void wait_ended(const struct crowd *c, int tasks)
{
    WAIT(c->w, virtual_of(c->w)->ended == tasks);
    pass(c->w, SECOND);
}

/* Each job has had `turns` turns before any job has one more. */
static void each_has_had(const struct crowd *c, int turns)
{
    wait_ended(c, turns * c->n);
    for (int i = 0; i < c->n; i++)
        assert_int_equal(done(c, i), turns);
}

/* The queue of the core has no equal share of its 200 places for each of seven jobs. */
WORLD_TEST(test_jobs_take_turns_whatever_their_number, world_virtual(1))
{
    struct crowd c = jobs_in_turn(w, 7, 40);
    for (int turns = 1; turns <= 10; turns++)
        each_has_had(&c, turns);
}

WORLD_TEST(test_more_jobs_take_turns_than_the_queue_has_places, world_virtual(1))
{
    struct crowd c = jobs_in_turn(w, 230, 2);
    each_has_had(&c, 1);
    each_has_had(&c, 2);
}

/* The round goes on with the job that was next. */
WORLD_TEST(test_a_new_job_is_in_the_next_round, world_virtual(1))
{
    struct crowd c = jobs_in_turn(w, 7, 60);
    each_has_had(&c, 3);
    wait_ended(&c, 3 * 7 + 2);
    add_jobs(&c, 1, 60);
    wait_ended(&c, 3 * 7 + 2 + 8);
    for (int i = 0; i < 7; i++)
        assert_int_equal(done(&c, i), i < 2 ? 5 : 4);
    assert_int_equal(done(&c, 7), 1);
}
