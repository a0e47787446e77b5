/* SPDX-License-Identifier: MIT
 *
 * The record of use: written once with the end of each allocation, and equal over every cut of
 * time.
 */
#include "storage/detachment.h"
#include "storage/tallies.h"
#include "storage/usage.h"
#include "test/unit/storage/batch_fixture.h"

#define HOUR_US (INT64_C(3600) * 1000000)

/* A node with 4 GPUs, and a job that holds the whole of it from `begin_us`. */
static int64_t add_node(struct fx *f)
{
    int64_t id = fx_add_node(f, f->cluster, 1, NODE_IDLE);
    const struct capacity has = {.slots = 4, .gpus = 4, .cores = 8, .memory = 1000};
    ok(f, st_node_set_capacity(f->st, id, &has, "[{\"model\": \"V100\"}]", &f->e));
    return id;
}

static struct allocation hold(struct fx *f, int64_t job, int64_t node, int64_t begin_us)
{
    struct run r = fx_run_of(f, job);
    const struct allocation al = {.run_id = r.id,
                                  .attempt = r.attempt,
                                  .node_id = node,
                                  .node_name = "tvm-1",
                                  .takes = {.slots = 4, .gpus = 4, .cores = 8, .memory = 1000},
                                  .state = ALLOCATION_HELD,
                                  .task_prefix = "p-",
                                  .created_us = begin_us};
    ok(f, st_allocation_insert(f->st, &al, 1, &f->e));
    return al;
}

static void add(void *ctx, const struct usage_subject *s, const struct usage_sums *sums)
{
    assert_string_equal(s->gpu, "V100");
    assert_string_equal(s->experiment, "Exp");
    usage_add(ctx, sums);
}

static struct usage_sums cut(struct fx *f, int64_t from_us, int64_t to_us)
{
    struct usage_sums sums = {0};
    ok(f, st_usage_each(f->st, from_us / 1000, to_us / 1000, T0 / 1000 + 400 * USAGE_DAY_MS, add,
                        &sums, &f->e));
    return sums;
}

static const struct usage_measured some = {.known = true,
                                           .user_us = 5000001,
                                           .kernel_us = 7,
                                           .memory_peak = 900,
                                           .read_bytes = 11,
                                           .write_bytes = 13};

static void end(struct fx *f, const struct allocation *al, int64_t now_us, bool again)
{
    const struct allocation_end how = {
        .to = ALLOCATION_RELEASED, .now_us = now_us, .again = again, .used = some};
    ok(f, st_allocation_move(f->st, al, &how, &f->e));
}

DB_TEST(test_the_end_of_an_allocation_writes_its_record)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0 + 5000000);
    end(f, &al, T0 + 65000000, false);
    struct usage *rows;
    size_t n;
    ok(f, st_usage_of_owner(f->st, &f->a, RES_JOB, job, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(usage_gpu_ms(&rows[0]), 240000);
    assert_int_equal(rows[0].end_ms - rows[0].begin_ms, 60000);
    assert_int_equal(rows[0].wait_ms, 5000);
    assert_int_equal(rows[0].used.user_us, 5000001);
    assert_string_equal(rows[0].name, "j1");
    refused(f, fx_release(f, &al, ALLOCATION_RELEASED, T0), ERR_CONFLICT);
    assert_int_equal(cut(f, 0, T0 * 2).gpu_ms, 240000); /* once */
    assert_int_equal(cut(f, 0, T0 * 2).runs, 1);
}

static int sweep(struct fx *f, int limit)
{
    int gone;
    ok(f, st_usage_sweep(f->st, limit, &gone, &f->e));
    return gone;
}

/* What has not ended leaves no record when its group was detached. */
DB_TEST(test_a_reset_takes_the_record_along)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al;
    for (int i = 0; i < 3; i++) {
        al = hold(f, i == 0 ? job : fx_add_job(f, i == 1 ? "j2" : "j3"), node, T0);
        end(f, &al, T0 + 50 * HOUR_US, false);
    }
    al = hold(f, fx_add_job(f, "j4"), node, T0 + 50 * HOUR_US);
    ok(f, st_usage_detach(f->st, SUB, "other", &f->e));
    assert_int_equal(sweep(f, 2), 0);
    assert_int_equal(cut(f, 0, T0 * 2).runs, 3);
    ok(f, st_usage_detach(f->st, SUB, "demo", &f->e));
    ok(f, st_group_detach(f->st, f->group, T0, &f->e));
    assert_int_equal(cut(f, 0, T0 * 2).node_ms, 0);
    assert_int_equal(cut(f, T0 + HOUR_US, T0 + 60 * HOUR_US).node_ms, 0);
    end(f, &al, T0 + 51 * HOUR_US, false);
    assert_int_equal(cut(f, 0, T0 * 2).runs, 0);
    assert_int_equal(sweep(f, 2), 2);
    assert_int_equal(sweep(f, 2), 1);
    assert_int_equal(sweep(f, 2), 0);
}

