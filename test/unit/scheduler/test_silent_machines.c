/* SPDX-License-Identifier: MIT
 *
 * What becomes of jobs and clusters when machines do not answer, stay away, were restarted or have
 * left the inventory. On fake nodes, in virtual time; what SSH itself has to do with it is in
 * test_links.c.
 */
#include "fake_site.h"
#include "virtual.h"

#include "nodeagent-proto/link/fake_priv.h"

/* m00, m01 and so on, all of which answer. */
static struct fake_site *new_machines(int n)
{
    struct fake_site *f = xcalloc(1, sizeof *f);
    static char names[MACHINES_MAX][4];
    const char *list[MACHINES_MAX + 1] = {NULL};
    assert_in_range(n, 1, MACHINES_MAX);
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "m%02d", i % 100);
        list[i] = names[i];
    }
    fill_site(f, list);
    let_answer(f);
    f->site.unusable_after_s = 600;
    f->w = world_virtual_at(0, &f->site);
    return f;
}

#define MACHINES_TEST(name, n) FIXTURE_TEST(name, struct fake_site *, f, new_machines(n), free_site)

static struct fake_node *machine(struct fake_site *f, const char *name)
{
    return fake_find(virtual_of(f->w)->fake, name);
}

static struct node_rt *node_of(struct world *w, int64_t cluster)
{
    return node_rt_find(w->s->fleet, node_row(w, cluster, 0).id);
}

/* A job that takes 50 minutes; `task` is what its task is called. */
static int64_t long_job(struct world *w, int64_t cluster, char task[120])
{
    int64_t j = add_job(w, cluster, "j", JOB("fake run=3000000", .wall_s = 100000));
    WAIT(w, virtual_of(w)->started == 1 && job_state(w, j) == EXEC_RUNNING);
    snprintf(task, 120, "%s", virtual_of(w)->last_started);
    return j;
}

/* --- machines that are asked to reboot ---------------------------------------------------------
 */

/* The daemon ends before the request has left. */
TEST(test_a_reboot_is_asked_for_again_after_a_restart)
{
    struct fake_site at;
    struct err e = {0};
    SITE(&at, "m1");
    let_answer(&at);
    struct world *w = world_virtual_rooted(0, &at.site, dedicated.node_root);
    int64_t c = idle_cluster(w, 1);
    const char *before = node_row(w, c, 0).incarnation;
    ok(fleet_machine_reboot(sched_fleet(w->s), "m1", &e), &e);
    restart(w);
    assert_string_equal(node_row(w, c, 0).incarnation, before);
    pass(w, 25 * SECOND);
    assert_int_equal(fleet_counts(sched_fleet(w->s))->opened, 0);
    WAIT(w, counts(w, c).idle == 1);
    assert_string_not_equal(node_row(w, c, 0).incarnation, before);
    world_free(w);
}

