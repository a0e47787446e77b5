/* SPDX-License-Identifier: MIT
 *
 * What is learnt of a node while the disk is full is written when there is room, and until then
 * nobody uses the node as if it were not so. On fake nodes, in virtual time.
 */
#include "fake_site.h"
#include "virtual.h"

#include "scheduler/fleet/fleet.h"

#define ENDLESS "fake run=100000000"

static int64_t add_endless(struct world *w, int64_t cluster, const char *command)
{
    return add_job(w, cluster, "j", JOB(command, .wall_s = 100000));
}

static int opened(struct world *w)
{
    return (int)fleet_counts(sched_fleet(w->s))->opened;
}

/* The node is given up, and nothing starts beside the task. */
static void node_is_given_up_for_a_stray_task(bool full)
{
    struct world *w = world_virtual(1);
    int64_t c = idle_cluster(w, 1);
    back_up(w);
    add_endless(w, c, ENDLESS " dying=1000000000");
    WAIT(w, virtual_of(w)->started == 1);
    put_back(w);
    add_endless(w, c, ENDLESS);
    pass(w, 10 * SECOND);
    set_disk_full(w, full);
    pass(w, 600 * SECOND);
    set_disk_full(w, false);
    WAIT(w, counts(w, c).unusable == 1 && cluster_row(w, c).errors);
    cluster_says(w, c, "TaskNotKilled");
    pass(w, 600 * SECOND);
    assert_int_equal(virtual_of(w)->started, 1);
    world_free(w);
}

TEST(test_a_stray_task_that_does_not_die_keeps_its_node_out_of_use)
{
    node_is_given_up_for_a_stray_task(false);
}

TEST(test_so_it_does_while_that_cannot_be_written)
{
    node_is_given_up_for_a_stray_task(true);
}

/* `change` is what becomes of the node while the disk is full; its job then begins anew, once. */
static void job_begins_anew_after(void (*change)(struct fake_node *n))
{
    struct world *w = world_virtual(1);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_endless(w, c, "fake run=900000");
    WAIT(w, virtual_of(w)->started == 1 && job_state(w, j) == EXEC_RUNNING);
    pass(w, SECOND);
    int before = opened(w);
    set_disk_full(w, true);
    change(fake_of(w, c, 0));
    pass(w, 120 * SECOND);
    assert_in_range(opened(w), before, before + 5);
    assert_int_equal(virtual_of(w)->started, 1);
    set_disk_full(w, false);
    resize(w, c, 1);
    assert_ends_in(w, j, EXEC_SUCCEEDED, 2);
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(virtual_of(w)->started, 2);
    assert_int_equal(virtual_of(w)->most_at_once, 1);
    world_free(w);
}

TEST(test_a_node_that_was_restarted_is_prepared_anew)
{
    job_begins_anew_after(fake_restart);
}

TEST(test_a_node_that_was_wiped_is_prepared_anew)
{
    job_begins_anew_after(fake_wipe);
}

/* A machine that is asked to restart while that cannot be written goes on as it was. */
TEST(test_a_restart_that_is_taken_back_is_none)
{
    struct fake_site at;
    struct err e = {0};
    SITE(&at, "m1");
    let_answer(&at);
    struct world *w = world_virtual_at(0, &at.site);
    int64_t c = idle_cluster(w, 1);
    const struct node row = node_row(w, c, 0);
    node_rt_find(w->s->fleet, row.id)->seen.is_root = true;
    for (int full = 1; full >= 0; full--) {
        set_disk_full(w, full);
        ok(fleet_machine_reboot(sched_fleet(w->s), "m1", &e), &e);
        pass(w, 30 * SECOND);
        set_disk_full(w, false);
        pass(w, 600 * SECOND);
        assert_int_equal(counts(w, c).idle, 1);
        assert_int_equal(strcmp(node_row(w, c, 0).incarnation, row.incarnation) == 0, full);
    }
    world_free(w);
}

/* Its machine refuses to export it, as the agent there is not root. */
static struct world *world_with_a_file_server(struct fake_site *at, struct file_server *f)
{
    static const struct site_file_server_rule rule = {
        .name = "*", .machine = "m1", .directory = "/d"};
    struct err e = {0};
    SITE(at, "m1");
    at->site.file_servers = &rule;
    at->site.n_file_servers = 1;
    struct world *w = world_virtual_at(0, &at->site);
    *f = (struct file_server){.workspace_id = w->workspace,
                              .name = "f",
                              .guid = "f-guid",
                              .doc = "{}",
                              .prov_state = PROV_CREATING};
    ok(st_file_server_insert(w->st, f, NULL, &f->id, &e), &e);
    return w;
}

/* Fake machines know no exports. */
static void assert_it_failed(struct world *w, int64_t id)
{
    struct file_server f;
    struct err e = {0};
    ok(st_file_server_by_id(w->st, &w->a, id, &f, &e) - 1, &e);
    assert_int_equal(f.prov_state, PROV_FAILED);
}

TEST(test_what_became_of_a_file_server_is_written_when_there_is_room)
{
    struct fake_site at;
    struct file_server f;
    struct world *w = world_with_a_file_server(&at, &f);
    fleet_wake_file_server(sched_fleet(w->s), f.id);
    pass(w, 100); /* it is on disk, and the machine is asked */
    set_disk_full(w, true);
    pass(w, 30 * SECOND);
    set_disk_full(w, false);
    pass(w, 30 * SECOND);
    assert_it_failed(w, f.id);
    world_free(w);
}

/* As after a start in whose first turn something else cannot be written. */
TEST(test_a_file_server_is_gone_on_with_when_there_is_room)
{
    const struct scale one = {.kind = SCALE_AUTO, .minimum = 1, .maximum = 1};
    struct fake_site at;
    struct file_server f;
    struct world *w = world_with_a_file_server(&at, &f);
    int64_t c = add_cluster_of(w, "c", 0);
    pass(w, SECOND);
    set_disk_full(w, true);
    fleet_wake_file_server(sched_fleet(w->s), f.id);
    set_scale(w, c, one);
    turn(w);
    set_disk_full(w, false);
    pass(w, 60 * SECOND);
    assert_it_failed(w, f.id);
    world_free(w);
}

/* The id of a row that was rolled back is given again, to a node of another name. */
WORLD_TEST(test_a_node_that_never_was_leaves_nothing_to_that_which_gets_its_id, world_virtual(2))
{
    const struct scale one = {.kind = SCALE_AUTO, .minimum = 1, .maximum = 1};
    int64_t lost = add_cluster_of(w, "lost", 0), c = add_cluster_of(w, "c", 0);
    pass(w, SECOND);
    set_disk_full(w, true);
    set_scale(w, lost, one);
    turn(w);
    set_disk_full(w, false);
    set_scale(w, c, one);
    WAIT(w, counts(w, c).idle == 1);
    (void)fake_of(w, c, 0);
}
