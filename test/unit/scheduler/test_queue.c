/* SPDX-License-Identifier: MIT
 *
 * What waits in a cluster's queue when something in it is deleted, or is too large; and that a
 * deletion of many goes in steps.
 */
#include "model/spec.h"
#include "test/unit/scheduler/virtual.h"
#include "test/unit/support/skip.h"

/* Two nodes, one of them busy; a job of two nodes waits, and one of one node behind it. */
struct jam {
    struct world *w;
    int64_t cluster, busy, large, small;
};

static struct jam jam_new(void)
{
    struct world *w = world_virtual(2);
    struct jam j = {.w = w, .cluster = add_cluster_of(w, "c", 2)};
    j.busy = add_job(w, j.cluster, "busy", JOB("fake run=600000"));
    WAIT(w, job_state(w, j.busy) == EXEC_RUNNING && counts(w, j.cluster).idle == 1);
    j.large = add_job(w, j.cluster, "large", JOB("fake run=1000", .nodes = 2));
    j.small = add_job(w, j.cluster, "small", JOB("fake run=1000"));
    turn(w);
    turn(w);
    assert_int_equal(job_state(w, j.small), EXEC_QUEUED);
    return j;
}

TEST(test_a_deleted_job_makes_way)
{
    struct jam j = jam_new();
    delete_row(j.w, RES_JOB, j.large);
    WAIT(j.w, job_state(j.w, j.small) == EXEC_SUCCEEDED);
    world_free(j.w);
}

static int64_t queued_in(struct world *w, int64_t cluster)
{
    int64_t n = 0;
    struct err e = {0};
    ok(st_run_queue_demand(w->st, cluster, 1000, &n, &e), &e);
    return n;
}

static int64_t jobs_left(struct world *w)
{
    struct arena a;
    struct job_rows rows;
    struct err e = {0};
    arena_init(&a);
    ok(st_job_list_shown(w->st, &a, w->experiment, &(struct st_page){.limit = 10000}, &rows, &e),
       &e);
    arena_free(&a);
    return (int64_t)rows.n;
}

static int64_t jobs_that_refer_to(struct world *w, int64_t cluster)
{
    struct arena a;
    struct job_rows rows;
    struct err e = {0};
    int64_t n = 0;
    arena_init(&a);
    ok(st_job_oldest(w->st, &a, &(struct st_page){.limit = 10000}, &rows, &e), &e);
    for (size_t i = 0; i < rows.n; i++)
        n += rows.items[i].cluster_id == cluster;
    arena_free(&a);
    return n;
}

#define MANY         1000
#define PER_TURN_MAX 100

/* Bounded work in each turn, and as many turns as the jobs need: not quadratic. */
WORLD_TEST(test_many_jobs_are_deleted_in_steps, world_new(1))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 0);
    for (int i = 0; i < MANY; i++)
        add_job(w, c, arena_printf(&w->a, "j%d", i), JOB("true"));
    turn(w);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    ok(st_mark_deleting(w->st, RES_GROUP, w->group, time_now_us(), &e), &e);
    assert_int_equal(queued_in(w, c), MANY); /* the mark is one row, however much it dooms */
    batchai_wake_deletions(&w->front);
    int64_t left = MANY, now;
    for (int steps = 0; left > 0; left = now, steps++) { /* turns that wait for a sync are none */
        assert_true(steps <= 4 * MANY / PER_TURN_MAX);
        WAIT(w, (now = jobs_left(w)) < left); /* looks after two turns: prepare and check */
        assert_true(left - now <= 2 * PER_TURN_MAX);
        assert_int_equal(queued_in(w, c), 0); /* nothing is started of what goes */
    }
    struct resource_group g;
    WAIT(w, st_group_by_id(w->st, &w->a, w->group, &g, &e) == 0);
}

/* A cluster may have run any number of jobs, which stay. */
WORLD_TEST(test_a_cluster_leaves_its_ended_jobs_in_steps, world_virtual(1))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 1), last = 0;
    for (int i = 0; i < 3 * PER_TURN_MAX; i++)
        last = add_job(w, c, arena_printf(&w->a, "j%d", i), JOB("fake run=1"));
    WAIT(w, job_ended(w, last));
    delete_row(w, RES_CLUSTER, c);
    int64_t left = 3 * PER_TURN_MAX, now;
    for (; left > 0; left = now) {
        WAIT(w, (now = jobs_that_refer_to(w, c)) < left);
        assert_true(left - now <= PER_TURN_MAX);
    }
    struct cluster gone;
    WAIT(w, st_cluster_by_id(w->st, &w->a, c, &gone, &e) == 0);
    assert_int_equal(jobs_left(w), 3 * PER_TURN_MAX);
}

WORLD_TEST(test_a_job_too_large_stands_aside_and_says_so, world_virtual(2))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t large = add_job(w, c, "large", JOB("fake run=1000", .nodes = 2));
    int64_t small = add_job(w, c, "small", JOB("fake run=1000"));
    WAIT(w, job_state(w, small) == EXEC_SUCCEEDED);
    assert_int_equal(job_state(w, large), EXEC_QUEUED);
    resize(w, c, 2);
    WAIT(w, job_state(w, large) == EXEC_SUCCEEDED);
}

/* As the API stores it with each job. */
static const char with_mounts[] =
    "'" JOB_DOC_CLUSTER_MOUNTS "': {'azureFileShares': [{'accountName': 'acct', 'azureFileUrl': "
    "'https://acct.file.core.windows.net/share', 'relativeMountPath': 'share'}]},";