/* It is not asked twice, although the daemon starts anew. */
TEST(test_a_machine_that_has_rebooted_is_not_asked_again)
{
    struct fake_site at;
    struct err e = {0};
    SITE(&at, "m1");
    let_answer(&at);
    struct world *w = world_virtual_rooted(0, &at.site, dedicated.node_root);
    int64_t c = idle_cluster(w, 1);
    const char *before = node_row(w, c, 0).incarnation;
    ok(fleet_machine_reboot(sched_fleet(w->s), "m1", &e), &e);
    pass(w, SECOND);
    int troubles = fake_troubles(fake_at(virtual_of(w)->fake, 0));
    restart(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_string_not_equal(node_row(w, c, 0).incarnation, before);
    assert_int_equal(fake_troubles(fake_at(virtual_of(w)->fake, 0)), troubles);
    world_free(w);
}

/* It is back, but waits for room on its disk. */
TEST(test_a_rebooted_machine_with_a_full_disk_is_not_asked_again)
{
    struct fake_site at;
    struct err e = {0};
    SITE(&at, "m1");
    let_answer(&at);
    struct world *w = world_virtual_rooted(0, &at.site, dedicated.node_root);
    int64_t c = idle_cluster(w, 1);
    const char *before = node_row(w, c, 0).incarnation;
    fake_set_full(fake_at(virtual_of(w)->fake, 0), true);
    WAIT(w, counts(w, c).unusable == 1);
    ok(fleet_machine_reboot(sched_fleet(w->s), "m1", &e), &e);
    WAIT(w, strcmp(node_row(w, c, 0).incarnation, before) != 0);
    pass(w, SECOND);
    assert_int_equal(node_row(w, c, 0).failure, FAIL_NODE_REBOOTED);
    before = node_row(w, c, 0).incarnation;
    restart(w);
    pass(w, 60 * SECOND);
    assert_string_equal(node_row(w, c, 0).incarnation, before);
    fake_set_full(fake_at(virtual_of(w)->fake, 0), false);
    WAIT(w, counts(w, c).idle == 1);
    assert_string_equal(node_row(w, c, 0).incarnation, before);
    world_free(w);
}

/* --- machines that answer half ---------------------------------------------------------------- */

MACHINES_TEST(test_a_machine_that_does_not_say_which_tasks_run_gets_another_link, 1)
{
    int64_t c = idle_cluster(w, 1);
    world_stop(w);
    fake_set_secretive(machine(f, "m00"), true);
    world_start(w);
    int64_t j = add_job(w, c, "j", JOB("fake run=1000"));
    pass(w, 50 * SECOND);
    assert_null(node_rt_why_down(node_of(w, c)));
    pass(w, 20 * SECOND);
    assert_says(node_rt_why_down(node_of(w, c)), "has not reported for 60 s which tasks run");
    assert_int_equal(virtual_of(w)->started, 0);
    fake_set_secretive(machine(f, "m00"), false);
    assert_ends(w, j, EXEC_SUCCEEDED);
}

/* --- machines that stay away ---------------------------------------------------------------- */

MACHINES_TEST(test_a_job_of_a_silent_machine_is_queued_and_its_task_ends_first, 1)
{
    char first[120];
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = long_job(w, c, first);
    struct fake_node *n = machine(f, "m00");
    fake_set_down(n, true, 0);
    WAIT(w, counts(w, c).unusable == 1 && job_state(w, j) == EXEC_QUEUED && *errors_of(w, c));
    cluster_says(w, c, "NodeUnreachable", "could not be reached for", "remedy");
    assert_true(fake_runs(n, first));
    fake_set_down(n, false, 0);
    WAIT(w, job_row(w, j).attempt == 2 && virtual_of(w)->started == 2);
    assert_false(fake_runs(n, first));
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_string_equal(errors_of(w, c), "");
    assert_int_equal(virtual_of(w)->most_at_once,
                     1); /* the first was gone before the second began */
}

MACHINES_TEST(test_a_job_of_a_silent_machine_fails_by_the_clusters_rule, 1)
{
    char task[120];
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = long_job(w, c, task);
    struct fake_node *n = machine(f, "m00");
    fake_set_down(n, true, 0);
    WAIT(w, job_ended(w, j) && counts(w, c).unusable == 1 && node_row(w, c, 0).live == 0);
    job_says(w, j, "NodeLost", "could not be reached for");
    assert_true(fake_runs(n, task));
    /* A daemon that starts anew goes on trying. */
    world_stop(w);
    fake_set_down(n, false, 0);
    world_start(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_false(fake_runs(n, task));
}

MACHINES_TEST(test_a_machine_that_never_answered_is_unusable_soon_and_heals, 1)
{
    fake_set_down(machine(f, "m00"), true, 0);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).unusable == 1 && *errors_of(w, c));
    assert_int_equal(node_of(w, c)->contact.failures, 3);
    cluster_says(w, c, "in 3 tries");
    fake_set_down(machine(f, "m00"), false, 0);
    WAIT(w, counts(w, c).idle == 1);
}

MACHINES_TEST(test_a_machine_that_never_answered_gives_its_place_to_one_that_works, 2)
{
    fake_set_down(machine(f, "m00"), true, 0);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1 && cluster_row(w, c).alloc_state == ALLOC_STEADY);
    assert_string_equal(machines_of(w, c), "m01 ");
    assert_string_equal(errors_of(w, c), "");
    assert_true(*view_of(w, "m00").reason);
}

