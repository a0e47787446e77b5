/* SPDX-License-Identifier: MIT
 *
 * Where ended jobs ran: which directories nodes keep, and what goes with a job or a node.
 */
#include "test/unit/storage/fixture.h"

static void keep(struct fx *f, int64_t job, int rank, bool kept, int latest)
{
    struct run r = fx_run_of(f, job);
    struct allocation *rows;
    size_t n;
    ok(f, st_allocation_of_run(f->st, &f->a, r.id, r.attempt, &rows, &n, &f->e));
    for (size_t i = 0; i < n; i++)
        if (rows[i].rank == rank)
            ok(f, st_allocation_keep(f->st, &rows[i], kept, latest, &f->e));
}

/* The job had the node, at this rank, until `at`. */
static void put(struct fx *f, int64_t job, int rank, int64_t node, bool kept, int64_t at,
                int latest)
{
    fx_hold(f, job, rank, node);
    fx_let_go(f, job, at);
    keep(f, job, rank, kept, latest);
}

static struct allocation *of_job(struct fx *f, int64_t job, size_t *n)
{
    struct run r = fx_run_of(f, job);
    struct allocation *rows;
    ok(f, st_allocation_of_run(f->st, &f->a, r.id, r.attempt, &rows, n, &f->e));
    return rows;
}

static size_t n_kept(struct fx *f, int64_t node)
{
    struct kept_dir *dirs;
    size_t n;
    ok(f, st_allocation_kept_dirs(f->st, &f->a, node, &dirs, &n, &f->e));
    return n;
}

DB_TEST(test_the_nodes_of_a_job_come_by_rank)
{
    int64_t a = fx_add_node(f, f->cluster, 1, NODE_IDLE),
            b = fx_add_node(f, f->cluster, 2, NODE_IDLE), job = fx_add_job(f, "j");
    put(f, job, 1, a, false, T0, 3);
    put(f, job, 0, b, true, T0, 3);
    keep(f, job, 0, true, 3); /* again is safe */
    size_t n;
    const struct allocation *rows = of_job(f, job, &n);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].node_id, b);
    assert_true(rows[0].kept);
    assert_int_equal(rows[1].node_id, a);
    assert_false(rows[1].kept);
}

DB_TEST(test_a_node_keeps_the_latest_directories_by_name)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE),
            other = fx_add_node(f, f->cluster, 2, NODE_IDLE), job[4];
    for (int i = 0; i < 4; i++)
        job[i] = fx_add_job(f, arena_printf(&f->a, "j%d", i));
    put(f, job[3], 0, other, true, T0, 2);
    put(f, job[1], 0, node, true, T0 + 10, 2);
    put(f, job[0], 0, node, true, T0 + 20, 2);
    put(f, job[2], 0, node, true, T0 + 30, 2);
    struct kept_dir *dirs;
    size_t n;
    ok(f, st_allocation_kept_dirs(f->st, &f->a, node, &dirs, &n, &f->e));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        assert_true(dirs[i].run_id == fx_run_of(f, job[0]).id ||
                    dirs[i].run_id == fx_run_of(f, job[2]).id);
        assert_string_equal(dirs[i].name, "aaaaaaaa-0000-4000-8000-000000000001-0");
    }
    assert_int_equal(n_kept(f, other), 1);
    const struct allocation *rows = of_job(f, job[1], &n);
    assert_int_equal(n, 1);
    assert_false(rows[0].kept);
}

/* By its clock the job that ended last is the oldest. */
DB_TEST(test_a_clock_that_is_set_back_takes_nothing_from_the_latest)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE), first = fx_add_job(f, "first"),
            second = fx_add_job(f, "second"), last = fx_add_job(f, "last");
    put(f, second, 0, node, true, T0 + 20, 2);
    put(f, first, 0, node, true, T0 + 30, 2);
    put(f, last, 0, node, true, T0 - 3600000000, 2);
    size_t n;
    assert_true(of_job(f, last, &n)->kept);
    assert_true(of_job(f, first, &n)->kept);
    assert_false(of_job(f, second, &n)->kept);
}

DB_TEST(test_one_that_is_not_there_is_kept_no_more)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE), job = fx_add_job(f, "j");
    put(f, job, 0, node, true, T0, 2);
    keep(f, job, 0, false, 0);
    assert_int_equal(n_kept(f, node), 0);
    size_t n;
    of_job(f, job, &n);
    assert_int_equal(n, 1);
}

DB_TEST(test_they_go_with_their_job_and_lose_their_node)
{
    int64_t a = fx_add_node(f, f->cluster, 1, NODE_IDLE),
            b = fx_add_node(f, f->cluster, 2, NODE_IDLE), one = fx_add_job(f, "one"),
            two = fx_add_job(f, "two");
    put(f, one, 0, a, true, T0, 9);
    put(f, one, 1, b, true, T0, 9);
    put(f, two, 0, a, true, T0, 9);
    size_t n;
    ok(f, st_node_remove(f->st, b, &f->e));
    const struct allocation *rows = of_job(f, one, &n);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].node_id, a);
    assert_int_equal(rows[1].node_id, 0);
    ok(f, st_mark_deleting(f->st, RES_JOB, one, T0, &f->e));
    ok(f, st_remove(f->st, RES_JOB, one, T0, &f->e));
    assert_int_equal(n_kept(f, a), 1);
    fx_reopen(f);
    of_job(f, two, &n);
    assert_int_equal(n, 1);
}