static void told_line(struct world *w, int64_t job, const char *line, int times)
{
    const char *at;
    int n = 0;
    for (at = log_of(w, job); (at = strstr(at, line)); at++)
        n++;
    assert_int_equal(n, times);
}

static void told(struct world *w, int64_t job, int times)
{
    told_line(w, job, "waits: it needs 2 nodes, but cluster c is scaled to 1", times);
}

/* Once for each size of the cluster, however often the cluster is looked at. */
WORLD_TEST(test_it_is_said_once, world_new(2))
{
    skip_without_openat2(); /* a log on a share is opened by it */
    make_share(w);
    int64_t c = idle_cluster(w, 2);
    int64_t busy = add_job(w, c, "busy", JOB("sleep 600", .nodes = 2));
    WAIT(w, job_state(w, busy) == EXEC_RUNNING);
    int64_t large = add_job(w, c, "large", JOB("true", .nodes = 2, .more = with_mounts));
    turn(w);
    told(w, large, 0);
    resize_by(w, c, 1, DEALLOC_WAIT_FOR_COMPLETION);
    WAIT(w, strstr(log_of(w, large), "waits"));
    for (int i = 0; i < 5; i++) {
        sched_wake_pool(w->s, c);
        turn(w);
    }
    told(w, large, 1);
    struct cluster row = cluster_row(w, c);
    struct job j = job_row(w, add_job(w, c, "new", JOB("true", .nodes = 2, .more = with_mounts)));
    batchai_job_queued(&w->front, &row, &j);
    WAIT(w, strstr(log_of(w, j.id), "waits"));
    told(w, j.id, 1);
}

static struct world *world_with_a_share(int local_nodes)
{
    struct world *w = world_new(local_nodes);
    make_share(w);
    return w;
}

#define NOT_TO_BE_HAD                                                                              \
    "waits: it needs 2 nodes, but cluster c has 1 for jobs now, 1 not available; its errors say "  \
    "why, and the jobs behind this one wait too"

/* It fits the cluster's size, but not what there is: all behind it wait, and it says so. */
TEST(test_a_job_whose_nodes_cannot_be_had_says_so)
{
    skip_without_openat2();
    struct world *w = world_with_a_share(2);
    int64_t other = add_cluster_of(w, "other", 1);
    WAIT(w, counts(w, other).idle == 1);
    int64_t c = add_cluster_of(w, "c", 2);
    int64_t large = add_job(w, c, "large", JOB("true", .nodes = 2, .more = with_mounts));
    int64_t small = add_job(w, c, "small", JOB("true", .more = with_mounts));
    WAIT(w, strstr(log_of(w, large), "waits"));
    told_line(w, large, NOT_TO_BE_HAD, 1);
    WAIT(w, counts(w, c).idle == 1);
    for (int i = 0; i < 5; i++) {
        sched_wake_pool(w->s, c);
        turn(w);
    }
    assert_int_equal(job_state(w, small), EXEC_QUEUED);
    assert_says_not(log_of(w, small), "waits");
    resize(w, other, 0);
    WAIT(w, job_state(w, small) == EXEC_SUCCEEDED);
    assert_int_equal(job_state(w, large), EXEC_SUCCEEDED);
    told_line(w, large, NOT_TO_BE_HAD, 1);
    world_free(w);
}

/* The second node's set-up finds what the first one's made. */
TEST(test_a_job_whose_nodes_are_unusable_says_so)
{
    skip_without_openat2();
    struct world *w = world_with_a_share(2);
    const char *setup =
        arena_printf(&w->a,
                     "'setupTask': {'commandLine': 'mkdir %s', 'stdOutErrPathPrefix': "
                     "'$AZ_BATCHAI_MOUNT_ROOT/share'}, " SHARE,
                     path(w, "once"));
    int64_t c = add_cluster(w, "c", (struct cluster_wish){.scale = {.target = 2}, .setup = setup});
    WAIT(w, counts(w, c).idle == 1 && counts(w, c).unusable == 1);
    int64_t large = add_job(w, c, "large", JOB("true", .nodes = 2, .more = with_mounts));
    WAIT(w, strstr(log_of(w, large), "waits"));
    told_line(w, large, "cluster c has 1 for jobs now, 1 cannot be used; its errors say why", 1);
    world_free(w);
}

/* Else thousands of jobs in a cluster that is scaled up later cost as many files. */
WORLD_TEST(test_only_the_first_are_told, world_new(1))
{
    skip_without_openat2();
    enum { JOBS = 70, TOLD = 64 };
    make_share(w);
    int64_t c = add_cluster_of(w, "c", 0), id[JOBS];
    turn(w);
    struct cluster row = cluster_row(w, c);
    for (int i = 0; i < JOBS; i++) {
        id[i] = add_job(w, c, arena_printf(&w->a, "job%d", i), JOB("true", .more = with_mounts));
        struct job j = job_row(w, id[i]);
        batchai_job_queued(&w->front, &row, &j);
    }
    WAIT(w, strstr(log_of(w, id[TOLD - 1]), "waits"));
    resize(w, c, 1);
    WAIT(w, job_state(w, id[JOBS - 1]) == EXEC_SUCCEEDED);
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(strstr(log_of(w, id[i]), "waits") != NULL, i < TOLD);
}
