/* SPDX-License-Identifier: MIT
 *
 * Nodes of Batch pools among those of clusters.
 */
#include "storage/batch.h"
#include "test/unit/storage/fixture.h"

static int64_t add_pool(struct fx *f)
{
    const struct account_keys keys = {0};
    const struct batch_account b = {.group_id = f->group,
                                    .name = "acct",
                                    .scope = {.location = "here"},
                                    .doc = "{}",
                                    .prov_state = PROV_SUCCEEDED,
                                    .created_us = T0,
                                    .updated_us = T0};
    struct batch_pool p = {
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
    ok(f, st_batch_account_insert(f->st, &b, &keys, &p.account_id, &f->e));
    ok(f, st_batch_pool_insert(f->st, &p, NULL, &id, &f->e));
    return id;
}

static void add_node(struct fx *f, int64_t pool, const char *name)
{
    const struct node nd = {.cluster_id = pool,
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
static void test_uses_of_nodes_are_of_all_pools(void **state)
{
    struct fx *f = *state;
    struct node_use *uses;
    size_t n;
    add_node(f, f->cluster, "tvm-1");
    add_node(f, add_pool(f), "tvm-2");
    ok(f, st_node_uses(f->st, &f->a, &uses, &n, &f->e));
    assert_int_equal(n, 2);
    assert_string_equal(uses[0].cluster, "nc6");
    assert_string_equal(uses[1].node, "tvm-2");
    assert_string_equal(uses[1].cluster, "p1");
    assert_string_equal(uses[1].workspace, "acct");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_uses_of_nodes_are_of_all_pools, fx_start, fx_end),
    };
    return cmocka_run_group_tests_name("nodes of Batch pools", tests, NULL, NULL);
}
