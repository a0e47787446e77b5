/* SPDX-License-Identifier: MIT
 *
 * What wake-ups are kept in: the queue of ids, the heap of deadlines, against plain arrays.
 */
#include <time.h>

#include "lib/deadlines.h"
#include "lib/idmap.h"
#include "test/unit/support/tests.h"

#define IDS   97
#define KINDS 3

static uint64_t seed = 1;

static unsigned any(unsigned n)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(seed >> 33) % n;
}

TEST(a_map_has_what_was_put_into_it)
{
    struct id_map h = {0};
    int64_t values[IDS] = {0}, popped;
    bool in[IDS] = {false};
    assert_null(id_map_find(&h, 1));
    assert_false(id_map_remove(&h, 1));
    assert_false(id_map_pop(&h, &popped));
    for (int step = 0; step < 20000; step++) {
        unsigned i = any(IDS);
        int64_t id = i % 2 ? -(int64_t)i - 1 : (int64_t)i + 1; /* orphans have negative ids */
        if (any(2)) {
            assert_int_equal(id_map_put_number(&h, id, step), !in[i]);
            in[i] = true;
            values[i] = step;
        } else {
            assert_int_equal(id_map_remove(&h, id), in[i]);
            in[i] = false;
        }
        size_t n = 0;
        for (unsigned k = 0; k < IDS; k++) {
            int64_t of = k % 2 ? -(int64_t)k - 1 : (int64_t)k + 1;
            assert_int_equal(id_map_has(&h, of), in[k]);
            assert_int_equal(id_map_number(&h, of), in[k] ? values[k] : 0);
            n += in[k];
        }
        assert_int_equal(h.n, n);
    }
    for (size_t left = h.n; left > 0; left--) {
        assert_true(id_map_pop(&h, &popped));
        assert_false(id_map_has(&h, popped));
        assert_int_equal(h.n, left - 1);
    }
    id_map_free(&h);
}

TEST(queue_is_first_in_first_out)
{
    struct id_queue q = {0};
    int64_t id;
    assert_false(id_queue_pop(&q, &id));
    for (int round = 0; round < 3; round++) {
        for (int64_t i = 100; i > 0; i--)
            assert_true(id_queue_put(&q, i));
        assert_false(id_queue_put(&q, 50)); /* keeps its place */
        for (int64_t i = 100; i > 40; i--) {
            assert_true(id_queue_pop(&q, &id));
            assert_int_equal(id, i);
        }
        assert_true(id_queue_put(&q, 100)); /* behind all others */
        for (int64_t i = 40; i > 0; i--) {
            assert_true(id_queue_pop(&q, &id));
            assert_int_equal(id, i);
        }
        assert_true(id_queue_pop(&q, &id));
        assert_int_equal(id, 100);
        assert_false(id_queue_pop(&q, &id));
    }
    id_queue_free(&q);
}

TEST(deadlines_come_in_order)
{
    struct deadlines *d = deadlines_new(KINDS);
    int64_t at[KINDS][IDS] = {{0}}; /* 0: none */
    struct deadline first;
    assert_false(deadlines_first(d, &first));
    for (int step = 0; step < 50000; step++) {
        int kind = (int)any(KINDS);
        int64_t id = 1 + any(IDS - 1), t;
        if (any(3) > 0) {
            at[kind][id] = 1 + any(50);
            deadlines_set(d, kind, id, at[kind][id]);
        } else {
            at[kind][id] = 0;
            deadlines_remove(d, kind, id);
        }
        assert_int_equal(deadlines_get(d, kind, id, &t), at[kind][id] != 0);
        struct deadline want = {0};
        size_t n = 0;
        for (int k = 0; k < KINDS; k++)
            for (int64_t i = 1; i < IDS; i++) {
                n += at[k][i] != 0;
                if (at[k][i] != 0 && (want.at_us == 0 || at[k][i] < want.at_us))
                    want = (struct deadline){at[k][i], k, i};
            }
        assert_int_equal(deadlines_first(d, &first), n > 0);
        if (n > 0) {
            assert_int_equal(first.at_us, want.at_us);
            assert_int_equal(first.kind, want.kind);
            assert_int_equal(first.id, want.id);
        }
    }
    deadlines_free(d);
    deadlines_free(NULL);
}

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* A hundred thousand of each: quadratic work would take minutes. */
TEST(many_cost_little)
{
    enum { MANY = 100000 };
    double begun = cpu_s();
    struct id_queue q = {0};
    struct deadlines *d = deadlines_new(1);
    for (int64_t i = 1; i <= MANY; i++) {
        assert_true(id_queue_put(&q, i));
        deadlines_set(d, 0, i, MANY - i);
    }
    int64_t id, last = -1;
    struct deadline first;
    while (id_queue_pop(&q, &id))
        deadlines_set(d, 0, id, (id * 7919) % MANY);
    while (deadlines_first(d, &first)) {
        assert_true(first.at_us >= last);
        last = first.at_us;
        deadlines_remove(d, 0, first.id);
    }
    assert_true(cpu_s() - begun < 5.0);
    deadlines_free(d);
    id_queue_free(&q);
}
