/* SPDX-License-Identifier: MIT
 *
 * Machines of the inventory: who gets which, what is missing and why, drained ones, and what a
 * restart and another inventory make of it. Nothing listens where these machines are said to be,
 * so their nodes never become idle by themselves; tests that need it write it.
 */
#include "world.h"

#include <sys/resource.h>

#include "scheduler/sched_priv.h"

/* --- sites ----------------------------------------------------------------------------------- */

#define MACHINES_MAX 8

struct fake_site {
    struct site site;
    struct site_machine machines[MACHINES_MAX];
    char known_hosts[64];
};

static const char *const nc6[] = {"STANDARD_NC6", NULL};
static const struct site_group dedicated = {
    .user = "nobody", .node_root = "/nonexistent/root", .vm_sizes = nc6, .priority = VM_DEDICATED};
static const struct site_group cheap = {
    .user = "nobody", .node_root = "/nonexistent/root", .priority = VM_LOWPRIORITY};

static struct node_agents *agents;

static int load_agents(void **state)
{
    (void)state;
    const char *path = getenv("BATCHAI_NODE");
    const struct node_agent_file file = {"x86_64", path ? path : "build/batchai-node"};
    struct err e = {0};
    ok(node_agents_load(&file, 1, &agents, &e), &e);
    return 0;
}

static int free_agents(void **state)
{
    (void)state;
    node_agents_free(agents);
    return 0;
}

/* Machines of these names, in order; those that begin with "low" are of the other group. */
static void fill_site(struct fake_site *f, const char *const *names)
{
    *f = (struct fake_site){.site = {.machines = f->machines,
                                     .known_hosts = "/nonexistent/known_hosts",
                                     .agents = agents,
                                     .connect_limit = 8,
                                     .connect_timeout_s = 5,
                                     .keepalive_s = 5,
                                     .dead_after_s = 15,
                                     .unusable_after_s = 3600,
                                     .health_interval_s = 3600}};
    for (size_t i = 0; names[i]; i++) {
        assert_in_range(i, 0, MACHINES_MAX - 1);
        f->machines[i] = (struct site_machine){
            names[i], "127.0.0.1", 1, strncmp(names[i], "low", 3) == 0 ? &cheap : &dedicated};
        f->site.n_machines++;
    }
}

#define SITE(f, ...) fill_site((f), (const char *const[]){__VA_ARGS__, NULL})

/* --- what there is ---------------------------------------------------------------------------- */

static int64_t add_gpu_cluster(struct world *w, const char *name, int target)
{
    return add_cluster(
        w, name, (struct cluster_wish){.scale = {.target = target}, .vm_size = "STANDARD_NC6"});
}

static void resize(struct world *w, int64_t cluster, int target)
{
    set_scale(w, cluster,
              (struct scale){.kind = SCALE_MANUAL, .target = target, .dealloc = DEALLOC_REQUEUE});
}

static size_t nodes_of(struct world *w, int64_t cluster, struct node **rows)
{
    struct err e = {0};
    size_t n;
    ok(st_node_list(w->st, &w->a, cluster, rows, &n, &e), &e);
    return n;
}

static const char *machine_name(struct world *w, int64_t id)
{
    const struct machine *m = machine_find(w->s, id);
    return m ? m->name : "local";
}

/* The machines of a cluster's nodes by ordinal: "m1 m2 ". */
static const char *machines_of(struct world *w, int64_t cluster)
{
    struct node *rows;
    const char *text = "";
    size_t n = nodes_of(w, cluster, &rows);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&w->a, "%s%s ", text, machine_name(w, rows[i].machine_id));
    return text;
}

static const char *errors_of(struct world *w, int64_t cluster)
{
    const char *errors = cluster_row(w, cluster).errors;
    return errors ? errors : "";
}

static bool says(struct world *w, int64_t cluster, const char *words)
{
    return strstr(errors_of(w, cluster), words) != NULL;
}

static void assert_says(struct world *w, int64_t cluster, const char *words)
{
    if (!says(w, cluster, words))
        fail_msg("\"%s\" does not say \"%s\"", errors_of(w, cluster), words);
}

