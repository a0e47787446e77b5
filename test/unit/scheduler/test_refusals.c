/* SPDX-License-Identifier: MIT
 *
 * A node that refuses what it is asked again and again, and a disk that is full when something must
 * be written down: faults that the simulation found. On fake nodes, in virtual time.
 */
#include <malloc.h>

#include "virtual.h"

#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/run/run_priv.h"
#include "scheduler/sched_priv.h"

static struct job_wish long_job(int run_s)
{
    static char command[60];
    snprintf(command, sizeof command, "fake run=%d", run_s * 1000);
    return (struct job_wish){.command = command, .wall_s = 100000};
}

static bool runs_main(struct world *w)
{
    struct virtual_world *v = virtual_of(w);
    return strstr(v->last_started, "-main") != NULL;
}

/* --- refusals ------------------------------------------------------------------------------- */

/* The link is cut after the command was started and before that was heard of: whether it runs is
 * not known. */
static int64_t start_in_doubt(struct world *w, int64_t cluster)
{
    int64_t j = add_job(w, cluster, "j", long_job(2000));
    WAIT(w, runs_main(w));
    fake_cut(fake_of(w, cluster, 0));
    return j;
}

WORLD_TEST(test_a_node_that_refuses_to_say_whether_a_command_runs_loses_its_job, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_in_doubt(w, c);
    fake_set_bad_disk(fake_of(w, c, 0), true);
    char first[120];
    snprintf(first, sizeof first, "%s", virtual_of(w)->last_started);
    WAIT(w, job_row(w, j).attempt == 2);
    assert_false(fake_runs(fake_of(w, c, 0), first)); /* what ran there was ended */
    fake_set_bad_disk(fake_of(w, c, 0), false);
    WAIT(w, virtual_of(w)->started == 2);
    assert_string_not_equal(virtual_of(w)->last_started, first);
    assert_ends(w, j, EXEC_SUCCEEDED);
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(virtual_of(w)->started, 2);
}

WORLD_TEST(test_a_job_is_let_go_by_a_node_that_goes_on_refusing, world_virtual(2))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_in_doubt(w, c);
    fake_set_refusals(fake_of(w, c, 0), 1000);
    WAIT(w, counts(w, c).unusable == 1);
    assert_int_equal(virtual_of(w)->started, 1);
    resize(w, c, 2);
    assert_ends_in(w, j, EXEC_SUCCEEDED, 2);
    assert_int_equal(virtual_of(w)->started, 2);
}

static struct fake_node *where_it_runs(struct world *w, int64_t cluster, const char *task)
{
    return fake_runs(fake_of(w, cluster, 0), task) ? fake_of(w, cluster, 0)
                                                   : fake_of(w, cluster, 1);
}

/* What the first attempt lost there counts against the node in the second: it is nearly given up,
 * and then nobody would end what it may be running before the job begins elsewhere. */
WORLD_TEST(test_a_second_attempt_is_ended_too_before_its_node_is_given_up, world_virtual(2))
{
    int64_t c = idle_cluster(w, 2);
    int64_t other = add_job(w, c, "other", long_job(2000));
    WAIT(w, runs_main(w));
    int64_t j = add_job(w, c, "j", long_job(2000));
    WAIT(w, virtual_of(w)->started == 2);
    struct fake_node *n = where_it_runs(w, c, virtual_of(w)->last_started);
    for (int attempt = 1; attempt <= 2; attempt++) {
        char task[120];
        snprintf(task, sizeof task, "%s", virtual_of(w)->last_started);
        fake_cut(n);
        fake_set_bad_disk(n, true);
        WAIT(w, job_row(w, j).attempt == attempt + 1 || job_state(w, j) == EXEC_QUEUED);
        assert_false(fake_runs(n, task));
        fake_set_bad_disk(n, false);
        if (attempt == 2)
            terminate(w, other);
        WAIT(w, virtual_of(w)->started == 2 + attempt);
    }
    assert_ends_in(w, j, EXEC_SUCCEEDED, 3);
}

