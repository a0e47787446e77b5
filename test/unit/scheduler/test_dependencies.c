/* SPDX-License-Identifier: MIT
 *
 * Jobs that wait for the ends of others, and jobs that are tried again. On fake nodes, in virtual
 * time.
 */
#include "model/states.h"
#include "virtual.h"

#define FOREVER "fake run=9000000"
#define GOOD    "fake run=1000"
#define BAD     "fake run=1000 exit=3"

static int64_t add(struct world *w, int64_t cluster, const char *name, const char *command)
{
    return add_job(w, cluster, name, JOB(command, .wall_s = 100000));
}

/* A job that waits for `awaited`, as far as it has not ended yet. */
static int64_t add_after(struct world *w, int64_t cluster, const char *name, int64_t awaited,
                         enum after wanted)
{
    struct err e = {0};
    struct job on = job_row(w, awaited);
    int64_t id = add(w, cluster, name, GOOD);
    const struct dependency d = {.owner_kind = RES_JOB,
                                 .owner_id = id,
                                 .awaited_kind = RES_JOB,
                                 .awaited_id = awaited,
                                 .name = on.name,
                                 .wanted = wanted,
                                 .state = DEPENDENCY_OPEN};
    ok(st_dependency_add(w->st, &w->a, &d, 1, time_now_us(), &e), &e);
    return id;
}

static bool waits(struct world *w, int64_t job)
{
    pass(w, 60 * SECOND);
    return job_state(w, job) == EXEC_QUEUED;
}

TEST(test_each_end_lets_those_go_that_want_it_and_fails_the_others)
{
    static const struct {
        const char *command;
        enum exec_state success, failure;
    } all[] = {{GOOD, EXEC_SUCCEEDED, EXEC_FAILED}, {BAD, EXEC_FAILED, EXEC_SUCCEEDED}};
    for (size_t i = 0; i < 2; i++) {
        struct world *w = world_virtual(1);
        int64_t c = idle_cluster(w, 1), first = add(w, c, "first", all[i].command);
        int64_t s = add_after(w, c, "s", first, AFTER_SUCCESS),
                f = add_after(w, c, "f", first, AFTER_FAILURE),
                any = add_after(w, c, "any", first, AFTER_END);
        assert_ends(w, s, all[i].success);
        assert_ends(w, f, all[i].failure);
        assert_ends(w, any, EXEC_SUCCEEDED);
        struct job lost = job_row(w, all[i].success == EXEC_FAILED ? s : f);
        assert_says(lost.errors, "JobDependencyFailed",
                    i == 0 ? "Job first had to end with failure, but it has succeeded"
                           : "Job first had to end with success, but it has failed");
        assert_int_equal(lost.attempt, 0);
        world_free(w);
    }
}

/* Those behind it are served, and automatic scaling makes no node for it. */
WORLD_TEST(test_who_waits_for_another_is_in_no_queue, world_virtual(1))
{
    struct err e = {0};
    int64_t c = idle_cluster(w, 1), first = add(w, c, "first", FOREVER), demand;
    int64_t held = add_after(w, c, "held", first, AFTER_END);
    WAIT(w, job_state(w, first) == EXEC_RUNNING);
    ok(st_run_queue_demand(w->st, c, 1000, &demand, &e), &e);
    assert_int_equal(demand, 0);
    int64_t next = add(w, c, "next", GOOD);
    terminate(w, first);
    assert_ends(w, next, EXEC_SUCCEEDED);
    assert_ends(w, held, EXEC_SUCCEEDED);
}

WORLD_TEST(test_a_chain_falls_to_its_last_link, world_virtual(1))
{
    enum { LINKS = 100 };
    int64_t c = idle_cluster(w, 1), j[LINKS];
    j[0] = add(w, c, "bad", BAD);
    for (int i = 1; i < LINKS; i++)
        j[i] = add_after(w, c, arena_printf(&w->a, "j%d", i), j[i - 1], AFTER_SUCCESS);
    int64_t lost = add_after(w, c, "after", j[LINKS - 1], AFTER_FAILURE);
    assert_ends(w, j[LINKS - 1], EXEC_FAILED);
    assert_ends(w, lost, EXEC_SUCCEEDED);
}

