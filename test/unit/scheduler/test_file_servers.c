/* SPDX-License-Identifier: MIT
 *
 * File servers that a machine exports, when the daemon starts again or a backup is put back. On
 * fake nodes, in virtual time; what is done on a real machine is in test_machine_mounts.c.
 */
#include "fake_site.h"
#include "file_servers.h"
#include "virtual.h"

#include "nodeagent-proto/link/fake_priv.h"

#define GUID "11111111-2222-3333-4444-555555555555"

struct exporter {
    struct world *w;
    struct fake_site at;
    struct site_file_server_rule rule;
    int64_t id;      /* of the one file server there is */
    int64_t cluster; /* of those tests that have one */
};

static struct fake_node *machine(struct exporter *x)
{
    return fake_find(virtual_of(x->w)->fake, "m00:/nonexistent/root-exports");
}

/* So many commands have begun on the machine; it has no node. */
static int commands(const struct exporter *x)
{
    return virtual_of(x->w)->started;
}

static bool last_exports(const struct exporter *x)
{
    const char *id = virtual_of(x->w)->last_started;
    return strncmp(id, GUID, strlen(GUID)) == 0 && strstr(id, "-up");
}

#define MOUNT                                                                                      \
    "'mountVolumes': {'fileServers': [{'fileServer': {'id': '/subscriptions/sub/resourceGroups/rg" \
    "/providers/Microsoft.BatchAI/workspaces/ws/fileServers/disks'}, 'relativeMountPath': "        \
    "'nfs'}]}"

static bool last_mounts(const struct exporter *x)
{
    return strstr(virtual_of(x->w)->last_started, "-mount-0") != NULL;
}

/* The machine m00 has exported it. */
static struct exporter *new_exporter(void)
{
    struct exporter *x = xcalloc(1, sizeof *x);
    SITE(&x->at, "m00", "m01");
    x->at.machines[0].host = "m00";
    x->at.machines[1].host = "m01";
    x->rule = (struct site_file_server_rule){.name = "*", .machine = "m00", .directory = "/srv"};
    x->at.site.file_servers = &x->rule;
    x->at.site.n_file_servers = 1;
    x->w = world_virtual_rooted(0, &x->at.site, dedicated.node_root);
    x->id = add_file_server(x->w, "disks", GUID);
    WAIT(x->w, server_state(x->w, x->id) == PROV_SUCCEEDED);
    assert_int_equal(commands(x), 1);
    assert_true(last_exports(x));
    return x;
}

static void free_exporter(struct exporter *x)
{
    world_free(x->w);
    free(x);
}

#define EXPORTER_TEST(name) FIXTURE_TEST(name, struct exporter *, x, new_exporter(), free_exporter)

static void stop(struct exporter *x)
{
    pass(x->w, 2 * SECOND); /* machines obey the daemon that was started last, to the second */
    world_stop(x->w);
}

static void delete (struct exporter *x)
{
    delete_row(x->w, RES_FILE_SERVER, x->id);
    WAIT(x->w, server_state(x->w, x->id) == 0);
}

EXPORTER_TEST(test_a_file_server_that_a_backup_brings_back_is_exported_again)
{
    struct err e = {0};
    pass(w, SECOND);
    const struct file_server was = server_row(w, x->id);
    ok(st_backup(path(w, "db"), path(w, "copy"), NULL, &e), &e);
    delete (x);
    assert_int_equal(commands(x), 2);
    assert_false(last_exports(x));
    stop(x);
    ok(st_restore(path(w, "db"), path(w, "key"), path(w, "copy"), NULL, &e), &e);
    world_start(w);
    assert_int_equal(server_state(w, x->id), PROV_SUCCEEDED);
    WAIT(w, commands(x) == 3);
    assert_true(last_exports(x));
    pass(w, 3600 * SECOND);
    assert_int_equal(commands(x), 3); /* once is enough */
    const struct file_server is = server_row(w, x->id);
    assert_int_equal(is.prov_state, PROV_SUCCEEDED);
    assert_int_equal(is.prov_us, was.prov_us);
    assert_int_equal(is.updated_us, was.updated_us);
}

EXPORTER_TEST(test_a_machine_that_is_down_exports_once_it_is_back)
{
    stop(x);
    fake_set_down(machine(x), true, 0);
    world_start(w);
    pass(w, 6 * 3600 * SECOND);
    assert_int_equal(commands(x), 1);
    assert_int_equal(server_state(w, x->id), PROV_SUCCEEDED);
    fake_set_down(machine(x), false, 0);
    int64_t back_us = virtual_of(w)->t.now_us;
    WAIT(w, commands(x) == 2);
    assert_true(last_exports(x));
    assert_true(virtual_of(w)->t.now_us - back_us < 600 * SECOND);
}

