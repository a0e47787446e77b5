/* SPDX-License-Identifier: MIT
 *
 * The inventory is replaced while jobs run: machines come, go and change. On fake nodes, in virtual
 * time.
 */
#include "fake_site.h"
#include "scheduler/fleet/fleet_priv.h"
#include "virtual.h"

/* A site of these machines, all of which answer, and its world. */
static struct fake_site *new_inventory(const char *const *names)
{
    struct fake_site *f = xcalloc(1, sizeof *f);
    fill_site(f, names);
    let_answer(f);
    f->w = world_virtual_at(0, &f->site);
    return f;
}

#define INVENTORY_TEST(name, ...)                                                                  \
    FIXTURE_TEST(name, struct fake_site *, f,                                                      \
                 new_inventory((const char *const[]){__VA_ARGS__, NULL}), free_site)

static void use(struct world *w, const struct fake_site *f)
{
    struct err e = {0};
    ok(fleet_use_site(sched_fleet(w->s), &f->site, &e), &e);
    w->site = &f->site;
}

/* The world lives no longer than the test, so these may be on its stack. */
#define USE(w, f, ...)                                                                             \
    do {                                                                                           \
        SITE(f, __VA_ARGS__);                                                                      \
        let_answer(f);                                                                             \
        use(w, f);                                                                                 \
    } while (0)

/* All of these are gone before the inventories on the test's stack are. */
static void end(struct fake_site *f)
{
    world_stop(f->w);
    f->w->site = &f->site;
    world_start(f->w);
}

static bool is_known(struct world *w, const char *machine)
{
    return view_of(w, machine).name != NULL;
}

INVENTORY_TEST(test_new_machines_serve_a_cluster_that_waits, "m1")
{
    struct fake_site after;
    int64_t c = cluster_of(w, 3, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1 && says(w, c, "NodeCapacityReached"));
    USE(w, &after, "m1", "m2", "m3");
    WAIT(w, counts(w, c).idle == 3 && cluster_row(w, c).alloc_state == ALLOC_STEADY);
    assert_string_equal(machines_of(w, c), "m1 m2 m3 ");
    assert_string_equal(errors_of(w, c), "");
    end(f);
}

INVENTORY_TEST(test_a_dropped_machine_serves_until_its_job_has_ended, "m1", "m2")
{
    struct fake_site after;
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1);
    int64_t j = add_job(w, c, "j", JOB("fake run=3000000", .wall_s = 100000));
    WAIT(w, job_state(w, j) == EXEC_RUNNING);
    USE(w, &after, "m2", "m3");
    int64_t next = add_job(w, c, "next", JOB("fake run=10"));
    pass(w, 60 * SECOND);
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    assert_int_equal(job_state(w, next), EXEC_QUEUED);
    assert_string_equal(machines_of(w, c), "m1 ");
    assert_says(view_of(w, "m1").reason, "not in the inventory any more");
    cluster_says(w, c, "NodeNotInInventory", "the node leaves as soon as nothing runs there");
    WAIT(w, job_ended(w, next));
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).attempt, 1);
    assert_int_equal(job_row(w, next).exec_state, EXEC_SUCCEEDED);
    WAIT(w, strcmp(machines_of(w, c), "m2 ") == 0 && !is_known(w, "m1"));
    WAIT(w, cluster_row(w, c).alloc_state == ALLOC_STEADY);
    assert_string_equal(errors_of(w, c), "");
    end(f);
}

INVENTORY_TEST(test_an_idle_node_leaves_a_dropped_machine_at_once, "m1", "m2")
{
    struct fake_site after;
    int64_t c = cluster_of(w, 2, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 2);
    USE(w, &after, "m2");
    WAIT(w, strcmp(machines_of(w, c), "m2 ") == 0 && !is_known(w, "m1"));
    WAIT(w, says(w, c, "NodeCapacityReached"));
    assert_int_equal(cluster_row(w, c).alloc_state, ALLOC_RESIZING);
    end(f);
}