static struct machine_view view_of(struct world *w, const char *name)
{
    struct machine_view *views;
    size_t n;
    struct err e = {0};
    ok(sched_machines(w->s, &w->a, &views, &n, &e), &e);
    for (size_t i = 0; i < n; i++)
        if (strcmp(views[i].name, name) == 0)
            return views[i];
    return (struct machine_view){.name = NULL};
}

/* As if the node had been prepared. */
static void make_idle(struct world *w, int64_t cluster)
{
    struct node *rows;
    size_t n = nodes_of(w, cluster, &rows);
    for (size_t i = 0; i < n; i++) {
        struct err e = {0};
        const struct st_node_move m = {
            .id = rows[i].id, .from = rows[i].state, .to = NODE_IDLE, .now_us = time_now_us()};
        if (rows[i].state != NODE_IDLE)
            ok(st_node_move(w->st, &m, &e), &e);
    }
    sched_wake_cluster(w->s, cluster);
}

/* --- who gets which --------------------------------------------------------------------------- */

static void test_claims_are_exclusive(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "m2", "m3");
    struct world *w = world_at(4, &f.site);
    int64_t one = add_gpu_cluster(w, "one", 2), two = add_gpu_cluster(w, "two", 2);
    WAIT(w, says(w, two, "NodeCapacityReached"));
    assert_string_equal(machines_of(w, one), "m1 m2 ");
    assert_string_equal(machines_of(w, two), "m3 ");
    assert_false(says(w, one, "NodeCapacityReached"));
    assert_int_equal(cluster_row(w, one).alloc_state, ALLOC_STEADY);
    assert_int_equal(cluster_row(w, two).alloc_state, ALLOC_RESIZING);
    assert_says(w, two,
                "1 of the 2 nodes asked for is missing: 3 machines serve STANDARD_NC6 with "
                "priority dedicated: 1 belongs to this cluster, 2 to cluster one of workspace ws");
    world_free(w);
}

static void test_what_is_given_back_goes_to_who_waits(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "m2");
    struct world *w = world_at(0, &f.site);
    int64_t one = add_gpu_cluster(w, "one", 2), two = add_gpu_cluster(w, "two", 1);
    WAIT(w, says(w, two, "NodeCapacityReached"));
    resize(w, one, 1);
    WAIT(w, strcmp(machines_of(w, two), "m2 ") == 0);
    WAIT(w, !says(w, two, "NodeCapacityReached"));
    assert_string_equal(machines_of(w, one), "m1 ");
    WAIT(w, cluster_row(w, two).alloc_state == ALLOC_STEADY);
    world_free(w);
}

static void test_size_and_priority_decide(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "low1", "m2");
    struct world *w = world_at(4, &f.site);
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
    world_free(w);
}

static void test_what_may_be_asked_for(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "m2");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    const struct scale three = {.kind = SCALE_MANUAL, .target = 3};
    /* More than there are now is waited for. */
    ok(sched_check_scale(w->s, "standard_nc6", VM_DEDICATED, &three, &e), &e);
    assert_int_equal(sched_check_scale(w->s, "STANDARD_NC6", VM_LOWPRIORITY, &three, &e), -1);
    assert_int_equal(e.code, ERR_INVALID_PROPERTY);
    assert_string_equal(e.msg, "vmSize STANDARD_NC6 is not served here with vmPriority "
                               "lowpriority; the sizes served are: none");
    assert_int_equal(sched_check_scale(w->s, "STANDARD_D1", VM_DEDICATED, &three, &e), -1);
    assert_non_null(strstr(e.msg, "the sizes served are: STANDARD_NC6"));
    struct cluster c = {.vm_size = "STANDARD_NC6", .vm_priority = VM_DEDICATED, .scale = three};
    assert_int_equal(sched_most_nodes(w->s, &c), 3);
    c.scale.target = 1;
    assert_int_equal(sched_most_nodes(w->s, &c), 2);
    c.scale = (struct scale){.kind = SCALE_AUTO, .maximum = 5};
    assert_int_equal(sched_most_nodes(w->s, &c), 5);
    world_free(w);
}

