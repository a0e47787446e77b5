/* SPDX-License-Identifier: MIT
 *
 * Tasks of Azure Batch that wait for ranges of numbers: they are met as soon as all of their
 * numbers are done, in whatever order these come, and what each number costs does not grow with how
 * many ranges are open.
 */
#include <sqlite3.h>

#include "test/unit/storage/batch_fixture.h"

static int64_t add_job(struct fx *f)
{
    static int n;
    return fx_add_batch_job(f, arena_printf(&f->a, "j%d", n++), "p1", 0);
}

static struct batch_task add_task(struct fx *f, int64_t job, int number)
{
    return fx_add_batch_task(f, job, arena_printf(&f->a, "%d", number), 1, 1);
}

static int waits_of(struct fx *f, int64_t task)
{
    struct arena a;
    struct batch_task t;
    arena_init(&a);
    found(f, st_batch_task_by_id(f->st, &a, task, &t, &f->e));
    arena_free(&a);
    return t.waits;
}

static void settle(struct fx *f, int64_t job, int64_t number)
{
    const struct st_batch_settling how = {number, 1000};
    bool left;
    ok(f, st_batch_wait_settle(f->st, &(struct batch_task){.job_id = job, .name = "-"}, &how, &left,
                               &f->e));
}

static void shuffle(int *order, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = rand() % (i + 1), was = order[i]; /* NOLINT(cert-msc30-c,cert-msc50-cpp) */
        order[i] = order[k];
        order[k] = was;
    }
}

/* --- against the plainest model --------------------------------------------------------------- */

#define NUMBERS 40
#define RANGES  60

struct model {
    bool done[NUMBERS];
    struct {
        int low, high;
        struct batch_task t;
    } range[RANGES];
};

static int left_of(const struct model *m, int i)
{
    int left = 0;
    for (int n = m->range[i].low; n <= m->range[i].high; n++)
        left += !m->done[n];
    return left;
}

static void check(struct fx *f, const struct model *m, int n_ranges)
{
    for (int i = 0; i < n_ranges; i++) {
        struct batch_wait *waits;
        size_t n;
        int left = left_of(m, i);
        assert_int_equal(waits_of(f, m->range[i].t.id), left > 0);
        ok(f, st_batch_wait_of(f->st, &f->a, m->range[i].t.id, 5, &waits, &n, &f->e));
        assert_int_equal(n, left > 0);
        if (n > 0)
            assert_int_equal(waits[0].left, left);
    }
}

static void add_range(struct fx *f, struct model *m, int64_t job, int i)
{
    int a = rand() % NUMBERS, b = rand() % NUMBERS; /* NOLINT(cert-msc30-c,cert-msc50-cpp) */
    m->range[i].low = a < b ? a : b;
    m->range[i].high = a < b ? b : a;
    m->range[i].t = add_task(f, job, NUMBERS + i);
    ok(f, st_batch_wait_add_range(f->st, &m->range[i].t, m->range[i].low, m->range[i].high, &f->e));
    ok(f, st_batch_wait_count(f->st, m->range[i].t.id, &f->e));
}

/* Some of the ranges are there before, and some come while numbers are done already. */
DB_TEST(test_ranges_are_met_in_any_order)
{
    srand(7); /* NOLINT(cert-msc32-c,cert-msc51-cpp): it is to be repeatable */
    for (int round = 0; round < 5; round++) {
        struct model m = {0};
        int order[NUMBERS], n_ranges = 0;
        int64_t job = add_job(f);
        for (int i = 0; i < NUMBERS; i++)
            order[i] = i;
        shuffle(order, NUMBERS);
        for (; n_ranges < RANGES / 2; n_ranges++)
            add_range(f, &m, job, n_ranges);
        for (int i = 0; i < NUMBERS; i++) {
            settle(f, job, order[i]);
            settle(f, job, order[i / 2]); /* again is no news */
            m.done[order[i]] = true;
            if (n_ranges < RANGES)
                add_range(f, &m, job, n_ranges++);
            check(f, &m, n_ranges);
        }
    }
}

/* --- numbers whose tasks are removed or reactivated ------------------------------------------- */

/* Of each range the numbers that were not done since it was added. */
struct memory {
    bool done[NUMBERS];
    struct {
        bool open[NUMBERS];
        struct batch_task t;
    } range[RANGES];
};

static void check_memory(struct fx *f, const struct memory *m, int n_ranges)
{
    for (int i = 0; i < n_ranges; i++) {
        struct batch_wait *waits;
        size_t n;
        int64_t left = 0;
        for (int k = 0; k < NUMBERS; k++)
            left += m->range[i].open[k];
        ok(f, st_batch_wait_of(f->st, &f->a, m->range[i].t.id, NUMBERS, &waits, &n, &f->e));
        assert_int_equal(waits_of(f, m->range[i].t.id), n);
        for (size_t k = 0; k < n; k++)
            left -= waits[k].left;
        assert_int_equal(left, 0);
        assert_true(n == 0 || waits[0].left > 0);
    }
}

