/* SPDX-License-Identifier: MIT
 *
 * What nodes have: as they say, unless the site says it; and what is known of it before a job is
 * accepted. On fake nodes of four cores, in virtual time.
 */
#include "fake_site.h"
#include "virtual.h"

static struct capacity has_of(struct world *w, int64_t cluster)
{
    return node_row(w, cluster, 0).has;
}

static bool fits(struct world *w, const char *size, struct capacity need, const char **most)
{
    *most = "";
    return sched_part_fits(w->s, &w->a, size, VM_DEDICATED, &need, most);
}

TEST(test_local_nodes_have_what_the_site_says)
{
    struct fake_site f;
    const char *none[] = {NULL}, *most;
    fill_site(&f, none);
    f.site.local_capacity =
        (struct site_capacity){.slots = 7, .cores = 2, .memory = 1 << 20, .fake_gpus = 3};
    struct world *w = world_virtual_at(2, &f.site);
    const struct capacity large = {.gpus = 4};
    assert_true(fits(w, "STANDARD_D1", large, &most)); /* nothing is known yet */
    int64_t c = idle_cluster(w, 1);
    struct capacity has = has_of(w, c);
    assert_int_equal(has.slots, 7);
    assert_int_equal(has.cores, 2);
    assert_int_equal(has.memory, 1 << 20);
    assert_int_equal(has.gpus, 3);
    assert_says(node_row(w, c, 0).devices, "fake");
    assert_false(fits(w, "STANDARD_D1", large, &most));
    assert_string_equal(most, "7 slots, 3 GPUs, 2 cores and 1 MiB of memory");
    assert_true(fits(w, "STANDARD_D1", (struct capacity){.gpus = 3, .cores = 2}, &most));
    world_free(w);
}

TEST(test_a_node_with_gpus_of_its_own_keeps_them)
{
    struct fake_site f;
    const char *none[] = {NULL};
    fill_site(&f, none);
    f.site.local_capacity = (struct site_capacity){.fake_gpus = 3};
    struct world *w = world_virtual_at(1, &f.site);
    int64_t c = idle_cluster(w, 1);
    assert_int_equal(has_of(w, c).gpus, 3);
    fake_set_gpus(fake_of(w, c, 0), 2);
    fake_cut(fake_of(w, c, 0));
    WAIT(w, has_of(w, c).gpus == 2);
    assert_says_not(node_row(w, c, 0).devices, "\"fake\":true");
    world_free(w);
}

/* What they had at their last contact is known after a restart too. */
TEST(test_machines_have_what_their_group_says)
{
    struct fake_site f;
    const char *most;
    SITE(&f, "m1", "m2");
    let_answer(&f);
    f.group.capacity = (struct site_capacity){.slots = 3, .fake_gpus = 2};
    struct world *w = world_virtual_at(0, &f.site);
    const struct capacity large = {.gpus = 3};
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(has_of(w, c).slots, 3);
    assert_int_equal(has_of(w, c).cores, 4);
    assert_int_equal(has_of(w, c).gpus, 2);
    assert_true(fits(w, "STANDARD_NC6", large, &most)); /* the other was never reached */
    resize(w, c, 2);
    WAIT(w, counts(w, c).idle == 2);
    assert_false(fits(w, "STANDARD_NC6", large, &most));
    restart(w);
    assert_false(fits(w, "STANDARD_NC6", large, &most));
    assert_says(most, "3 slots, 2 GPUs, 4 cores");
    world_free(w);
}