/* Of each GPU on average; there are four. Before the end as far as it was noted. */
DB_TEST(test_what_samples_saw_of_gpus)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0), *back;
    size_t n;
    ok(f, st_allocation_sampled(f->st, al.run_id, al.attempt, 0, 600000000, 300000000, &f->e));
    ok(f, st_allocation_of_run(f->st, &f->a, al.run_id, al.attempt, &back, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(back->busy_us, 600000000);
    assert_int_equal(back->idle_us, 300000000);
    struct usage_live *live;
    ok(f, st_usage_live_of(f->st, &f->a, RES_JOB, job, &live, &n, &f->e));
    assert_int_equal(live->row.busy_ms, 4 * 600000);
    assert_int_equal(live->row.idle_ms, 4 * 300000);
    const struct allocation_end how = {.to = ALLOCATION_RELEASED,
                                       .now_us = T0 + HOUR_US,
                                       .busy_us = 1800000000,
                                       .idle_us = 700000000};
    ok(f, st_allocation_move(f->st, &al, &how, &f->e));
    struct usage_sums sums = cut(f, 0, T0 * 2);
    assert_int_equal(sums.busy_ms, 4 * 1800000);
    assert_int_equal(sums.idle_ms, 4 * 700000);
    assert_int_equal(cut(f, 0, T0 + HOUR_US / 2).busy_ms + cut(f, T0 + HOUR_US / 2, T0 * 2).busy_ms,
                     sums.busy_ms);
}

static struct pool_tally live(struct fx *f, int64_t since_us, int64_t now_us)
{
    struct pool_tally *pools;
    struct owner_tally *owners;
    size_t n;
    ok(f, st_pool_tallies(f->st, &f->a, since_us / 1000, now_us / 1000, 0, INT64_MAX, &pools, &n,
                          &f->e));
    assert_int_equal(n, 1);
    ok(f, st_owner_tallies(f->st, &f->a, since_us / 1000, now_us / 1000, 0, INT64_MAX, &owners, &n,
                           &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(owners->held_ms, pools->held_ms);
    assert_int_equal(owners->busy_ms, pools->busy_ms);
    assert_int_equal(owners->idle_ms, pools->idle_ms);
    return *pools;
}

/* For metrics, which count from the start of the daemon. */
DB_TEST(test_what_samples_have_seen_of_live_runs)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0);
    assert_int_equal(live(f, T0, T0).busy_ms, 0);
    ok(f, st_allocation_sampled(f->st, al.run_id, al.attempt, 0, HOUR_US / 2, HOUR_US / 4, &f->e));
    struct pool_tally all = live(f, T0, T0 + HOUR_US);
    assert_int_equal(all.held_ms, 4 * 3600000);
    assert_int_equal(all.busy_ms, 4 * 1800000);
    assert_int_equal(all.idle_ms, 4 * 900000);
    struct pool_tally half = live(f, T0 + HOUR_US / 2, T0 + HOUR_US);
    assert_int_equal(half.busy_ms, 2 * 1800000);
    assert_int_equal(half.idle_ms, 2 * 900000);
    struct pool_tally early = live(f, T0, T0 + HOUR_US / 2); /* the clock was set back */
    assert_int_equal(early.busy_ms, early.held_ms);
    assert_int_equal(early.idle_ms, 0);
    assert_int_equal(live(f, T0 + 2 * HOUR_US, T0 + HOUR_US).busy_ms, 0);
    end(f, &al, T0 + HOUR_US, false);
}

/* The clock of the daemon may be set while it samples. */
DB_TEST(test_samples_of_more_time_than_there_was)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0);
    const struct allocation_end how = {.to = ALLOCATION_RELEASED,
                                       .now_us = T0 + HOUR_US,
                                       .busy_us = 3 * HOUR_US / 4,
                                       .idle_us = INT64_MAX};
    ok(f, st_allocation_move(f->st, &al, &how, &f->e));
    struct usage_sums sums = cut(f, 0, T0 * 2);
    assert_int_equal(sums.busy_ms, 3 * 3600000);
    assert_int_equal(sums.busy_ms + sums.idle_ms, sums.gpu_ms);
}

