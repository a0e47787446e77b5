/* SPDX-License-Identifier: MIT
 *
 * Which cluster gets which machine, what is missing and why, and what a restart, another inventory
 * and a full disk make of it.
 */
#include "fake_site.h"
#include "scheduler/fleet/fleet.h"

#include <sys/resource.h>

/* --- who gets which --------------------------------------------------------------------------- */

SITE_TEST(test_claims_are_exclusive, 4, "m1", "m2", "m3")
{
    int64_t one = add_gpu_cluster(w, "one", 2), two = add_gpu_cluster(w, "two", 2);
    WAIT(w, says(w, two, "NodeCapacityReached"));
    assert_string_equal(machines_of(w, one), "m1 m2 ");
    assert_string_equal(machines_of(w, two), "m3 ");
    assert_false(says(w, one, "NodeCapacityReached"));
    assert_int_equal(cluster_row(w, one).alloc_state, ALLOC_STEADY);
    assert_int_equal(cluster_row(w, two).alloc_state, ALLOC_RESIZING);
    cluster_says(w, two,
                 "1 of the 2 nodes asked for is missing: 3 machines serve STANDARD_NC6 with "
                 "priority dedicated: 1 belongs to this cluster, 2 to cluster one of workspace ws");
}

SITE_TEST(test_what_is_given_back_goes_to_who_waits, 0, "m1", "m2")
{
    int64_t one = add_gpu_cluster(w, "one", 2), two = add_gpu_cluster(w, "two", 1);
    WAIT(w, says(w, two, "NodeCapacityReached"));
    resize(w, one, 1);
    WAIT(w, strcmp(machines_of(w, two), "m2 ") == 0);
    WAIT(w, !says(w, two, "NodeCapacityReached"));
    assert_string_equal(machines_of(w, one), "m1 ");
    WAIT(w, cluster_row(w, two).alloc_state == ALLOC_STEADY);
}

SITE_TEST(test_size_and_priority_decide, 4, "m1", "low1", "m2")
{
    int64_t gpu = add_gpu_cluster(w, "gpu", 1);
    int64_t low = add_cluster(w, "low",
                              (struct cluster_wish){.scale = {.target = 1},
                                                    .vm_size = "STANDARD_D1",
                                                    .vm_priority = VM_LOWPRIORITY});
    int64_t other = add_cluster_of(w, "other", 2); /* STANDARD_D1, dedicated: no machine */
    WAIT(w, counts(w, other).idle == 2);
    WAIT(w, rows_of(counts(w, gpu)) == 1 && rows_of(counts(w, low)) == 1);
    assert_string_equal(machines_of(w, gpu), "m1 ");
    assert_string_equal(machines_of(w, low), "low1 ");
    assert_string_equal(machines_of(w, other), "local local ");
}

SITE_TEST(test_what_may_be_asked_for, 0, "m1", "m2")
{
    struct err e = {0};
    const struct scale three = {.kind = SCALE_MANUAL, .target = 3};
    /* More than there are now is waited for. */
    ok(sched_check_scale(w->s, RES_CLUSTER, "standard_nc6", VM_DEDICATED, &three, &e), &e);
    assert_int_equal(
        sched_check_scale(w->s, RES_CLUSTER, "STANDARD_NC6", VM_LOWPRIORITY, &three, &e), -1);
    assert_int_equal(e.code, ERR_INVALID_PROPERTY);
    assert_string_equal(e.msg, "vmSize STANDARD_NC6 is not served here with vmPriority "
                               "lowpriority; the sizes served are: none");
    assert_int_equal(sched_check_scale(w->s, RES_CLUSTER, "STANDARD_D1", VM_DEDICATED, &three, &e),
                     -1);
    assert_says(e.msg, "the sizes served are: STANDARD_NC6");
    struct cluster c = {.vm_size = "STANDARD_NC6", .vm_priority = VM_DEDICATED, .scale = three};
    assert_int_equal(sched_most_nodes(w->s, c.vm_size, c.vm_priority, &c.scale), 3);
    c.scale.target = 1;
    assert_int_equal(sched_most_nodes(w->s, c.vm_size, c.vm_priority, &c.scale), 2);
    c.scale = (struct scale){.kind = SCALE_AUTO, .maximum = 5};
    assert_int_equal(sched_most_nodes(w->s, c.vm_size, c.vm_priority, &c.scale), 5);
}

