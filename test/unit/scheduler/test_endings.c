/* SPDX-License-Identifier: MIT
 *
 * How what runs comes to an end when something is in the way: a task that does not die, a task that
 * no row knows, a disk that is full, a daemon that starts anew, resources that are deleted under
 * it. On fake nodes, in virtual time.
 */
#include <fcntl.h>

#include "virtual.h"

#include "lib/strbuf.h"
#include "scheduler/run/runs.h"
#include "storage/usage.h"

/* A job that runs. */
static int64_t start_job(struct world *w, int64_t cluster, const char *command, int nodes)
{
    int started = virtual_of(w)->started;
    int64_t j = add_job(w, cluster, "j", JOB(command, .nodes = nodes, .wall_s = 100000));
    WAIT(w, virtual_of(w)->started > started && job_state(w, j) == EXEC_RUNNING);
    return j;
}

static int still_running(struct world *w)
{
    return virtual_of(w)->started - virtual_of(w)->ended;
}

#define ENDLESS "fake run=10000000"

/* --- tasks that do not die ------------------------------------------------------------------ */

WORLD_TEST(test_a_job_whose_task_does_not_die_ends_and_its_node_is_unusable, world_virtual(1))
{
    struct err e;
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_job(w, c, ENDLESS " dying=1000000 stubborn", 1);
    assert_int_equal(batchai_terminate(&w->front, j, &e), 1);
    WAIT(w, job_ended(w, j) && counts(w, c).unusable == 1 && cluster_row(w, c).errors);
    cluster_says(w, c, "TaskNotKilled");
    assert_int_equal(still_running(w), 1);
    resize(w, c, 0);
    WAIT(w, rows_of(counts(w, c)) == 0);
    assert_int_equal(still_running(w), 0);
}

/* It ends between SIGTERM and SIGKILL, while no daemon is there. */
WORLD_TEST(test_a_job_out_of_time_is_so_after_a_restart, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j",
                        JOB("fake run=65000 exit=3 stubborn", .wall_s = 60,
                            .more = "'environmentVariables': [{'name': 'BATCHAID_JOB_RETRIES', "
                                    "'value': '1'}],"));
    WAIT(w, virtual_of(w)->started == 1);
    pass(w, 62 * SECOND);
    assert_int_equal(still_running(w), 1);
    world_stop(w);
    pass(w, 10 * SECOND);
    assert_int_equal(still_running(w), 0);
    world_start(w);
    assert_ends_in(w, j, EXEC_FAILED, 1);
    job_says(w, j, "JobTimedOut");
}

/* What a backup of the database does not know of goes on until its node is met again. */
WORLD_TEST(test_a_task_that_a_backup_does_not_know_ends_before_anything_starts, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1);
    back_up(w);
    int64_t lost = start_job(w, c, ENDLESS " dying=20000", 1);
    assert_int_equal(still_running(w), 1);
    put_back(w);
    /* It has the row id, name and attempt of the lost one. */
    int64_t j = add_job(w, c, "j", JOB("fake run=1000"));
    assert_int_equal(j, lost);
    pass(w, 10 * SECOND);
    assert_int_equal(virtual_of(w)->started, 1);
    assert_ends(w, j, EXEC_SUCCEEDED);
    assert_int_equal(virtual_of(w)->started, 2);
    assert_int_equal(virtual_of(w)->most_at_once, 1);
}

/* --- ends that cannot be written ------------------------------------------------------------ */

struct listener {
    int fds[2];
    struct strbuf text;
};

static void listen_to_log(struct world *w, struct listener *l)
{
    l->text = (struct strbuf)STRBUF_INIT;
    assert_int_equal(pipe2(l->fds, O_CLOEXEC | O_NONBLOCK), 0);
    w->log = (struct log){.fd = l->fds[1], .level = LOG_LVL_INFO};
}

/* How often the log has said so. */
static int said(struct listener *l, const char *words)
{
    char buf[4096];
    ssize_t got;
    int n = 0;
    while ((got = read(l->fds[0], buf, sizeof buf)) > 0)
        strbuf_add(&l->text, buf, (size_t)got);
    for (const char *at = l->text.len ? l->text.s : ""; (at = strstr(at, words)); at++)
        n++;
    return n;
}