DB_TEST(test_cuts_of_time_add_up)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0);
    end(f, &al, T0 + 70 * HOUR_US + 123457, true);
    struct usage_sums whole = cut(f, 0, T0 * 2), sum = {0};
    assert_int_equal(whole.gpu_ms, 4 * (70 * 3600000 + 123));
    assert_int_equal(whole.lost_ms, whole.gpu_ms);
    assert_int_equal(whole.runs, 0);
    assert_int_equal(whole.attempts, 1);
    int64_t at = T0 - HOUR_US;
    for (int64_t step = 1; at < T0 + 100 * HOUR_US; step++) {
        int64_t to = at + step * 3333333333;
        struct usage_sums more = cut(f, at, to);
        usage_add(&sum, &more);
        at = to;
    }
    assert_memory_equal(&sum, &whole, sizeof sum);
}

DB_TEST(test_what_has_not_ended_counts_until_now)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    hold(f, job, node, T0);
    assert_int_equal(cut(f, 0, T0 + HOUR_US).gpu_ms, 4 * 3600000);
    assert_int_equal(cut(f, 0, T0 + HOUR_US).attempts, 0);
}

DB_TEST(test_a_clock_that_goes_back_gives_nothing)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0);
    end(f, &al, T0 - HOUR_US, false);
    struct usage_sums s = cut(f, 0, T0 * 2);
    assert_int_equal(s.gpu_ms, 0);
    assert_int_equal(s.runs, 1);
    assert_int_equal(s.user_us, some.user_us);
}

/* Each day of a record has a sum, and 20,000 of them would be written at once. */
DB_TEST(test_a_clock_of_1970_gives_few_days)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f), now = loop_wall_us(f->tools);
    struct allocation al = hold(f, job, node, HOUR_US);
    end(f, &al, now + 50 * HOUR_US, false);
    struct usage_total *days;
    size_t n;
    ok(f, st_usage_of_days(f->st, &f->a, 0, usage_day(now / 1000), &days, &n, &f->e));
    assert_int_equal(n, 0);
    struct usage_sums s = cut(f, 0, now * 2);
    assert_in_range(s.node_ms, 0, 51 * HOUR_US / 1000);
    assert_int_equal(s.runs, 1);
}

DB_TEST(test_what_began_at_a_clock_of_1970_and_has_not_ended_gives_few_days)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f), now = loop_wall_us(f->tools);
    (void)hold(f, job, node, HOUR_US);
    int64_t later_ms = (now + 50 * HOUR_US) / 1000;
    struct usage_sums sums = {0};
    ok(f, st_usage_each(f->st, 0, later_ms, later_ms, add, &sums, &f->e));
    assert_in_range(sums.node_ms, 1, 51 * HOUR_US / 1000);
}

DB_TEST(test_a_job_queued_at_a_clock_of_1970_has_not_waited_for_decades)
{
    struct job j = fx_job(f, "j1");
    int64_t node = add_node(f), job;
    j.created_us = HOUR_US;
    ok(f, st_job_insert(f->st, &j, NULL, &job, &f->e));
    struct allocation al = hold(f, job, node, T0);
    end(f, &al, T0 + HOUR_US, false);
    assert_int_equal(cut(f, 0, T0 * 2).wait_ms, 0);
}