WORLD_TEST(test_a_node_that_refuses_for_a_moment_keeps_its_job, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_in_doubt(w, c);
    fake_set_refusals(fake_of(w, c, 0), 1000);
    pass(w, SECOND);
    fake_set_refusals(fake_of(w, c, 0), 0);
    assert_ends_in(w, j, EXEC_SUCCEEDED, 1);
    assert_int_equal(virtual_of(w)->started, 1);
}

/* It is sent SIGKILL five seconds after it was terminated, and only that ends it. */
static int64_t stubborn_job_is_terminated(struct world *w, int64_t cluster)
{
    const struct job_wish wish = {.command = "fake run=9000000 stubborn", .wall_s = 100000};
    int64_t j = add_job(w, cluster, "j", wish);
    WAIT(w, runs_main(w));
    pass(w, SECOND);
    terminate(w, j);
    pass(w, 4 * SECOND);
    return j;
}

WORLD_TEST(test_a_kill_that_a_node_refuses_for_a_moment_is_repeated, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = stubborn_job_is_terminated(w, c);
    fake_set_refusals(fake_of(w, c, 0), 1000);
    pass(w, 10 * SECOND);
    fake_set_refusals(fake_of(w, c, 0), 0);
    assert_int_equal(virtual_of(w)->ended, 0);
    assert_int_equal(job_state(w, j), EXEC_TERMINATING);
    WAIT(w, job_ended(w, j));
    assert_int_equal(virtual_of(w)->ended, 1);
    job_says(w, j, "JobTerminated");
    WAIT(w, counts(w, c).idle + counts(w, c).unusable == 1);
    assert_int_equal(counts(w, c).idle, 1);
}

WORLD_TEST(test_a_node_that_goes_on_refusing_to_kill_is_given_up_with_what_it_said,
           world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = stubborn_job_is_terminated(w, c);
    fake_set_refusals(fake_of(w, c, 0), 1000);
    WAIT(w, job_ended(w, j));
    job_says(w, j, "JobTerminated");
    WAIT(w, counts(w, c).unusable == 1);
    cluster_says(w, c, "TaskNotKilled", "refuses to kill it");
    /* Nothing new starts there before it is gone. */
    int64_t next = add_job(w, c, "next", long_job(1));
    fake_set_refusals(fake_of(w, c, 0), 0);
    resize(w, c, 0);
    WAIT(w, rows_of(counts(w, c)) == 0);
    resize(w, c, 1);
    assert_ends(w, next, EXEC_SUCCEEDED);
    assert_int_equal(virtual_of(w)->ended, 2);
}

static size_t lose_links(struct world *w, struct fake_node *node, int times)
{
    for (int i = 0; i < times; i++) {
        fake_cut(node);
        pass(w, 5 * SECOND);
    }
    return mallinfo2().uordblks;
}

/* What is asked for anew over each link goes with the link. */
WORLD_TEST(test_a_run_does_not_grow_with_the_links_that_it_loses, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_in_doubt(w, c);
    struct fake_node *node = fake_of(w, c, 0);
    size_t before = lose_links(w, node, 20), after = lose_links(w, node, 200);
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    assert_in_range(after, 0, before + 100000);
    assert_ends_in(w, j, EXEC_SUCCEEDED, 1);
}

/* Each try waits for a while, and leaves a process behind if the agent hangs in the kernel. */
WORLD_TEST(test_a_local_node_whose_agent_hangs_is_given_up_soon_and_heals, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    add_job(w, c, "j", long_job(2000));
    WAIT(w, runs_main(w));
    struct fake_node *node = fake_of(w, c, 0);
    int64_t since = virtual_of(w)->t.now_us;
    fake_set_hung(node, true);
    WAIT(w, counts(w, c).unusable == 1 && cluster_row(w, c).errors);
    assert_true(virtual_of(w)->t.now_us - since < 180 * SECOND);
    cluster_says(w, c, "has not answered");
    fake_set_hung(node, false);
    WAIT(w, counts(w, c).idle == 1);
}