WORLD_TEST(test_it_waits_for_all_of_them, world_virtual(1))
{
    struct err e = {0};
    int64_t c = idle_cluster(w, 1), a = add(w, c, "a", GOOD), b = add(w, c, "b", FOREVER),
            both = add(w, c, "both", GOOD);
    struct dependency d[] = {{RES_JOB, both, RES_JOB, a, "a", AFTER_SUCCESS, DEPENDENCY_OPEN, 0},
                             {RES_JOB, both, RES_JOB, b, "b", AFTER_END, DEPENDENCY_OPEN, 0}};
    ok(st_dependency_add(w->st, &w->a, d, 2, time_now_us(), &e), &e);
    assert_ends(w, a, EXEC_SUCCEEDED);
    assert_true(waits(w, both));
    terminate(w, b);
    assert_ends(w, both, EXEC_SUCCEEDED);
}

/* Another of the same name is another job. */
WORLD_TEST(test_a_job_that_is_deleted_ends_for_those_that_wait, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), busy = add(w, c, "busy", FOREVER),
            first = add(w, c, "first", GOOD);
    int64_t any = add_after(w, c, "any", first, AFTER_END),
            good = add_after(w, c, "good", first, AFTER_SUCCESS);
    delete_row(w, RES_JOB, first);
    assert_ends(w, good, EXEC_FAILED);
    job_says(w, good, "was deleted");
    int64_t again = add(w, c, "first", BAD);
    delete_row(w, RES_JOB, busy);
    assert_ends(w, any, EXEC_SUCCEEDED);
    assert_ends(w, again, EXEC_FAILED);
}

WORLD_TEST(test_who_waits_may_be_terminated_or_deleted, world_virtual(1))
{
    struct err e = {0};
    struct dependency *rows;
    size_t n;
    int64_t c = idle_cluster(w, 1), first = add(w, c, "first", FOREVER);
    int64_t ended = add_after(w, c, "ended", first, AFTER_END),
            gone = add_after(w, c, "gone", first, AFTER_END),
            left = add_after(w, c, "left", ended, AFTER_FAILURE);
    terminate(w, ended);
    delete_row(w, RES_JOB, gone);
    assert_ends(w, ended, EXEC_FAILED);
    pass(w, 10 * SECOND);
    ok(st_dependency_of(w->st, &w->a, RES_JOB, gone, &rows, &n, &e), &e);
    assert_int_equal(n, 0);
    terminate(w, first);
    assert_ends(w, left, EXEC_SUCCEEDED);
    assert_ends(w, first, EXEC_FAILED);
    assert_int_equal(job_row(w, ended).attempt, 0);
}

WORLD_TEST(test_a_restart_changes_nothing, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), first = add(w, c, "first", FOREVER),
            held = add_after(w, c, "held", first, AFTER_FAILURE);
    WAIT(w, job_state(w, first) == EXEC_RUNNING);
    restart(w);
    assert_true(waits(w, held));
    terminate(w, first);
    assert_ends(w, held, EXEC_SUCCEEDED);
}

/* --- retries -------------------------------------------------------------------------------- */

static int64_t add_tried(struct world *w, int64_t cluster, const char *name, const char *command,
                         const char *retries)
{
    const char *more = arena_printf(&w->a,
                                    "'environmentVariables': [{'name': 'BATCHAID_JOB_RETRIES', "
                                    "'value': '%s'}],",
                                    retries);
    return add_job(w, cluster, name, JOB(command, .more = more, .wall_s = 100000));
}

/* The reasons of its events to the state, with commas between them. */
static const char *reasons(struct world *w, int64_t job, enum exec_state to)
{
    struct err e = {0};
    struct event_rows rows;
    const char *out = "";
    ok(st_event_since(w->st, &w->a, &(struct st_page){.limit = 1000}, &rows, &e), &e);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.items[i].kind == RES_JOB && rows.items[i].resource_id == job &&
            rows.items[i].to == (int)to && rows.items[i].reason)
            out = arena_printf(&w->a, "%s%s%s", out, *out ? "; " : "", rows.items[i].reason);
    return out;
}