struct usage_ending {
    struct fx *f;
    const struct allocation *al;
    int rc;
};

static int end_in(struct storage *st, void *ctx, struct err *e)
{
    const struct usage_ending *x = ctx;
    (void)st;
    (void)e;
    end(x->f, x->al, T0 + HOUR_US, false);
    return x->rc;
}

/* Of the group, and of the owner. */
static int64_t counted(struct fx *f)
{
    size_t n;
    const struct usage_counted *all = st_usage_counted(f->st, &f->a, &n);
    for (size_t i = 1; i < n; i++)
        assert_int_equal(all[i].sums.gpu_ms, all[0].sums.gpu_ms);
    return n == 0 ? -1 : all[0].sums.gpu_ms;
}

DB_TEST(test_an_end_that_is_undone_is_not_counted)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0);
    assert_false(fx_flush(f).failed);
    st_usage_count_from(f->st, f->tools, 0);
    struct usage_ending undone = {f, &al, -1}, whole = {f, &al, 0};
    assert_int_equal(st_tx(f->st, "part", end_in, &undone, &f->e), -1);
    assert_int_equal(counted(f), 0);
    assert_int_equal(st_whole(f->st, end_in, &undone, &f->e), -1);
    assert_true(fx_flush(f).failed); /* its turn */
    assert_int_equal(counted(f), 0);
    ok(f, st_tx(f->st, "part", end_in, &whole, &f->e));
    assert_int_equal(counted(f), 0); /* its turn may still be rolled back */
    assert_false(fx_flush(f).failed);
    assert_int_equal(counted(f), 4 * 3600000);
}

/* As after the clock was set back, or forward before the run ended. */
DB_TEST(test_gpu_times_that_are_shown_do_not_fall)
{
    static const int64_t times[][2] = {{100, 100}, {40, 100}, {100, 100}, {120, 120}, {0, 120}};
    st_usage_count_from(f->st, f->tools, 0);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct usage_sums group = {.gpu_ms = times[i][0]}, other = {.busy_ms = 7 - (int64_t)i};
        st_usage_show(f->st, "s", "g", "", &group);
        st_usage_show(f->st, "s", "h", "", &other);
        assert_int_equal(group.gpu_ms, times[i][1]);
        assert_int_equal(other.busy_ms, 7);
        assert_int_equal(other.gpu_ms, 0);
    }
    for (int i = 0; i < 2000; i++) {
        char name[16];
        struct usage_sums sums = {.gpu_ms = 2000 - i};
        snprintf(name, sizeof name, "g%d", i);
        st_usage_show(f->st, "s", name, "", &sums);
        st_usage_show(f->st, "", "", name, &sums);
        assert_int_equal(sums.gpu_ms, 2000 - i);
    }
}

DB_TEST(test_the_record_outlives_job_and_experiment)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0);
    end(f, &al, T0 + HOUR_US, false);
    ok(f, st_mark_deleting(f->st, RES_JOB, job, T0, &f->e));
    ok(f, st_remove(f->st, RES_JOB, job, T0, &f->e));
    assert_int_equal(cut(f, 0, T0 * 2).gpu_ms, 4 * 3600000);
}

/* A second of a machine that says what no machine can have done. */
DB_TEST(test_what_a_machine_lies_is_bounded_and_its_job_ends)
{
    int64_t job = fx_add_job(f, "j1"), node = add_node(f);
    struct allocation al = hold(f, job, node, T0);
    const struct allocation_end lies = {.to = ALLOCATION_RELEASED,
                                        .now_us = T0 + 1000000,
                                        .used = {.known = true,
                                                 .user_us = INT64_MAX,
                                                 .kernel_us = -5,
                                                 .memory_peak = INT64_MAX,
                                                 .read_bytes = INT64_MAX,
                                                 .write_ops = INT64_MIN}};
    ok(f, st_allocation_move(f->st, &al, &lies, &f->e));
    struct usage_sums s = cut(f, 0, T0 * 2);
    assert_int_equal(s.user_us, 2000 * INT64_C(1000000000));
    assert_int_equal(s.kernel_us, 0);
    assert_int_equal(s.memory_peak, USAGE_MEMORY_MOST);
}