/* Each of its agents answers, and then hangs at the first thing that it has to do. */
WORLD_TEST(test_a_node_whose_every_agent_hangs_after_its_hello_is_given_up, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    add_job(w, c, "j", long_job(2000));
    WAIT(w, runs_main(w));
    struct fake_node *node = fake_of(w, c, 0);
    const struct node_rt *rt = node_rt_find(w->s->fleet, node_row(w, c, 0).id);
    int64_t since = virtual_of(w)->t.now_us;
    while (virtual_of(w)->t.now_us - since < 600 * SECOND && counts(w, c).unusable == 0) {
        WAIT(w, rt->contact.state == CONNECTION_READY || counts(w, c).unusable == 1);
        fake_set_hung(node, true);
        WAIT(w, rt->contact.state != CONNECTION_READY);
        fake_set_hung(node, false);
    }
    assert_true(virtual_of(w)->t.now_us - since < 180 * SECOND);
    WAIT(w, cluster_row(w, c).errors);
    cluster_says(w, c, "has not answered");
    WAIT(w, counts(w, c).idle == 1);
}

/* --- a node whose disk is full -------------------------------------------------------------- */

WORLD_TEST(test_jobs_wait_while_the_disk_of_their_node_is_full, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1), jobs[3];
    static const char *const names[] = {"a", "b", "c"};
    WAIT(w, counts(w, c).idle == 1);
    fake_set_full(fake_of(w, c, 0), true);
    for (size_t i = 0; i < 3; i++)
        jobs[i] = add_job(w, c, names[i], long_job(1));
    WAIT(w, counts(w, c).unusable == 1 && cluster_row(w, c).errors);
    cluster_says(w, c, "NodeDiskUnusable", "No space left on device");
    pass(w, 600 * SECOND);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(job_state(w, jobs[i]), EXEC_QUEUED);
        assert_true(job_row(w, jobs[i]).attempt <= 1);
    }
    fake_set_full(fake_of(w, c, 0), false);
    for (size_t i = 0; i < 3; i++) {
        assert_ends(w, jobs[i], EXEC_SUCCEEDED);
    }
    WAIT(w, counts(w, c).idle == 1 && !cluster_row(w, c).errors);
}

WORLD_TEST(test_a_node_is_not_prepared_while_its_disk_is_full, world_virtual(2))
{
    int64_t c = idle_cluster(w, 1);
    fake_set_full(fake_of(w, c, 0), true);
    int64_t j = add_job(w, c, "j", long_job(1));
    WAIT(w, counts(w, c).unusable == 1);
    /* Somebody asks for it. */
    resize(w, c, 2);
    assert_ends(w, j, EXEC_SUCCEEDED); /* on the other one */
    assert_int_equal(counts(w, c).unusable + counts(w, c).preparing, 1);
    fake_set_full(fake_of(w, c, 0), false);
    WAIT(w, counts(w, c).idle == 2);
}

/* Whether the job's command has ended, and the daemon has not judged the failed start yet. */
static bool end_is_unjudged(struct world *w, int64_t job)
{
    struct err e = {0};
    struct run r;
    assert_int_equal(st_run_of(w->st, &w->a, RES_JOB, job, 0, &r, &e), 1);
    const struct live_run *run = id_map_find(&w->s->runs->map, r.id);
    return run && run->tasks[0].unjudged;
}

/* A job whose node's disk is full only for some requests of the start, `after` so many
 * microseconds, and not for the command, which ends at once. If the end of the command is
 * reported before the failed start is judged, the link is cut. True: then the job succeeded. */
static bool succeeds_over_the_next_link(struct world *w, int64_t cluster, int64_t after)
{
    struct fake_node *node = fake_of(w, cluster, 0);
    const char *name = arena_printf(&w->a, "j%lld", (long long)after);
    int64_t j = add_job(w, cluster, name, long_job(0));
    pass(w, after);
    fake_set_full(node, true);
    pass(w, 1000);
    fake_set_full(node, false);
    for (int i = 0; i < 1000 && !job_ended(w, j) && !end_is_unjudged(w, j); i++)
        pass(w, 50);
    bool unjudged = end_is_unjudged(w, j);
    if (unjudged)
        fake_cut(node);
    WAIT(w, job_ended(w, j) && counts(w, cluster).idle == 1);
    return unjudged && job_state(w, j) == EXEC_SUCCEEDED;
}