MACHINES_TEST(test_a_machine_is_not_replaced_by_another_in_trouble, 2)
{
    fake_set_down(machine(f, "m00"), true, 0);
    fake_set_down(machine(f, "m01"), true, 0);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).unusable == 1 && w->s->fleet->machines[1]->trouble);
    assert_string_equal(machines_of(w, c), "m01 ");
    int64_t node = node_row(w, c, 0).id;
    sched_wake_pool(w->s, c);
    WAIT(w, node_of(w, c)->contact.failures >= 4);
    assert_int_equal(node_row(w, c, 0).id, node);
}

MACHINES_TEST(test_a_machine_that_left_the_inventory_is_no_node, 1)
{
    char task[120];
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = long_job(w, c, task);
    world_stop(w);
    f->site.n_machines = 0;
    world_start(w);
    WAIT(w, job_ended(w, j) && counts(w, c).unusable == 1 && *errors_of(w, c));
    cluster_says(w, c, "NodeNotInInventory");
    WAIT(w, node_row(w, c, 0).live == 0);
    world_stop(w);
    f->site.n_machines = 1;
    world_start(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_false(fake_runs(machine(f, "m00"), task));
}

/* A preparation ends all tasks that it does not know, so it must not begin there. */
MACHINES_TEST(test_a_machine_that_was_given_another_name_goes_on_under_its_first, 2)
{
    char task[120];
    struct fake_node *first = machine(f, "m00"), *second = machine(f, "m01");
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = long_job(w, c, task);
    memcpy(second->incarnation, first->incarnation, sizeof second->incarnation);
    memcpy(second->boot_id, first->boot_id, sizeof second->boot_id);
    resize(w, c, 2);
    WAIT(w, counts(w, c).unusable == 1);
    cluster_says(w, c, "NodeUnreachable", "this is the machine m00");
    assert_true(fake_runs(first, task));
    resize(w, c, 1);
    WAIT(w, strcmp(machines_of(w, c), "m00 ") == 0);
    WAIT(w, job_ended(w, j));
    assert_int_equal(job_row(w, j).attempt, 1);
}

/* Nobody may use what a task holds that cannot be killed, were it of a job that has gone elsewhere.
 */
MACHINES_TEST(test_a_stray_task_that_does_not_die_makes_the_node_unusable, 1)
{
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    const struct job_wish wish = {.command = "fake run=3000000 dying=1000000", .wall_s = 100000};
    int64_t j = add_job(w, c, "j", wish);
    WAIT(w, virtual_of(w)->started == 1);
    fake_set_down(machine(f, "m00"), true, 0);
    WAIT(w, counts(w, c).unusable == 1 && job_state(w, j) == EXEC_QUEUED);
    fake_set_down(machine(f, "m00"), false, 0);
    WAIT(w, counts(w, c).unusable == 1 && says(w, c, "TaskNotKilled"));
    assert_int_equal(virtual_of(w)->ended, 0);
    WAIT(w, virtual_of(w)->ended == 1);
    undrain(w, "m00");
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).attempt, 2);
    assert_int_equal(virtual_of(w)->most_at_once, 1);
}

/* --- machines that are not what they were --------------------------------------------------- */

MACHINES_TEST(test_a_machine_that_was_restarted_is_prepared_anew, 1)
{
    char task[120];
    struct err e;
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = long_job(w, c, task);
    struct node row = node_row(w, c, 0);
    char *now = arena_strdup(&w->a, row.incarnation), *at = strchr(now, '@');
    assert_non_null(at);
    *at = '\0';
    /* As a daemon wrote it that knew of no boot ids: nothing follows from it. */
    ok(st_node_set_incarnation(w->st, row.id, now, false, row.booted_us, &e), &e);
    wake(w->s->wakes, &woken_node, row.id);
    WAIT(w, strchr(node_row(w, c, 0).incarnation, '@'));
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    fake_restart(machine(f, "m00"));
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    job_says(w, j, "NodeRebooted");
    assert_false(fake_runs(machine(f, "m00"), task));
    assert_true(node_row(w, c, 0).state_us > row.state_us);
    assert_string_not_equal(node_row(w, c, 0).incarnation, row.incarnation);
}

WORLD_TEST(test_a_local_node_whose_host_was_restarted_is_prepared_anew, world_virtual(1))
{
    char task[120];
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = long_job(w, c, task);
    world_stop(w);
    fake_restart(fake_at(virtual_of(w)->fake, 0));
    world_start(w);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    job_says(w, j, "NodeRebooted");
    assert_false(fake_runs(fake_at(virtual_of(w)->fake, 0), task));
}

