/* SPDX-License-Identifier: MIT
 *
 * Jobs that are arrays: one job, many runs. On fake nodes, in virtual time.
 */
#include "model/states.h"
#include "virtual.h"

#define FOREVER "fake run=9000000"
#define GOOD    "fake run=1000"
#define BAD     "fake run=1000 exit=3"

static const int numbers[] = {0, 3, 6, 9};

/* An array of four, of which `limit` run at once; 0: all. Each takes a part of a node. */
static int64_t add_array(struct world *w, int64_t cluster, const char *name, const char *command,
                         int limit)
{
    struct job j = new_job(w, cluster, name);
    j.doc = json(w, arena_printf(&w->a,
                                 "{'properties': {'nodeCount': 1, 'toolType': 'custom', "
                                 "'environmentVariables': [{'name': 'BATCHAID_JOB_ARRAY', "
                                 "'value': '0-9:3'}], 'customToolkitSettings': "
                                 "{'commandLine': '%s'}, 'stdOutErrPathPrefix': '/logs', "
                                 "'constraints': {'maxWallClockTime': 'PT100000S'}}}",
                                 command));
    j.node_count = 1;
    j.part = true;
    j.runs = 4;
    j.numbers = numbers;
    j.at_once = limit;
    j.max_wall_us = 100000 * SECOND;
    return insert_job(w, &j);
}

static int in_state(struct world *w, int64_t job, enum run_state state)
{
    struct err e = {0};
    int n = 0;
    for (int i = 0; i < 4; i++) {
        struct run r;
        assert_int_equal(st_run_of(w->st, &w->a, RES_JOB, job, i, &r, &e), 1);
        assert_int_equal(r.runs, 4);
        assert_int_equal(r.number, numbers[i]);
        n += r.state == state;
    }
    return n;
}

WORLD_TEST(test_an_array_has_succeeded_when_all_of_it_has, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), j = add_array(w, c, "j", GOOD, 0);
    WAIT(w, in_state(w, j, RUN_ALLOCATED) == 4); /* a node has four slots */
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    assert_ends(w, j, EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).exit_code, 0);
    WAIT(w, in_state(w, j, RUN_OVER) == 4);
}

WORLD_TEST(test_no_more_run_at_once_than_its_limit, world_virtual(1))
{
    int most = 0;
    int64_t c = idle_cluster(w, 1), j = add_array(w, c, "j", "fake run=20000", 2);
    while (!job_ended(w, j)) {
        pass(w, SECOND);
        int now = in_state(w, j, RUN_ALLOCATED);
        most = now > most ? now : most;
    }
    assert_int_equal(most, 2);
    assert_int_equal(job_state(w, j), EXEC_SUCCEEDED);
}

WORLD_TEST(test_an_array_fails_as_the_first_of_it_that_failed_once_all_have_ended, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), j = add_array(w, c, "j", BAD, 1);
    WAIT(w, in_state(w, j, RUN_OVER) == 1);
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    assert_ends(w, j, EXEC_FAILED);
    struct job row = job_row(w, j);
    assert_true(row.has_exit_code);
    assert_int_equal(row.exit_code, 3);
    assert_says(row.errors, "Index 0: Job failed");
    assert_says_not(row.errors, "Index 3");
    assert_int_equal(in_state(w, j, RUN_WAITING), 0);
}

TEST(test_terminating_an_array_ends_all_of_it)
{
    for (int limit = 0; limit <= 2; limit += 2) {
        struct world *w = world_virtual(1);
        struct err e = {0};
        int64_t c = idle_cluster(w, 1), j = add_array(w, c, "j", FOREVER, limit);
        WAIT(w, in_state(w, j, RUN_ALLOCATED) == (limit ? limit : 4));
        assert_int_equal(batchai_terminate(&w->front, j, &e), 1);
        assert_int_equal(job_state(w, j), EXEC_TERMINATING);
        assert_ends(w, j, EXEC_FAILED);
        job_says(w, j, "JobTerminated");
        WAIT(w, in_state(w, j, RUN_OVER) == 4);
        assert_int_equal(batchai_terminate(&w->front, j, &e), 0);
        world_free(w);
    }
}

/* Its end is an event, not each index: the events of a large array would fill the list. */
WORLD_TEST(test_a_queued_array_may_be_terminated, world_virtual(1))
{
    struct err e = {0};
    struct event *events;
    size_t n;
    int64_t c = add_cluster_of(w, "c", 0), j = add_array(w, c, "j", GOOD, 1);
    pass(w, SECOND);
    assert_int_equal(batchai_terminate(&w->front, j, &e), 1);
    assert_ends(w, j, EXEC_FAILED);
    assert_int_equal(in_state(w, j, RUN_OVER), 4);
    ok(st_event_of(w->st, &w->a, RES_JOB, j, &events, &n, &e), &e);
    for (size_t i = 0; i < n; i++)
        assert_says_not(events[i].reason ? events[i].reason : "", "has failed");
}