static void test_the_most_promising_first(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "bad", "new1", "new2", "good", "gone");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    machine_contact(w->s, &w->s->machines[0], NULL);
    machine_trouble(&w->s->machines[0], "no route to host");
    machine_contact(w->s, &w->s->machines[3], NULL);
    ok(sched_machine_drain(w->s, "gone", NULL, &e), &e);
    int64_t c = add_gpu_cluster(w, "c", 5);
    WAIT(w, says(w, c, "NodeCapacityReached"));
    assert_string_equal(machines_of(w, c), "good new1 new2 bad ");
    assert_says(w, c,
                "4 belong to this cluster, 1 is drained (gone); 1 of them had trouble when last "
                "tried (bad)");
    world_free(w);
}

/* --- drained ---------------------------------------------------------------------------------- */

static void test_drained_gets_nothing_new(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "m2");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, rows_of(counts(w, c)) == 1);
    ok(sched_machine_drain(w->s, "M1", "fan is loud", &e), &e);
    make_idle(w, c);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = "true"});
    WAIT(w, says(w, c, "NodeDrained"));
    assert_says(w, c, "Machine m1 is drained and gets no further job: fan is loud");
    assert_int_equal(job_state(w, j), EXEC_QUEUED);
    struct machine_view v = view_of(w, "m1");
    assert_true(v.drained);
    assert_string_equal(v.reason, "fan is loud");
    assert_string_equal(v.cluster, "c");
    /* More nodes are other machines; fewer: the drained one goes first. */
    resize(w, c, 2);
    WAIT(w, strcmp(machines_of(w, c), "m1 m2 ") == 0);
    resize(w, c, 3);
    WAIT(w, says(w, c, "NodeCapacityReached"));
    assert_says(w, c, "2 belong to this cluster");
    resize(w, c, 1);
    WAIT(w, strcmp(machines_of(w, c), "m2 ") == 0);
    v = view_of(w, "m1");
    assert_null(v.cluster);
    assert_true(v.drained);
    world_free(w);
}

static void test_undrained_is_used_again(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    int64_t one = add_gpu_cluster(w, "one", 1);
    WAIT(w, rows_of(counts(w, one)) == 1);
    ok(sched_machine_drain(w->s, "m1", "repair", &e), &e);
    make_idle(w, one);
    int64_t j = add_job(w, one, "j", (struct job_wish){.command = "true"});
    WAIT(w, says(w, one, "NodeDrained"));
    ok(sched_machine_undrain(w->s, "m1", &e), &e);
    WAIT(w, job_state(w, j) != EXEC_QUEUED);
    assert_false(says(w, one, "NodeDrained"));
    assert_false(view_of(w, "m1").drained);
    world_free(w);
}

static void test_who_waits_goes_on_after_undrain(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    ok(sched_machine_drain(w->s, "m1", "repair", &e), &e);
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, says(w, c, "NodeCapacityReached"));
    assert_says(w, c,
                "1 machine serves STANDARD_NC6 with priority dedicated: 0 belong to this "
                "cluster, 1 is drained (m1)");
    ok(sched_machine_undrain(w->s, "m1", &e), &e);
    WAIT(w, strcmp(machines_of(w, c), "m1 ") == 0);
    world_free(w);
}

static void test_undrain_tries_an_unusable_node_again(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, rows_of(counts(w, c)) == 1);
    struct node *row;
    nodes_of(w, c, &row);
    const struct failure why = {.code = "NodeSetupFailed", .message = "no disk", .exit_code = -1};
    struct node_rt *rt;
    WAIT(w, (rt = node_rt_find(w->s, row->id)) != NULL);
    node_fail(rt, &why);
    WAIT(w, counts(w, c).unusable == 1 && says(w, c, "no disk"));
    assert_string_equal(view_of(w, "m1").state, "unusable");
    assert_string_equal(view_of(w, "m1").reason, "no disk");
    ok(sched_machine_drain(w->s, "m1", "disk", &e), &e);
    assert_string_equal(view_of(w, "m1").reason, "disk; no disk");
    ok(sched_machine_undrain(w->s, "m1", &e), &e);
    assert_int_equal(counts(w, c).preparing, 1);
    WAIT(w, !says(w, c, "NodeDrained") && !says(w, c, "no disk"));
    world_free(w);
}