/* --- taking turns --------------------------------------------------------------------------- */

/* Notes how many were connecting at most. */
static bool all_troubled(struct world *w, int *most)
{
    if (w->s->fleet->turns.connecting > *most)
        *most = w->s->fleet->turns.connecting;
    for (size_t i = 0; i < w->s->fleet->n_machines; i++)
        if (!w->s->fleet->machines[i]->trouble)
            return false;
    return true;
}

MACHINES_TEST(test_no_more_links_connect_at_once_than_the_site_allows, MACHINES_MAX)
{
    int most = 0;
    for (int i = 0; i < MACHINES_MAX; i++)
        fake_set_down(machine(f, f->machines[i].name), true, 0);
    cluster_of(w, MACHINES_MAX, DEALLOC_REQUEUE);
    WAIT(w, all_troubled(w, &most));
    assert_int_equal(most, f->site.connect_limit);
}

/* Each pause is at least 80 % of twice the one before, from half a second on. */
MACHINES_TEST(test_pauses_between_tries_grow, 1)
{
    int64_t at[4];
    fake_set_down(machine(f, "m00"), true, 0);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).preparing == 1 && node_of(w, c));
    for (int i = 0; i < 4; i++) {
        WAIT(w, node_of(w, c)->contact.failures == i + 1);
        at[i] = virtual_of(w)->t.now_us;
    }
    for (int i = 0; i < 3; i++)
        assert_true(at[i + 1] - at[i] >= (400000 << i));
}

/* --- giving machines back ------------------------------------------------------------------- */

static bool is_empty(struct world *w, int64_t cluster)
{
    return rows_of(counts(w, cluster)) == 0;
}

MACHINES_TEST(test_a_silent_machine_is_given_back_and_cleaned_for_the_next, 1)
{
    char first[120];
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = long_job(w, c, first);
    struct fake_node *n = machine(f, "m00");
    fake_set_down(n, true, 0);
    resize(w, c, 0);
    WAIT(w, is_empty(w, c));
    assert_true(fake_runs(n, first));
    fake_set_down(n, false, 0);
    resize(w, c, 1);
    WAIT(w, virtual_of(w)->started == 2);
    assert_false(fake_runs(n, first));
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).attempt, 2);
    assert_int_equal(virtual_of(w)->most_at_once, 1);
}

static struct fake_site *with_an_endless_health_command(int64_t *cluster)
{
    struct fake_site *f = new_machines(1);
    f->group.health_command = "fake run=100000000";
    f->group.health_interval_s = 100000;
    *cluster = cluster_of(f->w, 1, DEALLOC_REQUEUE);
    WAIT(f->w, virtual_of(f->w)->started == 1);
    return f;
}

TEST(test_a_health_command_under_way_holds_up_no_release)
{
    int64_t c;
    struct fake_site *f = with_an_endless_health_command(&c);
    struct world *w = f->w;
    resize(w, c, 0);
    WAIT(w, is_empty(w, c));
    /* That it was killed for the release says nothing about the machine. */
    assert_int_equal(virtual_of(w)->ended, 1);
    assert_false(w->s->fleet->machines[0]->drained);
    resize(w, c, 1);
    WAIT(w, virtual_of(w)->started == 2);
    free_site(f);
}

TEST(test_a_health_command_under_way_holds_up_no_preparation)
{
    int64_t c;
    struct fake_site *f = with_an_endless_health_command(&c);
    struct world *w = f->w;
    fake_set_down(machine(f, "m00"), true, 0);
    WAIT(w, counts(w, c).unusable == 1);
    fake_set_down(machine(f, "m00"), false, 0);
    WAIT(w, counts(w, c).idle == 1);
    assert_false(w->s->fleet->machines[0]->drained);
    free_site(f);
}

/* --- machines that the health command has drained --------------------------------------------- */

/* m00 has been given back while its health command failed. */
static int64_t given_back_sick(struct fake_site *f)
{
    struct world *w = f->w;
    f->group.health_command = "fake exit=1";
    f->group.health_interval_s = 10;
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, w->s->fleet->machines[0]->drained);
    resize(w, c, 0);
    WAIT(w, is_empty(w, c));
    assert_true(w->s->fleet->machines[0]->drained);
    return c;
}