WORLD_TEST(test_an_array_is_deleted_with_all_of_it, world_virtual(1))
{
    struct err e = {0};
    int64_t c = idle_cluster(w, 1), j = add_array(w, c, "j", FOREVER, 3), *ids;
    size_t n;
    WAIT(w, in_state(w, j, RUN_ALLOCATED) == 3);
    delete_row(w, RES_JOB, j);
    struct job row;
    WAIT(w, st_job_by_id(w->st, &w->a, j, &row, &e) == 0);
    ok(st_run_ids_of(w->st, &w->a, RES_JOB, j, &ids, &n, &e), &e);
    assert_int_equal(n, 0);
    WAIT(w, counts(w, c).idle == 1);
}

static int jobs_there(struct world *w, const int64_t *jobs, int n)
{
    struct err e = {0};
    struct job row;
    int there = 0;
    for (int i = 0; i < n; i++)
        there += st_job_by_id(w->st, &w->a, jobs[i], &row, &e) == 1;
    return there;
}

WORLD_TEST(test_arrays_are_deleted_as_their_runs_count, world_virtual(1))
{
    int many[60];
    int64_t jobs[6];
    for (int i = 0; i < 60; i++)
        many[i] = i;
    for (int i = 0; i < 6; i++) {
        struct job j = new_job(w, 0, arena_printf(&w->a, "j%d", i));
        j.doc = "{}";
        j.node_count = 1;
        j.runs = 60;
        j.numbers = many;
        j.exec_state = EXEC_SUCCEEDED;
        jobs[i] = insert_job(w, &j);
    }
    delete_row(w, RES_EXPERIMENT, w->experiment);
    for (int before; (before = jobs_there(w, jobs, 6)) > 0;) {
        run_due(virtual_of(w));
        assert_in_range(before - jobs_there(w, jobs, 6), 0, 2); /* a turn: 100 runs, or some more */
        if (before == jobs_there(w, jobs, 6))
            virtual_step(w);
    }
}

WORLD_TEST(test_a_restart_goes_on_with_all_of_it, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1), j = add_array(w, c, "j", "fake run=60000", 3);
    WAIT(w, in_state(w, j, RUN_ALLOCATED) == 3);
    restart(w);
    assert_ends_in(w, j, EXEC_SUCCEEDED, 1);
}

/* Not one of those that its limit holds begins. */
WORLD_TEST(test_an_array_that_waits_in_vain_fails_whole, world_virtual(1))
{
    struct err e = {0};
    int64_t c = idle_cluster(w, 1), bad = add_job(w, c, "bad", JOB(BAD, .wall_s = 1000)),
            j = add_array(w, c, "j", GOOD, 1);
    const struct dependency d = {.owner_kind = RES_JOB,
                                 .owner_id = j,
                                 .awaited_kind = RES_JOB,
                                 .awaited_id = bad,
                                 .name = "bad",
                                 .wanted = AFTER_SUCCESS,
                                 .state = DEPENDENCY_OPEN};
    ok(st_dependency_add(w->st, &w->a, &d, 1, time_now_us(), &e), &e);
    assert_ends(w, j, EXEC_FAILED);
    job_says(w, j, "JobDependencyFailed");
    for (int i = 0; i < 4; i++) {
        struct run r;
        assert_int_equal(st_run_of(w->st, &w->a, RES_JOB, j, i, &r, &e), 1);
        assert_int_equal(r.attempt, 0);
    }
}

WORLD_TEST(test_those_that_wait_for_an_array_wait_for_its_last, world_virtual(1))
{
    struct err e = {0};
    int64_t c = idle_cluster(w, 1), j = add_array(w, c, "j", "fake run=20000", 1),
            after = add_job(w, c, "after", JOB(GOOD, .wall_s = 1000));
    const struct dependency d = {.owner_kind = RES_JOB,
                                 .owner_id = after,
                                 .awaited_kind = RES_JOB,
                                 .awaited_id = j,
                                 .name = "j",
                                 .wanted = AFTER_SUCCESS,
                                 .state = DEPENDENCY_OPEN};
    ok(st_dependency_add(w->st, &w->a, &d, 1, time_now_us(), &e), &e);
    WAIT(w, in_state(w, j, RUN_OVER) == 3);
    assert_int_equal(job_state(w, after), EXEC_QUEUED);
    assert_ends(w, after, EXEC_SUCCEEDED);
    assert_int_equal(job_state(w, j), EXEC_SUCCEEDED);
}