EXPORTER_TEST(test_a_refused_export_is_tried_again_soon)
{
    stop(x);
    fake_set_refusals(machine(x), 1000);
    world_start(w);
    pass(w, 5 * SECOND);
    assert_int_equal(commands(x), 1);
    fake_set_refusals(machine(x), 0);
    pass(w, 20 * SECOND);
    assert_int_equal(commands(x), 2);
    assert_true(last_exports(x));
}

EXPORTER_TEST(test_one_that_waits_to_be_exported_again_can_be_deleted)
{
    stop(x);
    fake_set_down(machine(x), true, 0);
    world_start(w);
    pass(w, 60 * SECOND);
    fake_set_down(machine(x), false, 0);
    delete (x);
    assert_int_equal(commands(x), 2);
    assert_false(last_exports(x));
    pass(w, 3600 * SECOND);
    assert_int_equal(commands(x), 2);
}

EXPORTER_TEST(test_what_no_machine_is_made_to_export_is_left_alone)
{
    stop(x);
    x->rule = (struct site_file_server_rule){.name = "*", .nfs = "nas1:/export/{name}"};
    world_start(w);
    pass(w, 3600 * SECOND);
    assert_int_equal(commands(x), 1);
    assert_int_equal(server_state(w, x->id), PROV_SUCCEEDED);
}

/* --- another inventory ------------------------------------------------------------------------ */

/* `f` lives as long as the test. */
static void use(struct exporter *x, struct fake_site *f, const struct site_file_server_rule *rule,
                const char *const *machines)
{
    struct err e = {0};
    fill_site(f, machines);
    for (size_t i = 0; i < f->site.n_machines; i++)
        f->machines[i].host = f->machines[i].name;
    f->site.file_servers = rule;
    f->site.n_file_servers = 1;
    ok(fleet_use_site(sched_fleet(x->w->s), &f->site, &e), &e);
    x->w->site = &f->site;
}

#define USE(x, f, rule, ...) use(x, f, rule, (const char *const[]){__VA_ARGS__, NULL})

/* The daemon ends before the inventory on the test's stack does. */
static void end(struct exporter *x)
{
    stop(x);
    x->w->site = &x->at.site;
    world_start(x->w);
}

/* The machines of the last export: "m00 m01 ". */
static const char *exported_to(const struct exporter *x)
{
    const char *text = "", *options = "(rw,sync,no_subtree_check,no_root_squash)";
    if (!last_exports(x))
        return "none";
    for (const char *at = virtual_of(x->w)->last_command; (at = strstr(at, options)); at++)
        text = arena_printf(&x->w->a, "%s%.3s ", text, at - 3);
    return text;
}

static void assert_last_was(struct exporter *x, bool exports, const char *machine)
{
    const char *name = arena_printf(&x->w->a, "%s:/nonexistent/root-exports", machine);
    assert_int_equal(last_exports(x), exports);
    assert_ptr_equal(virtual_of(x->w)->last_node, fake_find(virtual_of(x->w)->fake, name));
}

EXPORTER_TEST(test_machines_that_come_and_go_are_exported_to_as_the_inventory_says)
{
    struct fake_site more, same, fewer;
    assert_string_equal(exported_to(x), "m00 m01 ");
    USE(x, &more, &x->rule, "m00", "m01", "m02");
    WAIT(w, commands(x) == 2);
    assert_string_equal(exported_to(x), "m00 m01 m02 ");
    USE(x, &same, &x->rule, "m00", "m01", "m02");
    pass(w, 3600 * SECOND);
    assert_int_equal(commands(x), 2);
    USE(x, &fewer, &x->rule, "m00", "m02");
    WAIT(w, commands(x) == 3);
    assert_string_equal(exported_to(x), "m00 m02 ");
    assert_int_equal(server_state(w, x->id), PROV_SUCCEEDED);
    end(x);
}

EXPORTER_TEST(test_an_export_under_way_begins_anew_for_the_next_inventory)
{
    struct fake_site more, most;
    fake_set_hung(machine(x), true);
    USE(x, &more, &x->rule, "m00", "m01", "m02");
    pass(w, 10 * SECOND);
    USE(x, &most, &x->rule, "m00", "m01", "m02", "m03");
    pass(w, 10 * SECOND);
    assert_int_equal(commands(x), 1);
    fake_set_hung(machine(x), false);
    WAIT(w, commands(x) == 2);
    pass(w, 600 * SECOND);
    assert_string_equal(exported_to(x), "m00 m01 m02 m03 ");
    end(x);
}

