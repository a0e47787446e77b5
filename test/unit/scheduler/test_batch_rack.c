/* SPDX-License-Identifier: MIT
 *
 * Clusters of Batch AI and pools of Azure Batch compete for the machines of one site. On fake
 * nodes, in virtual time.
 */
#include "batch_pools.h"
#include "fake_site.h"

static const char *const any_size[] = {NULL};

struct rack {
    struct world *w;
    struct fake_site at;
    struct site_group group;
    struct site_mount_rule mount;
};

/* m1 and m2 are dedicated; low1 is for low priority alone. Dedicated machines are lent. */
static struct rack *rack_new(void)
{
    struct rack *k = xcalloc(1, sizeof *k);
    SITE(&k->at, "m1", "m2", "low1");
    k->group = dedicated;
    k->group.vm_sizes = any_size;
    for (size_t i = 0; i < k->at.site.n_machines; i++) {
        k->at.machines[i].host = k->at.machines[i].name;
        if (k->at.machines[i].group == &dedicated)
            k->at.machines[i].group = &k->group;
    }
    k->mount = (struct site_mount_rule){.account = "*",
                                        .share = "*",
                                        .files = true,
                                        .blobs = true,
                                        .type = SITE_MOUNT_LOCAL,
                                        .source = "/nonexistent/{share}"};
    k->at.site.mounts = &k->mount;
    k->at.site.n_mounts = 1;
    k->at.site.reclaim = true;
    k->w = world_virtual_at(0, &k->at.site);
    return k;
}

static void rack_free(struct rack *k)
{
    world_free(k->w);
    free(k);
}

static bool has_idle(struct world *w, int64_t pool, size_t n)
{
    return nodes_in(w, pool, NODE_IDLE, NULL) == n;
}

TEST(test_who_comes_first_has_the_machines)
{
    struct rack *k = rack_new();
    struct world *w = k->w;
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
    rack_free(k);
}

/* Low-priority nodes of either are taken back for dedicated ones of the other. */
TEST(test_machines_are_lent_between_them)
{
    struct rack *k = rack_new();
    struct world *w = k->w;
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
    rack_free(k);
}

TEST(test_what_a_pool_leaves_a_cluster_can_use)
{
    struct err e = {0};
    struct rack *k = rack_new();
    struct world *w = k->w;
    int64_t pool = add_pool_of(w, "p", "STANDARD_NC6", 2, 1);
    WAIT(w, has_idle(w, pool, 3));
    int64_t cluster = add_gpu_cluster(w, "c", 2);
    WAIT(w, says(w, cluster, "NodeCapacityReached"));
    struct batch_pool p = pool_row(w, pool);
    ok(batch_pool_delete(&w->batch, &p, p.updated_us + 1, &e), &e);
    WAIT(w, counts(w, cluster).idle == 2);
    int64_t job = add_job(w, cluster, "job", JOB("fake run=1000", .nodes = 2));
    WAIT(w, job_state(w, job) == EXEC_SUCCEEDED);
    rack_free(k);
}

int main(void)
{
    return run_all_tests(load_agents, free_agents);
}