TEST(test_sums_do_not_overflow)
{
    struct usage_measured one = {.user_us = INT64_MAX, .read_bytes = INT64_MAX}, both = {0};
    usage_measured_add(&both, &one);
    usage_measured_add(&both, &one);
    assert_int_equal(both.user_us, USAGE_MOST);
    assert_int_equal(both.read_bytes, USAGE_MOST);
}

/* Each of these is as much as a machine can say of some machine-years. */
DB_TEST(test_counters_of_jobs_do_not_overflow)
{
    int64_t id, job = fx_add_batch_job(f, "j", "p", 0);
    struct batch_task t = fx_add_batch_task(f, job, "t", 1, 1);
    struct batch_counts n;
    struct usage u = {.subject_id = 1,
                      .owner_kind = RES_BATCH_TASK,
                      .owner_id = t.id,
                      .name = "t",
                      .node_name = "tvm-1",
                      .used = {.known = true, .user_us = USAGE_MOST, .read_ops = USAGE_MOST - 1}};
    for (u.run_id = 1; u.run_id < 10; u.run_id++)
        ok(f, st_usage_insert_row(f->st, &u, &id, &f->e));
    assert_int_equal(st_batch_job_counts(f->st, &f->a, job, &n, &f->e), 1);
    assert_int_equal(n.used.user_us, USAGE_MOST);
    assert_int_equal(n.used.read_ops, USAGE_MOST);
    assert_int_equal(n.used.write_ops, 0);
    for (int i = 0; i < 9; i++) {
        char name[8];
        snprintf(name, sizeof name, "j%d", i);
        t = fx_add_batch_task(f, fx_add_batch_job(f, name, "p", 0), "t", 1, 1);
        u.owner_id = t.id;
        u.run_id++;
        ok(f, st_usage_insert_row(f->st, &u, &id, &f->e));
    }
    assert_int_equal(st_batch_account_counts(f->st, &f->a, 1, &n, &f->e), 1);
    assert_int_equal(n.used.user_us, USAGE_MOST);
    assert_int_equal(n.used.read_ops, USAGE_MOST);
}

DB_TEST(test_a_report_over_full_days_does_not_overflow)
{
    const struct usage_subject who = {.owner = "me",
                                      .subscription = "s",
                                      .group = "g",
                                      .home = "w",
                                      .experiment = "Exp",
                                      .pool = "p",
                                      .vm_size = "v",
                                      .gpu = "V100"};
    const struct usage_sums most = {.user_us = USAGE_MOST, .read_bytes = (INT64_C(1) << 40) + 7};
    int64_t id;
    ok(f, st_usage_subject_add(f->st, &who, &f->e));
    ok(f, st_usage_subject_id(f->st, &who, &id, &f->e));
    for (int64_t day = 0; day < 9; day++)
        ok(f, st_usage_day_add(f->st, day, id, &most, &f->e));
    struct usage_sums sums = cut(f, 0, 9 * USAGE_DAY_MS * 1000);
    assert_int_equal(sums.user_us, USAGE_MOST);
    assert_int_equal(sums.read_bytes, 9 * most.read_bytes);
}