WORLD_TEST(test_a_job_that_fails_is_tried_as_often_as_it_asked, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), j = add_tried(w, c, "j", BAD, "2"),
            after = add_after(w, c, "after", j, AFTER_FAILURE);
    assert_ends_in(w, j, EXEC_FAILED, 3);
    assert_int_equal(job_row(w, j).exit_code, 3);
    const char *why = reasons(w, j, EXEC_QUEUED);
    assert_says(why, "retry 1 of 2: ", "; retry 2 of 2: ", "exit code");
    assert_ends(w, after, EXEC_SUCCEEDED); /* it waited for the last of them */
}

WORLD_TEST(test_only_what_it_named_is_tried_again, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), other = add_tried(w, c, "other", BAD, "2:75,node"),
            good = add_tried(w, c, "good", GOOD, "2"), this = add_tried(w, c, "this", BAD, "1:3");
    assert_ends(w, other, EXEC_FAILED);
    assert_ends(w, good, EXEC_SUCCEEDED);
    assert_ends(w, this, EXEC_FAILED);
    assert_int_equal(job_row(w, other).attempt, 1);
    assert_int_equal(job_row(w, good).attempt, 1);
    assert_int_equal(job_row(w, this).attempt, 2);
}

/* The cluster's rule would end it. */
TEST(test_a_job_whose_node_is_lost_is_tried_again_if_it_asked_for_that)
{
    static const struct {
        const char *retries;
        bool again;
    } all[] = {{"1:node", true}, {"1", true}, {"1:exit", false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct world *w = world_virtual(1);
        int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
        WAIT(w, counts(w, c).idle == 1);
        int64_t j = add_tried(w, c, "j", "fake run=20000", all[i].retries);
        WAIT(w, job_state(w, j) == EXEC_RUNNING);
        pass(w, SECOND);
        fake_restart(fake_of(w, c, 0)); /* its task is lost */
        assert_ends(w, j, all[i].again ? EXEC_SUCCEEDED : EXEC_FAILED);
        assert_int_equal(job_row(w, j).attempt, all[i].again ? 2 : 1);
        if (all[i].again)
            assert_says(reasons(w, j, EXEC_QUEUED), "retry 1 of 1: ");
        world_free(w);
    }
}

/* Whoever terminates it does not mean one attempt. */
WORLD_TEST(test_a_terminated_job_is_not_tried_again, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), j = add_tried(w, c, "j", FOREVER, "5");
    WAIT(w, job_state(w, j) == EXEC_RUNNING);
    terminate(w, j);
    assert_ends_in(w, j, EXEC_FAILED, 1);
}

static size_t unsettled(struct world *w)
{
    struct err e = {0};
    int64_t *ids;
    size_t n;
    ok(st_dependency_unsettled(w->st, &w->a, &ids, &n, &e), &e);
    return n;
}

/* Its end does not release them all in its transaction. A restart goes on, and so does a removal.
 */
TEST(test_many_that_wait_for_one_are_released_some_at_a_time)
{
    enum { MANY = 1100 };
    for (int how = 0; how < 3; how++) {
        struct world *w = world_virtual(1);
        int64_t c = idle_cluster(w, 1), first = add(w, c, "first", BAD), last = 0;
        for (int i = 0; i < MANY; i++)
            last = add_after(w, c, arena_printf(&w->a, "j%d", i), first, AFTER_SUCCESS);
        int64_t good = add_after(w, c, "good", first, AFTER_FAILURE);
        WAIT(w, job_ended(w, first));
        assert_int_equal(unsettled(w), 1);
        if (how == 1)
            restart(w);
        else if (how == 2)
            delete_row(w, RES_JOB, first);
        assert_ends(w, good, EXEC_SUCCEEDED);
        assert_ends(w, last, EXEC_FAILED);
        job_says(w, last, "but it has failed");
        assert_int_equal(unsettled(w), 0);
        world_free(w);
    }
}