static void stop_listening(struct listener *l)
{
    strbuf_free(&l->text);
    close(l->fds[0]);
    close(l->fds[1]);
}

/* Its end is told when it is on disk, and once. */
TEST(test_an_end_that_cannot_be_written_is_told_once_it_is)
{
    struct listener l;
    struct world *w = world_virtual(1);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_job(w, c, "fake run=5000", 1);
    pass(w, SECOND);
    listen_to_log(w, &l);
    set_disk_full(w, true);
    WAIT(w, said(&l, "db.transaction_lost") >= 2);
    assert_int_equal(said(&l, "run.succeeded"), 0);
    set_disk_full(w, false);
    WAIT(w, said(&l, "run.succeeded") > 0 && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).attempt, 1);
    assert_int_equal(virtual_of(w)->started, 1);
    world_free(w);
    assert_int_equal(said(&l, "run.succeeded"), 1);
    stop_listening(&l);
}

/* Queued again and given its nodes in one turn that is lost again and again: a second apart. */
TEST(test_a_requeue_that_cannot_be_written_is_tried_a_second_apart)
{
    struct listener l;
    struct world *w = world_virtual(1);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_job(w, c, "fake run=600000", 1);
    pass(w, SECOND);
    listen_to_log(w, &l);
    set_disk_full(w, true);
    fake_restart(fake_of(w, c, 0)); /* its task is lost */
    WAIT(w, said(&l, "db.transaction_lost") >= 1);
    int64_t first = virtual_of(w)->t.now_us;
    WAIT(w, said(&l, "db.transaction_lost") >= 6);
    assert_true(virtual_of(w)->t.now_us - first >= SECOND);
    set_disk_full(w, false);
    WAIT(w, job_row(w, j).attempt == 2 && virtual_of(w)->started == 2);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).attempt, 2);
    world_free(w);
    stop_listening(&l);
}

/* --- a daemon that starts anew -------------------------------------------------------------- */

WORLD_TEST(test_an_orphaned_root_goes_with_what_runs_there, world_virtual(2))
{
    struct virtual_world *v = virtual_of(w);
    int64_t c = add_cluster_of(w, "c", 1);
    start_job(w, c, ENDLESS, 1);
    const char *root = arena_strdup(&w->a, fake_name(fake_of(w, c, 0)));
    assert_true(node_provider_has_root(w->local, root));
    world_stop(w);
    lose_state(w);
    world_start(w);
    WAIT(w, !node_provider_has_root(w->local, root));
    assert_int_equal(v->started - v->ended, 0);
}

WORLD_TEST(test_terminate_survives_restart, world_virtual(2))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_job(w, c, ENDLESS " stubborn", 1);
    assert_int_equal(batchai_terminate(&w->front, j, &e), 1);
    WAIT(w, !st_has_pending(w->st));
    restart(w);
    assert_int_equal(job_state(w, j), EXEC_TERMINATING);
    WAIT(w, job_ended(w, j));
    job_says(w, j, "JobTerminated");
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(still_running(w), 0);
}

WORLD_TEST(test_deletion_survives_restart, world_virtual(4))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 2);
    start_job(w, c, ENDLESS, 2);
    ok(st_mark_deleting(w->st, RES_GROUP, w->group, time_now_us(), &e), &e);
    world_stop(w); /* before anything was done about it */
    world_start(w);
    struct resource_group g;
    WAIT(w, st_group_by_id(w->st, &w->a, w->group, &g, &e) == 0);
    assert_int_equal(still_running(w), 0);
}

WORLD_TEST(test_delete_running_job, world_virtual(2))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 2);
    int64_t j = start_job(w, c, ENDLESS, 2);
    delete_row(w, RES_JOB, j);
    struct job row;
    WAIT(w, st_job_by_id(w->st, &w->a, j, &row, &e) == 0);
    WAIT(w, counts(w, c).idle == 2);
    assert_int_equal(still_running(w), 0);
}

