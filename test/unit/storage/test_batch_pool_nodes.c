/* SPDX-License-Identifier: MIT
 *
 * Nodes of Batch pools among those of clusters; and that the row of a pool, which tasks ask for all
 * the time, is read once and reads as it does now.
 */
#include "storage/batch.h"
#include "test/unit/storage/fixture.h"

static int64_t add_pool(struct fx *f)
{
    const struct batch_pool p = {
        .account_id = fx_add_batch_account(f, f->group, "acct"),
        .name = "p1",
        .doc = "{}",
        .created_us = T0,
        .updated_us = T0,
        .state = BATCH_POOL_ACTIVE,
        .state_us = T0,
        .size = {.state = BATCH_ALLOCATION_STEADY, .state_us = T0, .began_us = T0},
        .vm_size = "STANDARD_NC6",
        .dealloc = DEALLOC_REQUEUE,
        .slots = 1};
    int64_t id;
    ok(f, st_batch_pool_insert(f->st, &p, NULL, &id, &f->e));
    return id;
}

static void add_node(struct fx *f, int64_t pool, const char *name)
{
    const struct node nd = {.pool_id = pool,
                            .name = name,
                            .ordinal = 1,
                            .vm_priority = VM_DEDICATED,
                            .state = NODE_PREPARING,
                            .state_us = T0,
                            .created_us = T0};
    int64_t id;
    ok(f, st_node_insert(f->st, &nd, &id, &f->e));
}

/* Who has which machine is read from this when the daemon starts. */
DB_TEST(test_uses_of_nodes_are_of_all_pools)
{
    struct node_use *uses;
    size_t n;
    add_node(f, f->cluster, "tvm-1");
    add_node(f, add_pool(f), "tvm-2");
    ok(f, st_node_uses(f->st, &f->a, &uses, &n, &f->e));
    assert_int_equal(n, 2);
    assert_string_equal(uses[0].pool, "nc6");
    assert_string_equal(uses[1].node, "tvm-2");
    assert_string_equal(uses[1].pool, "p1");
    assert_string_equal(uses[1].workspace, "acct");
}

static struct batch_pool pool_now(struct fx *f, int64_t id)
{
    struct batch_pool p;
    found(f, st_batch_pool_by_id(f->st, &f->a, id, &p, &f->e));
    return p;
}

/* With nothing written meanwhile. */
static void must_be_known(struct fx *f, int64_t pool)
{
    (void)pool_now(f, pool);
    int64_t before = (int64_t)st_counters(f->st)->statements;
    (void)pool_now(f, pool);
#ifdef __SANITIZE_ADDRESS__
    before++; /* it is looked up all the same */
#endif
    assert_int_equal(st_counters(f->st)->statements, before);
}

DB_TEST(test_a_pool_is_read_once_and_as_it_is_now)
{
    int64_t pool = add_pool(f);
    must_be_known(f, pool);
    assert_int_equal(pool_now(f, pool).has_dedicated, 0);
    add_node(f, pool, "tvm-1");
    must_be_known(f, pool);
    assert_int_equal(pool_now(f, pool).has_dedicated, 1);
    ok(f, st_turn_begin(f->st, &f->e));
    ok(f, st_exec(f->st, "UPDATE batch_pool SET doc = '[]'", "by hand", &f->e));
    assert_string_equal(pool_now(f, pool).doc, "[]");
    ok(f, st_exec(f->st, "DELETE FROM node WHERE id > 0", "by hand", &f->e));
    assert_int_equal(pool_now(f, pool).has_dedicated, 0);
    ok(f, st_exec(f->st, "UPDATE pool SET slots = 7", "by hand", &f->e));
    assert_int_equal(pool_now(f, pool).slots, 7);
    must_be_known(f, pool);
}