static void remember_range(struct fx *f, struct memory *m, int64_t job, int i)
{
    struct model range;
    add_range(f, &range, job, i);
    m->range[i].t = range.range[i].t;
    for (int k = 0; k < NUMBERS; k++)
        m->range[i].open[k] = k >= range.range[i].low && k <= range.range[i].high && !m->done[k];
}

/* Half of the time the number is done, otherwise it leaves. */
static void change(struct fx *f, struct memory *m, int64_t job, int n_ranges)
{
    int n = rand() % NUMBERS; /* NOLINT(cert-msc30-c,cert-msc50-cpp) */
    const struct batch_task t = {.job_id = job, .name = "-"};
    m->done[n] = !m->done[n];
    if (!m->done[n]) {
        ok(f, st_batch_wait_leave(f->st, &t, n, &f->e));
        return;
    }
    settle(f, job, n);
    for (int i = 0; i < n_ranges; i++)
        m->range[i].open[n] = false;
}

DB_TEST(test_a_number_that_leaves_counts_for_the_ranges_before_it_alone)
{
    srand(8); /* NOLINT(cert-msc32-c,cert-msc51-cpp): it is to be repeatable */
    for (int round = 0; round < 5; round++) {
        struct memory m = {0};
        int64_t job = add_job(f);
        for (int i = 0; i < RANGES; i++) {
            for (int k = 0; k < 4; k++)
                change(f, &m, job, i);
            remember_range(f, &m, job, i);
            check_memory(f, &m, i + 1);
        }
        for (int n = 0; n < NUMBERS; n++)
            settle(f, job, n);
        for (int i = 0; i < RANGES; i++)
            assert_int_equal(waits_of(f, m.range[i].t.id), 0);
    }
}

DB_TEST(test_one_task_may_have_several)
{
    int64_t job = add_job(f);
    const struct batch_task t = add_task(f, job, 100);
    static const int ranges[][2] = {{1, 3}, {2, 2}, {2, 4}, {1, 3}};
    for (size_t i = 0; i < 4; i++)
        ok(f, st_batch_wait_add_range(f->st, &t, ranges[i][0], ranges[i][1], &f->e));
    ok(f, st_batch_wait_count(f->st, t.id, &f->e));
    assert_int_equal(waits_of(f, t.id), 4);
    settle(f, job, 1);
    settle(f, job, 3);
    assert_int_equal(waits_of(f, t.id), 4);
    settle(f, job, 2);
    assert_int_equal(waits_of(f, t.id), 1);
    settle(f, job, INT64_MAX); /* there is nothing behind it */
    settle(f, job, 0);
    settle(f, job, 4);
    assert_int_equal(waits_of(f, t.id), 0);
}

/* --- what it costs ---------------------------------------------------------------------------- */

static int one_more(void *ctx)
{
    ++*(long *)ctx;
    return 0;
}

enum range_order { UPWARD, DOWNWARD, SHUFFLED };
enum range_shape { ALL_BEFORE, ALL_BEHIND, THE_SAME };

/* Steps of SQLite's machine for each of n numbers, while n tasks wait for ranges of this shape. */
static long cost(struct fx *f, int n, enum range_shape shape, enum range_order how)
{
    enum { EACH = 10 };
    long steps = 0;
    int *order = xcalloc((size_t)n, sizeof *order);
    int64_t job = add_job(f);
    for (int i = 0; i < n; i++) {
        int low = shape == ALL_BEHIND ? i : 0, high = shape == ALL_BEFORE ? i : n - 1;
        const struct batch_task t = add_task(f, job, n + i);
        ok(f, st_batch_wait_add_range(f->st, &t, low, high, &f->e));
        ok(f, st_batch_wait_count(f->st, t.id, &f->e));
        order[i] = how == DOWNWARD ? n - 1 - i : i;
    }
    if (how == SHUFFLED)
        shuffle(order, n);
    sqlite3_progress_handler(f->st->db, EACH, one_more, &steps);
    for (int i = 0; i < n; i++)
        settle(f, job, order[i]);
    sqlite3_progress_handler(f->st->db, 0, NULL, NULL);
    free(order);
    return steps * EACH / n;
}

DB_TEST(test_what_a_number_costs_does_not_grow_with_the_ranges)
{
    enum { FEW = 100, MANY = 1600 };
    srand(9); /* NOLINT(cert-msc32-c,cert-msc51-cpp): it is to be repeatable */
    for (int shape = ALL_BEFORE; shape <= THE_SAME; shape++)
        for (int how = UPWARD; how <= SHUFFLED; how++) {
            long few = cost(f, FEW, (enum range_shape)shape, (enum range_order)how),
                 many = cost(f, MANY, (enum range_shape)shape, (enum range_order)how);
            print_message("shape %d, order %d: %ld and %ld steps\n", shape, how, few, many);
            assert_true(many < 3 * few); /* 16 times as many ranges */
        }
}
