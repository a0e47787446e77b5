/* SPDX-License-Identifier: MIT
 *
 * Clusters of Batch AI and pools of Azure Batch compete for the machines of one site. On fake
 * nodes, in virtual time.
 */
#include "batch_pools.h"
#include "fake_site.h"

/* m1 and m2 are dedicated; low1 is for low priority alone. Dedicated machines are lent. */
static struct fake_site *new_lending(void)
{
    struct fake_site *f = xcalloc(1, sizeof *f);
    SITE(f, "m1", "m2", "low1");
    let_answer(f);
    f->site.reclaim = true;
    f->w = world_virtual_at(0, &f->site);
    return f;
}

#define LENDING_TEST(name) FIXTURE_TEST(name, struct fake_site *, f, new_lending(), free_site)

static bool has_idle(struct world *w, int64_t pool, size_t n)
{
    return nodes_in(w, pool, NODE_IDLE, NULL) == n;
}

LENDING_TEST(test_who_comes_first_has_the_machines)
{
    int64_t pool = add_pool_of(w, "p", "STANDARD_NC6", 1, 0);
    WAIT(w, has_idle(w, pool, 1));
    int64_t cluster = add_gpu_cluster(w, "c", 2);
    WAIT(w, counts(w, cluster).idle == 1 && says(w, cluster, "NodeCapacityReached"));
    cluster_says(w, cluster, "pool p of Batch account acct");
    resize_to(w, pool, 0, 0);
    WAIT(w, counts(w, cluster).idle == 2);
    resize_to(w, pool, 1, 0); /* now the pool waits, until its time is up */
    pass(w, 16 * MINUTE);
    assert_true(steady(w, pool));
    assert_says(pool_row(w, pool).size.errors, "AllocationTimedout");
}

/* Low-priority nodes of either are taken back for dedicated ones of the other. */
LENDING_TEST(test_machines_are_lent_between_them)
{
    int64_t pool = add_pool_of(w, "p", "STANDARD_NC6", 0, 3);
    WAIT(w, has_idle(w, pool, 3) && steady(w, pool));
    int64_t cluster = add_gpu_cluster(w, "c", 1);
    WAIT(w, counts(w, cluster).idle == 1 && has_idle(w, pool, 2));
    assert_true(steady(w, pool)); /* it lost a node; nobody resized it */
    assert_int_equal(pool_row(w, pool).size.low, 3);
    resize(w, cluster, 0);
    WAIT(w, has_idle(w, pool, 3)); /* and it gets another */
    resize_to(w, pool, 2, 0);
    WAIT(w, has_idle(w, pool, 2) && steady(w, pool));
    int64_t low = add_cluster(w, "low",
                              (struct cluster_wish){.scale = {.target = 1},
                                                    .vm_size = "STANDARD_NC6",
                                                    .vm_priority = VM_LOWPRIORITY});
    WAIT(w, counts(w, low).idle == 1);
    assert_string_equal(machines_of(w, low), "low1 ");
}

/* The pool lost a low-priority node, and a dedicated node is removed: the lost node still returns.
 */
LENDING_TEST(test_the_removal_of_a_node_gives_up_no_lost_node)
{
    struct err e = {0};
    int64_t pool = add_pool_of(w, "p", "STANDARD_NC6", 1, 2);
    WAIT(w, has_idle(w, pool, 3) && steady(w, pool));
    int64_t cluster = add_gpu_cluster(w, "c", 1);
    WAIT(w, counts(w, cluster).idle == 1 && pool_row(w, pool).has_low == 1);
    struct node *nodes;
    struct batch_pool p = pool_row(w, pool);
    assert_int_equal(nodes_in(w, pool, NODE_IDLE, &nodes), 2);
    const struct node *one[] = {&nodes[nodes[0].vm_priority == VM_LOWPRIORITY]};
    const struct batch_targets t = {.timeout_us = 15 * MINUTE, .how = DEALLOC_REQUEUE};
    ok(batch_pool_remove_nodes(&w->batch, &p, one, 1, &t, p.updated_us + 1, &e), &e);
    p = pool_row(w, pool);
    assert_int_equal(p.size.dedicated, 0);
    assert_int_equal(p.size.low, 2);
    WAIT(w, has_idle(w, pool, 2) && steady(w, pool));
}

LENDING_TEST(test_what_a_pool_leaves_a_cluster_can_use)
{
    struct err e = {0};
    int64_t pool = add_pool_of(w, "p", "STANDARD_NC6", 2, 1);
    WAIT(w, has_idle(w, pool, 3));
    int64_t cluster = add_gpu_cluster(w, "c", 2);
    WAIT(w, says(w, cluster, "NodeCapacityReached"));
    struct batch_pool p = pool_row(w, pool);
    ok(batch_pool_delete(&w->batch, &p, p.updated_us + 1, &e), &e);
    WAIT(w, counts(w, cluster).idle == 2);
    int64_t job = add_job(w, cluster, "job", JOB("fake run=1000", .nodes = 2));
    WAIT(w, job_state(w, job) == EXEC_SUCCEEDED);
}