/* --- restarts --------------------------------------------------------------------------------- */

static void test_a_restart_keeps_claims_and_drains(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "m2", "m3");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    int64_t c = add_gpu_cluster(w, "c", 2);
    WAIT(w, rows_of(counts(w, c)) == 2);
    ok(sched_machine_drain(w->s, "m3", "noise", &e), &e);
    world_stop(w);
    world_start(w);
    assert_string_equal(machines_of(w, c), "m1 m2 ");
    assert_true(view_of(w, "m3").drained);
    assert_string_equal(view_of(w, "m3").reason, "noise");
    int64_t other = add_gpu_cluster(w, "other", 1);
    WAIT(w, says(w, other, "NodeCapacityReached"));
    assert_says(w, other, "2 to cluster c of workspace ws, 1 is drained (m3)");
    world_free(w);
}

static void test_another_inventory(void **state)
{
    (void)state;
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
    assert_non_null(strstr(v.reason, "not in the inventory any more"));
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
static void test_machines_and_local_nodes_do_not_mix(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1");
    struct world *w = world_at(3, NULL);
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
    world_free(w);
}

/* --- what is shown and asked ------------------------------------------------------------------ */

static void test_views(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "low1", "m2");
    struct world *w = world_at(1, &f.site);
    int64_t local = add_cluster_of(w, "local", 1);
    WAIT(w, counts(w, local).idle == 1);
    machine_contact(w->s, machine_find(w->s, 2), NULL);
    machine_trouble(machine_find(w->s, 3), "connection refused");
    struct machine_view *views;
    size_t n;
    struct err e = {0};
    ok(sched_machines(w->s, &w->a, &views, &n, &e), &e);
    assert_int_equal(n, 4);
    assert_string_equal(views[0].name, "m1");
    assert_string_equal(views[0].state, "unknown");
    assert_string_equal(views[0].vm_sizes[0], "STANDARD_NC6");
    assert_int_equal(views[0].priority, VM_DEDICATED);
    assert_int_equal(views[0].contact_us, 0);
    assert_false(views[0].has_facts || views[0].is_local || views[0].drained);
    assert_string_equal(views[1].state, "free");
    assert_null(views[1].vm_sizes[0]);
    assert_int_equal(views[1].priority, VM_LOWPRIORITY);
    assert_true(views[1].contact_us > 0);
    assert_string_equal(views[2].state, "unreachable");
    assert_string_equal(views[2].reason, "connection refused");
    assert_true(views[3].is_local);
    assert_string_equal(views[3].state, "idle");
    assert_string_equal(views[3].cluster, "local");
    assert_null(views[3].job);
    assert_true(views[3].has_facts);
    assert_true(views[3].facts.cpus > 0);
    assert_true(views[3].contact_us > 0);
    machine_contact(w->s, machine_find(w->s, 3), NULL);
    assert_string_equal(view_of(w, "m2").state, "free");
    world_free(w);
}

static void test_facts_outlive_the_scheduler(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1");
    struct world *w = world_at(0, &f.site);
    const struct node_facts facts = {.agent_version = "1",
                                     .hostname = "gpu01",
                                     .os = "linux",
                                     .arch = "x86_64",
                                     .incarnation = "i",
                                     .boot_id = "b",
                                     .cpus = 12,
                                     .gpus = "[]",
                                     .user = "nobody",
                                     .runtimes = "docker",
                                     .mpi = ""};
    machine_contact(w->s, &w->s->machines[0], &facts);
    world_stop(w);
    world_start(w);
    struct machine_view v = view_of(w, "m1");
    assert_string_equal(v.state, "free");
    assert_true(v.has_facts);
    assert_int_equal(v.facts.cpus, 12);
    assert_string_equal(v.facts.hostname, "gpu01");
    world_free(w);
}