SITE_TEST(test_the_most_promising_first, 0, "bad", "new1", "new2", "good", "gone")
{
    machine_contact(w->s->fleet, w->s->fleet->machines[0], NULL);
    machine_trouble(w->s->fleet, w->s->fleet->machines[0], "no route to host");
    machine_contact(w->s->fleet, w->s->fleet->machines[3], NULL);
    drain(w, "gone", NULL);
    int64_t c = add_gpu_cluster(w, "c", 5);
    WAIT(w, says(w, c, "NodeCapacityReached"));
    assert_string_equal(machines_of(w, c), "good new1 new2 bad ");
    cluster_says(w, c,
                 "4 belong to this cluster, 1 is drained (gone); 1 of them had a problem at the "
                 "last try (bad)");
}

/* --- restarts --------------------------------------------------------------------------------- */

SITE_TEST(test_a_restart_keeps_claims_and_drains, 0, "m1", "m2", "m3")
{
    int64_t c = add_gpu_cluster(w, "c", 2);
    WAIT(w, rows_of(counts(w, c)) == 2);
    drain(w, "m3", "noise");
    restart(w);
    assert_string_equal(machines_of(w, c), "m1 m2 ");
    assert_true(view_of(w, "m3").drained);
    assert_string_equal(view_of(w, "m3").reason, "noise");
    int64_t other = add_gpu_cluster(w, "other", 1);
    WAIT(w, says(w, other, "NodeCapacityReached"));
    cluster_says(w, other, "2 to cluster c of workspace ws, 1 is drained (m3)");
}

TEST(test_another_inventory)
{
    struct fake_site before, after;
    SITE(&before, "m1", "m2", "m3");
    SITE(&after, "m4", "m2");
    struct world *w = world_at(0, &before.site);
    int64_t c = add_gpu_cluster(w, "c", 2);
    WAIT(w, rows_of(counts(w, c)) == 2);
    world_stop(w);
    w->site = &after.site;
    world_start(w);
    /* m1 stays as long as the node does; nobody knows m3 any more. */
    struct machine_view v = view_of(w, "m1");
    assert_non_null(v.name);
    assert_says(v.reason, "not in the inventory any more");
    assert_null(view_of(w, "m3").name);
    assert_string_equal(view_of(w, "m4").state, "unknown");
    WAIT(w, says(w, c, "NodeNotInInventory"));
    resize(w, c, 3);
    WAIT(w, strcmp(machines_of(w, c), "m1 m2 m4 ") == 0);
    world_stop(w);
    w->site = &before.site;
    world_start(w);
    WAIT(w, !says(w, c, "Machine m1 is not in the inventory"));
    WAIT(w, says(w, c, "Machine m4 is not in the inventory"));
    world_free(w);
}

/* A cluster stays of one kind. */
WORLD_TEST(test_machines_and_local_nodes_do_not_mix, world_at(3, NULL))
{
    struct fake_site f;
    SITE(&f, "m1");
    int64_t old = add_gpu_cluster(w, "old", 1);
    WAIT(w, counts(w, old).idle == 1);
    world_stop(w);
    w->site = &f.site;
    world_start(w);
    resize(w, old, 2);
    WAIT(w, counts(w, old).idle == 2);
    assert_string_equal(machines_of(w, old), "local local ");
    int64_t new = add_gpu_cluster(w, "new", 1);
    WAIT(w, strcmp(machines_of(w, new), "m1 ") == 0);
    resize(w, old, 0);
    WAIT(w, rows_of(counts(w, old)) == 0);
    resize(w, old, 1); /* begins anew, as machines now: which are taken */
    WAIT(w, says(w, old, "1 to cluster new"));
    assert_int_equal(rows_of(counts(w, old)), 0);
}

/* --- writes that are lost --------------------------------------------------------------------- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit l;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    l.rlim_cur = bytes < l.rlim_max ? bytes : l.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* The disk fills up under a claim and under a drain: both are as if they had never been. */
SITE_TEST(test_what_is_rolled_back_never_was, 0, "m1")
{
    (void)signal(SIGXFSZ, SIG_IGN);
    int64_t c = add_gpu_cluster(w, "c", 0);
    WAIT(w, cluster_row(w, c).alloc_state == ALLOC_STEADY && !st_has_pending(w->st));
    const struct machine *m = w->s->fleet->machines[0];
    limit_file_size(0);
    resize(w, c, 1);
    sched_turn(w->s);
    assert_int_equal(m->pool_id, c);
    WAIT(w, m->node_id == 0 && m->pool_id == 0);
    drain(w, "m1", "lost");
    assert_true(m->drained);
    WAIT(w, !m->drained && !m->reason);
    limit_file_size(RLIM_INFINITY);
    WAIT(w, !st_has_pending(w->st));
    assert_int_equal(rows_of(counts(w, c)), 0);
    resize(w, c, 1);
    WAIT(w, strcmp(machines_of(w, c), "m1 ") == 0);
    assert_int_equal(m->pool_id, c);
}