/* Rows of a day in parts of two; the last job ends between two parts, after it was read. */
DB_TEST(test_a_day_is_read_in_parts)
{
    int64_t node = add_node(f), at = T0;
    struct allocation al;
    for (int i = 0; i < 7; i++, at += 11000000) {
        char name[8];
        snprintf(name, sizeof name, "j%d", i);
        al = hold(f, fx_add_job(f, name), node, at);
        end(f, &al, at + 10000000, false);
    }
    al = hold(f, fx_add_job(f, "long"), node, at - 2 * 24 * HOUR_US);
    end(f, &al, at, false);
    al = hold(f, fx_add_job(f, "last"), node, at);
    for (int64_t from = T0 - 30 * HOUR_US; from < at; from += 10 * HOUR_US - 3000000) {
        struct usage_sums whole = {0}, parts = {0};
        bool left = true;
        int64_t now_ms = (at + 5000000) / 1000;
        struct st_usage_reading r = {.from_ms = from / 1000,
                                     .to_ms = (at - 1000) / 1000,
                                     .now_ms = now_ms,
                                     .fn = add,
                                     .ctx = &parts,
                                     .arena = &f->a};
        ok(f, st_usage_each(f->st, r.from_ms, r.to_ms, now_ms, add, &whole, &f->e));
        ok(f, st_usage_begin(f->st, &r, &f->e));
        while (left)
            ok(f, st_usage_more(f->st, &r, 2, &left, &f->e));
        assert_memory_equal(&parts, &whole, sizeof whole);
    }
    struct usage_sums sums = {0};
    struct st_usage_reading r = {.from_ms = T0 / 1000 + 1000,
                                 .to_ms = at / 1000 + 6000,
                                 .now_ms = at / 1000 + 5000,
                                 .fn = add,
                                 .ctx = &sums,
                                 .arena = &f->a};
    bool left = true;
    ok(f, st_usage_begin(f->st, &r, &f->e));
    while (r.phase != USAGE_ROWS)
        ok(f, st_usage_more(f->st, &r, 3, &left, &f->e));
    end(f, &al, at + 5000000, false);
    while (left)
        ok(f, st_usage_more(f->st, &r, 3, &left, &f->e));
    assert_int_equal(sums.attempts, 8);
    assert_int_equal(sums.node_ms, 7 * 10000 - 1000 + (at - T0) / 1000 - 1000 + 5000);
}

/* One job after the other for 40 days each; each ends before another part of the reading. */
DB_TEST(test_what_ends_while_days_are_read_counts_once)
{
    enum { DAYS = 40, JOBS = 12 };
    int64_t node = add_node(f), at = T0, long_us = DAYS * 24 * HOUR_US;
    for (int i = 0; i < JOBS; i++, at += long_us) {
        char name[8];
        snprintf(name, sizeof name, "j%d", i);
        struct allocation al = hold(f, fx_add_job(f, name), node, at);
        struct usage_sums sums = {0};
        int64_t now_ms = (at + long_us) / 1000;
        struct st_usage_reading r = {
            .to_ms = now_ms + 1, .now_ms = now_ms, .fn = add, .ctx = &sums, .arena = &f->a};
        bool left = true;
        int parts = 0;
        ok(f, st_usage_begin(f->st, &r, &f->e));
        while (left) {
            if (parts++ == i)
                end(f, &al, at + long_us, false);
            ok(f, st_usage_more(f->st, &r, 2, &left, &f->e));
        }
        if (parts <= i)
            end(f, &al, at + long_us, false);
        assert_int_equal(sums.node_ms, now_ms - T0 / 1000);
        assert_true(parts > i || i < 4);
    }
}

/* Of two nodes the first was read. */
DB_TEST(test_what_ends_while_nodes_are_read_counts_once)
{
    const struct capacity has = {.slots = 4, .gpus = 4, .cores = 8, .memory = 1000};
    int64_t first = add_node(f), second = fx_add_node(f, f->cluster, 2, NODE_IDLE);
    ok(f, st_node_set_capacity(f->st, second, &has, "[{\"model\": \"V100\"}]", &f->e));
    struct allocation a = hold(f, fx_add_job(f, "a"), first, T0);
    struct allocation b = hold(f, fx_add_job(f, "b"), second, T0);
    struct usage_sums sums = {0};
    struct st_usage_reading r = {.to_ms = T0 / 1000 + 9000,
                                 .now_ms = T0 / 1000 + 5000,
                                 .fn = add,
                                 .ctx = &sums,
                                 .arena = &f->a};
    bool left = true;
    ok(f, st_usage_begin(f->st, &r, &f->e));
    while (r.node == 0)
        ok(f, st_usage_more(f->st, &r, 1, &left, &f->e));
    assert_int_equal(r.n_nodes, 2);
    end(f, &a, T0 + 6000000, false);
    end(f, &b, T0 + 6000000, false);
    while (left)
        ok(f, st_usage_more(f->st, &r, 1, &left, &f->e));
    assert_int_equal(sums.node_ms, 5000 + 6000);
    assert_int_equal(sums.attempts, 1);
}