EXPORTER_TEST(test_an_export_moves_with_its_rule)
{
    struct fake_site after;
    struct site_file_server_rule there = {.name = "*", .machine = "m01", .directory = "/srv"};
    USE(x, &after, &there, "m00", "m01");
    WAIT(w, commands(x) == 2);
    assert_last_was(x, false, "m00");
    WAIT(w, commands(x) == 3);
    assert_string_equal(exported_to(x), "m00 m01 ");
    assert_last_was(x, true, "m01");
    pass(w, 3600 * SECOND);
    assert_int_equal(commands(x), 3);
    delete (x);
    assert_int_equal(commands(x), 4);
    assert_false(last_exports(x));
    end(x);
}

/* Two machines have exchanged their names; the hosts and their order are the same. */
EXPORTER_TEST(test_an_export_follows_the_name_of_its_machine_to_another_host)
{
    struct fake_site after;
    struct err e = {0};
    pass(w, SECOND);
    SITE(&after, "m01", "m00");
    after.machines[0].host = "m00";
    after.machines[1].host = "m01";
    after.site.file_servers = &x->rule;
    after.site.n_file_servers = 1;
    ok(fleet_use_site(sched_fleet(w->s), &after.site, &e), &e);
    w->site = &after.site;
    WAIT(w, commands(x) == 2);
    assert_last_was(x, true, "m01");
    assert_string_equal(exported_to(x), "m00 m01 ");
    end(x);
}

/* Nobody can end what a machine exports that cannot be reached; the new place serves all the same.
 */
EXPORTER_TEST(test_an_export_moves_away_from_a_machine_that_is_down)
{
    struct fake_site after;
    struct site_file_server_rule there = {.name = "*", .machine = "m01", .directory = "/srv"};
    fake_set_down(machine(x), true, 0);
    USE(x, &after, &there, "m00", "m01");
    WAIT(w, commands(x) == 2);
    assert_string_equal(exported_to(x), "m00 m01 ");
    end(x);
}

/* The machine m00 is setting up the only file server: the command runs there. */
static void set_up_another(struct exporter *x)
{
    delete (x);
    x->id = add_file_server(x->w, "more", GUID);
    WAIT(x->w, commands(x) == 3);
    assert_last_was(x, true, "m00");
    assert_int_equal(server_state(x->w, x->id), PROV_CREATING);
}

EXPORTER_TEST(test_an_export_moves_with_its_rule_while_it_is_set_up)
{
    struct fake_site after;
    struct site_file_server_rule there = {.name = "*", .machine = "m01", .directory = "/srv"};
    set_up_another(x);
    USE(x, &after, &there, "m00", "m01");
    WAIT(w, commands(x) == 4);
    assert_last_was(x, false, "m00");
    assert_int_equal(server_state(w, x->id), PROV_CREATING);
    WAIT(w, server_state(w, x->id) == PROV_SUCCEEDED);
    assert_last_was(x, true, "m01");
    pass(w, 3600 * SECOND);
    assert_int_equal(commands(x), 5);
    end(x);
}

EXPORTER_TEST(test_an_export_that_moves_while_it_is_set_up_ends_at_both_places_with_its_row)
{
    struct fake_site after;
    struct site_file_server_rule there = {.name = "*", .machine = "m01", .directory = "/srv"};
    set_up_another(x);
    USE(x, &after, &there, "m00", "m01");
    delete_row(w, RES_FILE_SERVER, x->id);
    WAIT(w, commands(x) == 4);
    assert_last_was(x, false, "m00");
    WAIT(w, server_state(w, x->id) == 0);
    assert_last_was(x, false, "m01");
    assert_int_equal(commands(x), 5);
    end(x);
}

/* The deletion comes before the export for the other inventory has begun. */
EXPORTER_TEST(test_what_is_to_be_exported_again_can_be_deleted_at_once)
{
    struct fake_site more;
    pass(w, SECOND);
    USE(x, &more, &x->rule, "m00", "m01", "m02");
    delete (x);
    assert_last_was(x, false, "m00");
    assert_int_equal(commands(x), 2);
    end(x);
}

EXPORTER_TEST(test_what_is_to_move_can_be_deleted_at_once)
{
    struct fake_site after;
    struct site_file_server_rule there = {.name = "*", .machine = "m01", .directory = "/srv"};
    pass(w, SECOND);
    USE(x, &after, &there, "m00", "m01");
    delete_row(w, RES_FILE_SERVER, x->id);
    WAIT(w, commands(x) == 2);
    assert_last_was(x, false, "m00");
    WAIT(w, server_state(w, x->id) == 0);
    end(x);
}

/* --- who mounts it ---------------------------------------------------------------------------- */

static int64_t add_nodes(struct exporter *x, const char *setup, int target)
{
    return add_cluster(x->w, "c",
                       (struct cluster_wish){
                           .scale = {.target = target}, .setup = setup, .vm_size = "STANDARD_NC6"});
}