WORLD_TEST(test_a_command_that_ended_while_its_start_had_failed_is_judged_over_the_next_link,
           world_virtual(1))
{
    int64_t c = idle_cluster(w, 1);
    int met = 0;
    for (int i = 0; i < 1000 && met < 3; i++)
        met += succeeds_over_the_next_link(w, c, 10 * i);
    assert_int_equal(met, 3);
}

/* --- a full disk ---------------------------------------------------------------------------- */

/* A job of so many seconds runs for one of them; then the disk is full. */
static int64_t start_before_the_disk_is_full(struct world *w, int64_t cluster, int run_s)
{
    int64_t j = add_job(w, cluster, "j", long_job(run_s));
    WAIT(w, job_state(w, j) == EXEC_RUNNING && runs_main(w));
    pass(w, SECOND);
    set_disk_full(w, true);
    return j;
}

WORLD_TEST(test_an_end_that_a_full_disk_refuses_is_written_later, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_before_the_disk_is_full(w, c, 5);
    pass(w, 60 * SECOND);
    assert_int_equal(virtual_of(w)->ended, 1);
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    set_disk_full(w, false);
    assert_ends(w, j, EXEC_SUCCEEDED);
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(virtual_of(w)->started, 1);
}

/* Its command has ended well, which could not be written; the first thing that can is that it is to
 * be terminated. */
WORLD_TEST(test_a_job_is_terminated_whose_end_a_full_disk_kept_from_being_written, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_before_the_disk_is_full(w, c, 5);
    pass(w, 60 * SECOND);
    assert_int_equal(virtual_of(w)->ended, 1);
    set_disk_full(w, false);
    terminate(w, j);
    assert_ends(w, j, EXEC_FAILED);
    job_says(w, j, "JobTerminated");
    WAIT(w, counts(w, c).idle == 1);
}

/* That it is to stop is believed until the turn ends, and then it was never written. */
WORLD_TEST(test_a_terminate_that_a_full_disk_takes_back_leaves_a_job_that_ends, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = start_before_the_disk_is_full(w, c, 600);
    terminate(w, j);
    pass(w, 30 * SECOND);
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    set_disk_full(w, false);
    WAIT(w, job_ended(w, j));
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(virtual_of(w)->started, 1);
}

/* Its job is told at once and ends; nobody may have the node before it is written that it is lost.
 */
WORLD_TEST(test_a_node_that_is_lost_while_the_disk_is_full_is_lost, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    add_job(w, c, "j", long_job(100000));
    WAIT(w, runs_main(w));
    pass(w, SECOND);
    char first[120];
    snprintf(first, sizeof first, "%s", virtual_of(w)->last_started);
    struct fake_node *node = fake_of(w, c, 0);
    add_job(w, c, "next", long_job(1));
    set_disk_full(w, true);
    fake_set_down(node, true, 0);
    pass(w, 600 * SECOND);
    fake_set_down(node, false, 0);
    set_disk_full(w, false);
    WAIT(w, virtual_of(w)->started == 2);
    assert_false(fake_runs(node, first));
}

/* It is said once the disk has room, and until then nothing is tried anew. */
WORLD_TEST(test_a_node_that_fails_to_be_prepared_while_the_disk_is_full_waits, world_virtual(1))
{
    const struct cluster_wish wish = {
        .scale = {.target = 1},
        .setup = "'setupTask': {'commandLine': 'fake run=5000 exit=3', 'stdOutErrPathPrefix': "
                 "'$AZ_BATCHAI_MOUNT_ROOT/share/logs'}"};
    int64_t c = add_cluster(w, "c", wish);
    WAIT(w, virtual_of(w)->started == 1);
    set_disk_full(w, true);
    pass(w, 60 * SECOND);
    assert_int_equal(virtual_of(w)->started, 1);
    assert_true(fleet_counts(sched_fleet(w->s))->opened <= 2);
    assert_int_equal(counts(w, c).preparing, 1);
    set_disk_full(w, false);
    WAIT(w, counts(w, c).unusable == 1);
}
