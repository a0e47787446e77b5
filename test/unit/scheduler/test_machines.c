/* SPDX-License-Identifier: MIT
 *
 * Machines as people see them: drained ones, the table, what is refused.
 */
#include "fake_site.h"
#include "scheduler/fleet/fleet.h"

/* --- drained ---------------------------------------------------------------------------------- */

SITE_TEST(test_drained_gets_nothing_new, 0, "m1", "m2")
{
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, rows_of(counts(w, c)) == 1);
    drain(w, "M1", "fan is loud");
    make_idle(w, c);
    int64_t j = add_job(w, c, "j", JOB("true"));
    WAIT(w, says(w, c, "NodeDrained"));
    cluster_says(w, c, "Machine m1 is drained and gets no further job: fan is loud");
    assert_int_equal(job_state(w, j), EXEC_QUEUED);
    struct machine_view v = view_of(w, "m1");
    assert_true(v.drained);
    assert_string_equal(v.reason, "fan is loud");
    assert_string_equal(v.pool, "c");
    /* More nodes are other machines; fewer: the drained one goes first. */
    resize(w, c, 2);
    WAIT(w, strcmp(machines_of(w, c), "m1 m2 ") == 0);
    resize(w, c, 3);
    WAIT(w, says(w, c, "NodeCapacityReached"));
    cluster_says(w, c, "2 belong to this cluster");
    resize(w, c, 1);
    WAIT(w, strcmp(machines_of(w, c), "m2 ") == 0);
    v = view_of(w, "m1");
    assert_null(v.pool);
    assert_true(v.drained);
}

SITE_TEST(test_undrained_is_used_again, 0, "m1")
{
    int64_t one = add_gpu_cluster(w, "one", 1);
    WAIT(w, rows_of(counts(w, one)) == 1);
    drain(w, "m1", "repair");
    make_idle(w, one);
    int64_t j = add_job(w, one, "j", JOB("true"));
    WAIT(w, says(w, one, "NodeDrained"));
    undrain(w, "m1");
    WAIT(w, job_state(w, j) != EXEC_QUEUED);
    assert_false(says(w, one, "NodeDrained"));
    assert_false(view_of(w, "m1").drained);
}

SITE_TEST(test_who_waits_goes_on_after_undrain, 0, "m1")
{
    drain(w, "m1", "repair");
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, says(w, c, "NodeCapacityReached"));
    cluster_says(w, c,
                 "1 machine serves STANDARD_NC6 with priority dedicated: 0 belong to this "
                 "cluster, 1 is drained (m1)");
    undrain(w, "m1");
    WAIT(w, strcmp(machines_of(w, c), "m1 ") == 0);
}

SITE_TEST(test_undrain_tries_an_unusable_node_again, 0, "m1")
{
    int64_t c = add_gpu_cluster(w, "c", 1);
    WAIT(w, rows_of(counts(w, c)) == 1);
    const struct node row = node_row(w, c, 0);
    const struct failure why = {
        .code = FAIL_NODE_SETUP_FAILED, .message = "no disk", .exit_code = -1};
    struct node_rt *rt;
    WAIT(w, (rt = node_rt_find(w->s->fleet, row.id)) != NULL);
    node_lose(rt, &why);
    WAIT(w, counts(w, c).unusable == 1 && says(w, c, "no disk"));
    assert_string_equal(view_of(w, "m1").state, "unusable");
    assert_string_equal(view_of(w, "m1").reason, "no disk");
    drain(w, "m1", "disk");
    assert_string_equal(view_of(w, "m1").reason, "disk; no disk");
    undrain(w, "m1");
    assert_int_equal(counts(w, c).preparing, 1);
    WAIT(w, !says(w, c, "NodeDrained") && !says(w, c, "no disk"));
}

/* --- what is shown and asked ------------------------------------------------------------------ */

SITE_TEST(test_views, 1, "m1", "low1", "m2")
{
    int64_t local = add_cluster_of(w, "local", 1);
    WAIT(w, counts(w, local).idle == 1);
    machine_contact(w->s->fleet, machine_find(w->s->fleet, 2), NULL);
    machine_trouble(w->s->fleet, machine_find(w->s->fleet, 3), "connection refused");
    struct machine_view *views;
    size_t n;
    struct err e = {0};
    ok(fleet_machines(sched_fleet(w->s), &w->a, &views, &n, &e), &e);
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
    assert_string_equal(views[3].pool, "local");
    assert_null(views[3].runs);
    assert_true(views[3].has_facts);
    assert_true(views[3].facts.cpus > 0);
    assert_true(views[3].contact_us > 0);
    machine_contact(w->s->fleet, machine_find(w->s->fleet, 3), NULL);
    assert_string_equal(view_of(w, "m2").state, "free");
}

SITE_TEST(test_facts_outlive_the_scheduler, 0, "m1")
{
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
    machine_contact(w->s->fleet, w->s->fleet->machines[0], &facts);
    restart(w);
    struct machine_view v = view_of(w, "m1");
    assert_string_equal(v.state, "free");
    assert_true(v.has_facts);
    assert_int_equal(v.facts.cpus, 12);
    assert_string_equal(v.facts.hostname, "gpu01");
}

SITE_TEST(test_names_that_are_none, 1, "m1")
{
    struct err e = {0};
    assert_int_equal(fleet_machine_drain(sched_fleet(w->s), "m9", NULL, &e), -1);
    assert_int_equal(e.code, ERR_MACHINE_NOT_FOUND);
    assert_says(e.msg, "m9");
    assert_int_equal(fleet_machine_undrain(sched_fleet(w->s), "m9", &e), -1);
    assert_int_equal(e.code, ERR_MACHINE_NOT_FOUND);
    assert_int_equal(fleet_machine_reboot(sched_fleet(w->s), "m9", &e), -1);
    assert_int_equal(e.code, ERR_MACHINE_NOT_FOUND);
    int64_t local = add_cluster_of(w, "local", 1);
    WAIT(w, counts(w, local).idle == 1);
    const struct node row = node_row(w, local, 0);
    assert_int_equal(fleet_machine_drain(sched_fleet(w->s), row.name, NULL, &e), -1);
    assert_int_equal(e.code, ERR_NOT_SUPPORTED);
    assert_says(e.msg, "is a local node");
}

SITE_TEST(test_reboots_that_are_refused, 0, "m1", "m2")
{
    struct err e = {0};
    assert_int_equal(fleet_machine_reboot(sched_fleet(w->s), "m1", &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_says(e.msg, "The machine m1 is free");
    int64_t c = add_gpu_cluster(w, "c", 1);
    sched_turn(w->s); /* claimed, and not on disk yet */
    assert_int_equal(fleet_machine_reboot(sched_fleet(w->s), "m1", &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_says(e.msg, "There is no link to m1 now");
    make_idle(w, c);
    int64_t j = add_job(w, c, "j", JOB("true"));
    WAIT(w, job_state(w, j) != EXEC_QUEUED);
    const struct node row = node_row(w, c, 0);
    assert_int_equal(row.live, 1); /* or this would be a real reboot */
    assert_int_equal(fleet_machine_reboot(sched_fleet(w->s), "m1", &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_says(e.msg, "A job runs on m1");
}