/* On each of three nodes a process of TensorFlow; the first node has a parameter server too. */
static int64_t add_tensorflow(struct world *w, int64_t cluster, const char *master,
                              const char *more)
{
    struct job j = new_job(w, cluster, "j");
    j.node_count = 3;
    j.doc = json(w, arena_printf(&w->a,
                                 "{'properties': {%s 'nodeCount': 3, 'toolType': 'tensorflow',"
                                 " 'tensorFlowSettings': {'pythonInterpreterPath': 'fake',"
                                 " 'pythonScriptFilePath': 's', 'masterCommandLineArgs': '%s',"
                                 " 'workerCommandLineArgs': 'run=900000',"
                                 " 'parameterServerCommandLineArgs': 'run=900000',"
                                 " 'workerCount': 3, 'parameterServerCount': 1},"
                                 " 'stdOutErrPathPrefix': '$AZ_BATCHAI_MOUNT_ROOT/share/logs',"
                                 " 'constraints': {'maxWallClockTime': 'P7D'}}}",
                                 more, master));
    return insert_job(w, &j);
}

/* The daemon restarts while it kills the other processes, because the third node is slow. Then the
 * node of the master is the last to report. */
static int64_t restart_within_its_kills(struct world *w, int64_t cluster, const char *master)
{
    int64_t j = add_tensorflow(w, cluster, master,
                               "'environmentVariables': [{'name': 'BATCHAID_JOB_RETRIES', "
                               "'value': '1:137'}],");
    WAIT(w, virtual_of(w)->started == 4);
    struct fake_node *first = fake_of(w, cluster, 0), *third = fake_of(w, cluster, 2);
    fake_set_hung(third, true);
    WAIT(w, still_running(w) == 1);
    world_stop(w);
    fake_set_hung(third, false);
    fake_set_hung(first, true);
    world_start(w);
    pass(w, 5 * SECOND);
    assert_int_equal(still_running(w), 1);
    fake_set_hung(first, false);
    WAIT(w, job_ended(w, j) && counts(w, cluster).idle == 3);
    assert_int_equal(still_running(w), 0);
    assert_int_equal(virtual_of(w)->started, 4);
    assert_int_equal(job_row(w, j).attempt, 1);
    return j;
}

WORLD_TEST(test_a_job_that_had_succeeded_does_so_after_a_restart_within_its_kills, world_virtual(3))
{
    int64_t j = restart_within_its_kills(w, idle_cluster(w, 3), "run=5000");
    assert_int_equal(job_state(w, j), EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).exit_code, 0);
}

WORLD_TEST(test_a_job_that_had_failed_keeps_its_exit_code_over_a_restart_within_its_kills,
           world_virtual(3))
{
    int64_t j = restart_within_its_kills(w, idle_cluster(w, 3), "run=5000 exit=7");
    assert_int_equal(job_state(w, j), EXEC_FAILED);
    assert_int_equal(job_row(w, j).exit_code, 7);
}

/* One node has forgotten its tasks, and the other is slow, when the daemon starts anew. */
WORLD_TEST(test_what_a_job_used_is_known_after_a_restart_within_its_cleaning, world_virtual(2))
{
    struct err e = {0};
    struct usage *rows;
    size_t n;
    int64_t c = idle_cluster(w, 2);
    virtual_of(w)->user_us = 500;
    int64_t j = add_job(w, c, "j", JOB("fake run=1000", .prep = "fake run=1000", .nodes = 2));
    WAIT(w, virtual_of(w)->started == 3);
    struct fake_node *slow = fake_of(w, c, 1);
    fake_set_hung(slow, true);
    assert_ends(w, j, EXEC_SUCCEEDED);
    pass(w, SECOND);
    restart(w);
    fake_set_hung(slow, false);
    WAIT(w, counts(w, c).idle == 2);
    ok(st_usage_of_owner(w->st, &w->a, RES_JOB, j, &rows, &n, &e), &e);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        assert_true(rows[i].used.known);
        assert_int_equal(rows[i].used.user_us, rows[i].rank == 0 ? 1000 : 500);
    }
}