static void test_names_that_are_none(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1");
    struct world *w = world_at(1, &f.site);
    struct err e = {0};
    assert_int_equal(sched_machine_drain(w->s, "m9", NULL, &e), -1);
    assert_int_equal(e.code, ERR_MACHINE_NOT_FOUND);
    assert_non_null(strstr(e.msg, "m9"));
    assert_int_equal(sched_machine_undrain(w->s, "m9", &e), -1);
    assert_int_equal(e.code, ERR_MACHINE_NOT_FOUND);
    assert_int_equal(sched_machine_reboot(w->s, "m9", &e), -1);
    assert_int_equal(e.code, ERR_MACHINE_NOT_FOUND);
    int64_t local = add_cluster_of(w, "local", 1);
    WAIT(w, counts(w, local).idle == 1);
    struct node *row;
    nodes_of(w, local, &row);
    assert_int_equal(sched_machine_drain(w->s, row->name, NULL, &e), -1);
    assert_int_equal(e.code, ERR_NOT_SUPPORTED);
    assert_non_null(strstr(e.msg, "is a local node"));
    world_free(w);
}

static void test_reboots_that_are_refused(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1", "m2");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    assert_int_equal(sched_machine_reboot(w->s, "m1", &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "No cluster has claimed m1"));
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, rows_of(counts(w, c)) == 1);
    make_idle(w, c);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = "sleep 60"});
    WAIT(w, job_state(w, j) != EXEC_QUEUED);
    assert_int_equal(sched_machine_reboot(w->s, "m1", &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "A job runs on m1"));
    world_free(w);
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
static void test_what_is_rolled_back_never_was(void **state)
{
    (void)state;
    struct fake_site f;
    SITE(&f, "m1");
    struct world *w = world_at(0, &f.site);
    struct err e = {0};
    (void)signal(SIGXFSZ, SIG_IGN);
    int64_t c = add_gpu_cluster(w, "c", 0);
    WAIT(w, cluster_row(w, c).alloc_state == ALLOC_STEADY && !st_has_pending(w->st));
    const struct machine *m = &w->s->machines[0];
    limit_file_size(0);
    resize(w, c, 1);
    sched_turn(w->s);
    assert_int_equal(m->cluster_id, c);
    WAIT(w, m->node_id == 0 && m->cluster_id == 0);
    ok(sched_machine_drain(w->s, "m1", "lost", &e), &e);
    assert_true(m->drained);
    WAIT(w, !m->drained && !m->reason);
    limit_file_size(RLIM_INFINITY);
    WAIT(w, !st_has_pending(w->st));
    assert_int_equal(rows_of(counts(w, c)), 0);
    resize(w, c, 1);
    WAIT(w, strcmp(machines_of(w, c), "m1 ") == 0);
    assert_int_equal(m->cluster_id, c);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims_are_exclusive),
        cmocka_unit_test(test_what_is_given_back_goes_to_who_waits),
        cmocka_unit_test(test_size_and_priority_decide),
        cmocka_unit_test(test_what_may_be_asked_for),
        cmocka_unit_test(test_the_most_promising_first),
        cmocka_unit_test(test_drained_gets_nothing_new),
        cmocka_unit_test(test_undrained_is_used_again),
        cmocka_unit_test(test_who_waits_goes_on_after_undrain),
        cmocka_unit_test(test_undrain_tries_an_unusable_node_again),
        cmocka_unit_test(test_a_restart_keeps_claims_and_drains),
        cmocka_unit_test(test_another_inventory),
        cmocka_unit_test(test_machines_and_local_nodes_do_not_mix),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_facts_outlive_the_scheduler),
        cmocka_unit_test(test_names_that_are_none),
        cmocka_unit_test(test_reboots_that_are_refused),
        cmocka_unit_test(test_what_is_rolled_back_never_was),
    };
    return cmocka_run_group_tests(tests, load_agents, free_agents);
}