/* The daemon has started again and has a link to the exporting machine, which says nothing. A node
 * is to be made that mounts the file server. */
static struct exporter *new_silent_exporter(void)
{
    struct exporter *x = new_exporter();
    x->cluster = add_nodes(x, MOUNT, 0);
    stop(x);
    fake_set_hung(machine(x), true);
    world_start(x->w);
    resize(x->w, x->cluster, 1);
    return x;
}

#define SILENT_EXPORTER_TEST(name)                                                                 \
    FIXTURE_TEST(name, struct exporter *, x, new_silent_exporter(), free_exporter)

SILENT_EXPORTER_TEST(test_a_node_mounts_what_has_been_exported_again)
{
    pass(w, 30 * SECOND);
    assert_int_equal(counts(w, x->cluster).preparing, 1);
    assert_int_equal(commands(x), 1);
    fake_set_hung(machine(x), false);
    WAIT(w, commands(x) == 2);
    assert_true(last_exports(x));
    WAIT(w, commands(x) == 3);
    assert_true(last_mounts(x));
    WAIT(w, counts(w, x->cluster).idle == 1);
}

EXPORTER_TEST(test_a_node_of_a_new_machine_mounts_what_has_been_exported_to_it)
{
    struct fake_site more;
    struct site_file_server_rule there = {.name = "*", .machine = "m01", .directory = "/srv"};
    x->cluster = add_nodes(x, MOUNT, 0);
    fake_set_hung(machine(x), true);
    USE(x, &more, &there, "m00", "m01", "m02");
    resize(w, x->cluster, 1);
    pass(w, 30 * SECOND);
    assert_int_equal(counts(w, x->cluster).preparing, 1);
    assert_int_equal(commands(x), 1);
    fake_set_hung(machine(x), false);
    WAIT(w, commands(x) == 3);
    assert_string_equal(exported_to(x), "m00 m01 m02 ");
    WAIT(w, commands(x) == 4);
    assert_true(last_mounts(x));
    WAIT(w, counts(w, x->cluster).idle == 1);
    resize(w, x->cluster, 0);
    WAIT(w, counts(w, x->cluster).idle == 0 && nodes_of(w, x->cluster, &(struct node *){0}) == 0);
    end(x);
}

EXPORTER_TEST(test_a_job_mounts_what_has_been_exported_again_and_no_other_job_waits)
{
    x->cluster = add_nodes(x, "'mountVolumes': {}", 2);
    WAIT(w, counts(w, x->cluster).idle == 2);
    stop(x);
    fake_set_hung(machine(x), true);
    world_start(w);
    int64_t j = add_job(w, x->cluster, "j", JOB("fake run=1000", .more = MOUNT ","));
    int64_t other = add_job(w, x->cluster, "other", JOB("fake run=1000"));
    assert_ends(w, other, EXEC_SUCCEEDED);
    pass(w, 30 * SECOND);
    assert_int_equal(commands(x), 2);
    fake_set_hung(machine(x), false);
    WAIT(w, commands(x) == 3);
    assert_true(last_exports(x));
    WAIT(w, commands(x) == 4);
    assert_true(last_mounts(x));
    assert_ends(w, j, EXEC_SUCCEEDED);
}

/* Its export may be there all the same. */
SILENT_EXPORTER_TEST(test_a_node_mounts_it_when_exporting_again_has_failed)
{
    fake_set_hung(machine(x), false);
    fake_set_down(machine(x), true, 0);
    WAIT(w, counts(w, x->cluster).idle == 1);
    assert_int_equal(commands(x), 2);
    assert_true(last_mounts(x));
}

/* Neither the first try nor the second, which has to end the first one's command. */
EXPORTER_TEST(test_an_export_that_hangs_holds_up_no_node_for_long)
{
    x->cluster = add_nodes(x, MOUNT, 0);
    for (int life = 0; life < 2; life++) {
        stop(x);
        virtual_of(w)->stuck = "-up";
        world_start(w);
        resize(w, x->cluster, life + 1);
        int64_t since_us = virtual_of(w)->t.now_us;
        WAIT(w, counts(w, x->cluster).idle == life + 1);
        assert_in_range(virtual_of(w)->t.now_us - since_us, 60 * SECOND, 240 * SECOND);
        assert_true(last_mounts(x));
    }
}

SILENT_EXPORTER_TEST(test_a_node_does_not_wait_for_one_that_is_deleted)
{
    pass(w, 30 * SECOND);
    delete_row(w, RES_FILE_SERVER, x->id);
    WAIT(w, counts(w, x->cluster).unusable == 1);
    cluster_says(w, x->cluster, "there is none");
    assert_int_equal(commands(x), 1);
}
