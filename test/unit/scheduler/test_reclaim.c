/* SPDX-License-Identifier: MIT
 *
 * Machines of dedicated clusters that are lent to low-priority ones, and taken back. On fake nodes,
 * in virtual time.
 */
#include "fake_site.h"
#include "virtual.h"

/* m1, m2 and m3, all dedicated; low1 is for low priority alone. */
static struct fake_site *new_lending(bool reclaim)
{
    struct fake_site *f = xcalloc(1, sizeof *f);
    SITE(f, "m1", "m2", "m3", "low1");
    let_answer(f);
    f->site.reclaim = reclaim;
    f->w = world_virtual_at(0, &f->site);
    return f;
}

#define LENDING_TEST(name, reclaim)                                                                \
    FIXTURE_TEST(name, struct fake_site *, f, new_lending(reclaim), free_site)

static int64_t low_cluster(struct world *w, int target, enum dealloc_option dealloc)
{
    return add_cluster(w, "low",
                       (struct cluster_wish){.scale = {.target = target, .dealloc = dealloc},
                                             .vm_size = "STANDARD_NC6",
                                             .vm_priority = VM_LOWPRIORITY});
}

LENDING_TEST(test_without_the_switch_priorities_match, false)
{
    int64_t low = low_cluster(w, 2, DEALLOC_REQUEUE);
    WAIT(w, says(w, low, "NodeCapacityReached"));
    assert_string_equal(machines_of(w, low), "low1 ");
}

LENDING_TEST(test_low_priority_gets_its_own_first, true)
{
    int64_t low = low_cluster(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, low).idle == 1);
    assert_string_equal(machines_of(w, low), "low1 ");
    resize(w, low, 3);
    WAIT(w, counts(w, low).idle == 3);
    assert_string_equal(machines_of(w, low), "low1 m1 m2 ");
    int64_t mine = add_gpu_cluster(w, "mine", 1); /* one is free: nothing is taken back */
    WAIT(w, counts(w, mine).idle == 1);
    assert_string_equal(machines_of(w, mine), "m3 ");
    assert_int_equal(counts(w, low).idle, 3);
}

/* Whatever the low-priority cluster does when it is made smaller. */
TEST(test_what_runs_is_queued_again)
{
    static const enum dealloc_option rules[] = {DEALLOC_REQUEUE, DEALLOC_TERMINATE,
                                                DEALLOC_WAIT_FOR_COMPLETION};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct fake_site *f = new_lending(true);
        struct world *w = f->w;
        int64_t low = low_cluster(w, 4, rules[i]);
        WAIT(w, counts(w, low).idle == 4);
        int64_t whole = add_job(w, low, "whole", JOB("fake run=500000", .nodes = 3));
        WAIT(w, job_state(w, whole) == EXEC_RUNNING);
        int64_t mine = add_gpu_cluster(w, "mine", 2);
        WAIT(w, counts(w, mine).idle == 2);
        assert_int_equal(job_state(w, whole), EXEC_QUEUED);
        WAIT(w, says(w, low, "NodeCapacityReached"));
        assert_int_equal(rows_of(counts(w, low)), 2);
        resize(w, mine, 0);
        WAIT(w, job_state(w, whole) == EXEC_SUCCEEDED); /* on what was lent again */
        assert_int_equal(job_row(w, whole).attempt, 2);
        free_site(f);
    }
}

/* Idle ones are taken first, and no more than are missing; what is asked for is not lent again. */
LENDING_TEST(test_no_more_is_taken_than_is_missing, true)
{
    int64_t low = low_cluster(w, 4, DEALLOC_REQUEUE);
    WAIT(w, counts(w, low).idle == 4);
    int64_t job = add_job(w, low, "job", JOB("fake run=300000"));
    WAIT(w, job_state(w, job) == EXEC_RUNNING);
    int64_t mine = add_gpu_cluster(w, "mine", 1);
    WAIT(w, counts(w, mine).idle == 1);
    assert_int_equal(job_state(w, job), EXEC_RUNNING);
    assert_int_equal(rows_of(counts(w, low)), 3);
    WAIT(w, job_state(w, job) == EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, job).attempt, 1);
    resize(w, mine, 5); /* more than there are: all that there are, and none is lent */
    WAIT(w, counts(w, mine).idle == 3);
    for (int i = 0; i < 10; i++)
        turn(w);
    assert_string_equal(machines_of(w, low), "low1 ");
}

/* --- machines that the health command has drained --------------------------------------------- */

static void make_sick(struct site_group *g)
{
    g->health_command = "fake exit=1";
    g->health_interval_s = 10;
}

/* m1 has been given back while its health command failed. */
static int64_t given_back_sick(struct world *w)
{
    int64_t c = add_gpu_cluster(w, "mine", 1);
    WAIT(w, view_of(w, "m1").drained);
    resize(w, c, 0);
    WAIT(w, rows_of(counts(w, c)) == 0);
    return c;
}

LENDING_TEST(test_a_sick_machine_does_not_keep_a_lent_machine_from_its_cluster, true)
{
    struct site_group sick = f->group;
    make_sick(&sick);
    f->machines[0].group = &sick;
    drain(w, "m3", "fan");
    int64_t mine = given_back_sick(w);
    int64_t low = low_cluster(w, 2, DEALLOC_REQUEUE);
    WAIT(w, counts(w, low).idle == 2);
    assert_string_equal(machines_of(w, low), "low1 m2 ");
    resize(w, mine, 1);
    WAIT(w, strcmp(machines_of(w, mine), "m2 ") == 0 && counts(w, mine).idle == 1);
    f->machines[0].group = &f->group;
}

TEST(test_low_priority_gets_a_lent_machine_rather_than_its_own_sick_one)
{
    struct fake_site f;
    struct site_group sick = cheap;
    make_sick(&sick);
    SITE(&f, "m1", "low1", "low2");
    let_answer(&f);
    f.site.reclaim = true;
    f.machines[1].group = f.machines[2].group = &sick;
    struct world *w = world_virtual_at(0, &f.site);
    int64_t low = low_cluster(w, 2, DEALLOC_REQUEUE);
    WAIT(w, view_of(w, "low1").drained && view_of(w, "low2").drained);
    resize(w, low, 0);
    WAIT(w, rows_of(counts(w, low)) == 0);
    resize(w, low, 1);
    WAIT(w, counts(w, low).idle == 1);
    assert_string_equal(machines_of(w, low), "m1 ");
    pass(w, 600 * SECOND);
    assert_string_equal(machines_of(w, low), "m1 ");
    world_free(w);
}