MACHINES_TEST(test_a_sick_machine_that_was_given_back_is_used_when_it_is_well, 1)
{
    int64_t c = given_back_sick(f);
    int64_t j = add_job(w, c, "j", JOB("fake run=10"));
    resize(w, c, 1);
    WAIT(w, counts(w, c).idle == 1);
    pass(w, 60 * SECOND);
    assert_true(w->s->fleet->machines[0]->drained);
    assert_int_equal(job_state(w, j), EXEC_QUEUED);
    cluster_says(w, c, "NodeDrained");
    f->group.health_command = "fake run=10";
    WAIT(w, job_ended(w, j));
    assert_false(w->s->fleet->machines[0]->drained);
}

/* m00 has been given back like this. m01 has no health command, and a person has drained it. */
static int64_t given_back_sick_beside_a_well_machine(struct fake_site *f)
{
    static struct site_group without_command;
    without_command = f->group;
    f->machines[1].group = &without_command;
    drain(f->w, "m01", "fan");
    return given_back_sick(f);
}

MACHINES_TEST(test_a_well_machine_takes_the_place_of_a_sick_one, 2)
{
    int64_t c = given_back_sick_beside_a_well_machine(f);
    resize(w, c, 1);
    WAIT(w, counts(w, c).idle == 1);
    assert_string_equal(machines_of(w, c), "m00 ");
    undrain(w, "m01");
    WAIT(w, strcmp(machines_of(w, c), "m01 ") == 0 && counts(w, c).idle == 1);
}

MACHINES_TEST(test_a_well_machine_takes_the_place_of_a_sick_one_that_cannot_be_prepared, 2)
{
    int64_t c = given_back_sick_beside_a_well_machine(f);
    fake_set_refusing(machine(f, "m00"), "an I/O error of the disk");
    resize(w, c, 1);
    WAIT(w, counts(w, c).unusable == 1);
    assert_string_equal(machines_of(w, c), "m00 ");
    assert_non_null(node_row(w, c, 0).incarnation);
    undrain(w, "m01");
    WAIT(w, strcmp(machines_of(w, c), "m01 ") == 0 && counts(w, c).idle == 1);
}

MACHINES_TEST(test_a_well_machine_takes_the_place_of_a_sick_one_after_a_restart, 2)
{
    int64_t c = given_back_sick_beside_a_well_machine(f);
    resize(w, c, 1);
    WAIT(w, counts(w, c).idle == 1);
    restart(w);
    pass(w, 60 * SECOND);
    assert_string_equal(machines_of(w, c), "m00 ");
    undrain(w, "m01");
    WAIT(w, strcmp(machines_of(w, c), "m01 ") == 0 && counts(w, c).idle == 1);
}

/* It may come back, and the node may keep files. */
MACHINES_TEST(test_a_machine_that_had_a_job_before_it_was_sick_keeps_its_place_after_a_restart, 2)
{
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    assert_ends(w, add_job(w, c, "j", JOB("fake run=10")), EXEC_SUCCEEDED);
    f->group.health_command = "fake exit=1";
    f->group.health_interval_s = 10;
    WAIT(w, w->s->fleet->machines[0]->drained);
    restart(w);
    pass(w, 60 * SECOND);
    assert_string_equal(machines_of(w, c), "m00 ");
}

MACHINES_TEST(test_a_drain_by_the_health_command_ends_with_the_command, 1)
{
    int64_t c = given_back_sick(f);
    f->group.health_command = NULL;
    resize(w, c, 1);
    WAIT(w, counts(w, c).idle == 1 && !w->s->fleet->machines[0]->drained);
}

MACHINES_TEST(test_what_a_person_drained_is_not_claimed_when_its_command_succeeds, 1)
{
    struct err e;
    int64_t c = given_back_sick(f);
    ok(fleet_machine_drain(sched_fleet(w->s), "m00", "new fan on Tuesday", &e), &e);
    f->group.health_command = "fake run=10";
    resize(w, c, 1);
    pass(w, 600 * SECOND);
    assert_true(is_empty(w, c) && w->s->fleet->machines[0]->drained);
}