INVENTORY_TEST(test_a_machine_that_comes_back_in_time_keeps_its_node, "m1")
{
    struct fake_site without, again;
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1);
    int64_t node = node_row(w, c, 0).id;
    int64_t j = add_job(w, c, "j", JOB("fake run=3000000", .wall_s = 100000));
    WAIT(w, job_state(w, j) == EXEC_RUNNING);
    USE(w, &without, "m2");
    pass(w, 60 * SECOND);
    USE(w, &again, "m1", "m2");
    WAIT(w, job_ended(w, j) && *errors_of(w, c) == '\0');
    pass(w, 60 * SECOND);
    assert_int_equal(node_row(w, c, 0).id, node);
    assert_string_equal(machines_of(w, c), "m1 ");
    end(f);
}

INVENTORY_TEST(test_a_machine_that_is_put_back_after_a_restart_is_used_again, "m1")
{
    struct fake_site again;
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1);
    int64_t node = node_row(w, c, 0).id;
    world_stop(w);
    f->site.n_machines = 0;
    world_start(w);
    WAIT(w, counts(w, c).unusable == 1 && says(w, c, "NodeNotInInventory"));
    USE(w, &again, "m1");
    pass(w, 10 * SECOND);
    assert_int_equal(counts(w, c).idle, 1);
    assert_string_equal(errors_of(w, c), "");
    assert_int_equal(node_row(w, c, 0).id, node);
    assert_string_equal(node_rt_find(sched_fleet(w->s), node)->root, again.group.node_root);
    f->site.n_machines = 1;
    end(f);
}

INVENTORY_TEST(test_a_dropped_machine_that_is_free_is_forgotten_at_once, "m1", "m2")
{
    struct fake_site after;
    drain(w, "m2", "fan");
    USE(w, &after, "m1");
    assert_false(is_known(w, "m2"));
    /* A machine that comes back later is a new machine. */
    struct fake_site again;
    USE(w, &again, "m1", "m2");
    assert_false(view_of(w, "m2").drained);
    end(f);
}

INVENTORY_TEST(test_a_size_that_is_given_to_another_group_is_served_by_it, "m1", "m2")
{
    struct fake_site after;
    struct site_group gpus = f->group;
    int64_t c = add_gpu_cluster(w, "gpus", 2);
    WAIT(w, counts(w, c).idle == 2);
    SITE(&after, "m1", "m2", "m3");
    let_answer(&after);
    gpus.vm_sizes = nc6;
    after.machines[2].group = &gpus;
    use(w, &after);
    int64_t other = cluster_of(w, 1, DEALLOC_REQUEUE); /* of another size */
    WAIT(w, says(w, other, "NodeCapacityReached"));
    resize(w, c, 3);
    WAIT(w, counts(w, c).idle == 3);
    assert_string_equal(machines_of(w, c), "m1 m2 m3 ");
    end(f);
}

INVENTORY_TEST(test_a_full_disk_delays_the_new_inventory_only, "m1")
{
    struct fake_site after;
    int64_t c = cluster_of(w, 2, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1 && says(w, c, "NodeCapacityReached"));
    set_disk_full(w, true);
    USE(w, &after, "m1", "m2");
    pass(w, 5 * SECOND);
    set_disk_full(w, false);
    WAIT(w, counts(w, c).idle == 2);
    assert_string_equal(machines_of(w, c), "m1 m2 ");
    end(f);
}

INVENTORY_TEST(test_forgotten_machines_are_freed, "m1", "m2", "m3")
{
    struct fake_site fewer, other;
    int64_t c = cluster_of(w, 2, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 2);
    USE(w, &fewer, "m1");
    assert_null(sched_fleet(w->s)->retired); /* m3 was forgotten at once */
    WAIT(w, !is_known(w, "m2"));
    USE(w, &other, "m1", "m4");
    assert_null(sched_fleet(w->s)->retired);
    WAIT(w, counts(w, c).idle == 2);
    assert_string_equal(machines_of(w, c), "m1 m4 ");
    end(f);
}
