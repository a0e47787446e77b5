/* SPDX-License-Identifier: MIT
 *
 * Machines that are reached over SSH: their jobs, and what becomes of both when the link breaks,
 * the machine is not what it was, or is taken out of use. What is decided about machines that stay
 * away is in test_silent_machines.c.
 */
#include "rack.h"
#include "scheduler/fleet/fleet.h"

static bool has_begun(struct world *w, int64_t job)
{
    return strstr(out_of(w, job), "begin\n") != NULL;
}

static const char *reason_of(struct world *w, const char *name)
{
    struct machine_view *views;
    size_t n;
    struct err e;
    ok(fleet_machines(sched_fleet(w->s), &w->a, &views, &n, &e), &e);
    for (size_t i = 0; i < n; i++)
        if (strcmp(views[i].name, name) == 0 && views[i].reason)
            return views[i].reason;
    return "";
}

/* --- a job over SSH ------------------------------------------------------------------------- */

RACK_TEST(test_a_job_runs_on_a_machine_of_the_inventory, 1)
{
    rack_up(r);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB("echo hello; exit 3"));
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exit_code, 3);
    assert_string_equal(out_of(w, j), "hello\n");
    const struct machine *m = w->s->fleet->machines[0];
    assert_string_equal(node_of(w, c, 0)->root, r->group.node_root);
    assert_true(m->contact_us > 0);
    assert_null(m->trouble);
    /* An idle machine is still heard of. */
    int64_t contact_us = m->contact_us;
    WAIT(w, m->contact_us > contact_us);
}

RACK_TEST(test_a_job_goes_on_while_sshd_is_away, 1)
{
    rack_up(r);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB(ALONE_UNTIL_GO "; exit 4"));
    WAIT(w, has_begun(w, j));
    sshd_stop(r);
    WAIT(w, node_of(w, c, 0)->contact.failures >= 2);
    assert_non_null(w->s->fleet->machines[0]->trouble);
    go(w);
    WAIT(w, !runs(w)); /* it ended while nobody could see */
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    sshd_start(r);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exit_code, 4);
    assert_int_equal(job_row(w, j).attempt, 1);
    assert_string_equal(out_of(w, j), "begin\nend\n");
    assert_false(ran_twice(w));
    assert_null(w->s->fleet->machines[0]->trouble);
}

/* As after a network that was away for long: the machine does not know that the link is dead, and
 * its agent waits for more from it. */
RACK_TEST(test_a_session_that_hangs_on_the_machine_does_not_keep_the_next_one_out, 1)
{
    r->site.dead_after_s = 3;
    rack_up(r);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB(ALONE_UNTIL_GO));
    WAIT(w, has_begun(w, j));
    signal_connections(r->sshd, SIGSTOP);
    WAIT(w, node_of(w, c, 0)->contact.failures >= 1);
    WAIT(w, node_rt_usable(node_of(w, c, 0)));
    go(w);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).attempt, 1);
}

/* --- machines that are not what they were --------------------------------------------------- */

static int count_of(const char *text, const char *words)
{
    int n = 0;
    for (; (text = strstr(text, words)); text++)
        n++;
    return n;
}

RACK_TEST(test_a_changed_host_key_makes_the_node_unusable_at_once, 1)
{
    rack_up(r);
    int64_t c = idle_cluster(w, 1);
    sshd_stop(r);
    char *old;
    struct err e;
    ok(fs_read(r->host_key, 1 << 16, &old, NULL, &e), &e);
    make_key(r->host_key, NULL);
    sshd_start(r);
    WAIT(w, counts(w, c).unusable == 1 && *errors_of(w, c));
    assert_says(errors_of(w, c), "NodeRefused");
    assert_int_equal(count_of(errors_of(w, c), "SHA256:"), 2);
    assert_true(node_of(w, c, 0)->contact.retry_us - wakes_mono(w->s->wakes) > 200000000);
    /* Somebody puts it right, and says so. */
    sshd_stop(r);
    put_file(r->host_key, old);
    free(old);
    sshd_start(r);
    ok(fleet_machine_undrain(sched_fleet(w->s), "m00", &e), &e);
    WAIT(w, counts(w, c).idle == 1);
}

RACK_TEST(test_a_machine_that_is_listed_twice_is_used_under_one_name, 2)
{
    sshd_start(r);
    r->machines[1].host = "localhost";
    rack_start(r);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB(ALONE_UNTIL_GO));
    WAIT(w, has_begun(w, j));
    resize(w, c, 2);
    WAIT(w, strstr(reason_of(w, "m01"), "another agent serves"));
    assert_true(node_rt_usable(node_of(w, c, 0)));
    go(w);
    assert_ends_in(w, j, EXEC_SUCCEEDED, 1);
}

/* --- health --------------------------------------------------------------------------------- */

RACK_TEST(test_a_disk_that_is_nearly_full_and_a_wrong_clock_are_told, 1)
{
    r->site.min_free_disk_bytes = INT64_MAX;
    rack_up(r);
    int64_t c = add_cluster_of(w, "c", 1);
    WAIT(w, strstr(reason_of(w, "m00"), "nearly full"));
    assert_says_not(reason_of(w, "m00"), "clock");
    r->site.min_free_disk_bytes = 0;
    WAIT(w, !*reason_of(w, "m00"));
    w->ahead_us = 60000000;
    WAIT(w, strstr(reason_of(w, "m00"), "s behind the daemon's"));
    WAIT(w, counts(w, c).idle == 1);
}

/* So often the health command of the next test has run. */
static size_t checks(struct world *w)
{
    return strlen(read_text(w, path(w, "checks")));
}

RACK_TEST(test_the_health_command_drains_and_undrains_but_not_what_a_person_drained, 1)
{
    struct err e;
    r->group.health_command = arena_printf(
        &w->a,
        "cd %s; printf x >> checks; ! test -f sick || { echo >&2 odd; echo >&2 'the fan "
        "is broken'; exit 1; }",
        w->dir);
    put_file(path(w, "sick"), "");
    put_file(path(w, "checks"), "");
    rack_up(r);
    const struct machine *m = w->s->fleet->machines[0];
    int64_t c = add_cluster_of(w, "c", 1);
    WAIT(w, m->drained);
    assert_string_equal(m->reason, "health check failed: the fan is broken");
    assert_int_equal(counts(w, c).idle, 1);
    assert_int_equal(unlink(path(w, "sick")), 0);
    WAIT(w, !m->drained);
    ok(fleet_machine_drain(sched_fleet(w->s), "m00", "new fan on Tuesday", &e), &e);
    size_t before = checks(w);
    WAIT(w, checks(w) >= before + 2);
    assert_true(m->drained);
    assert_string_equal(m->reason, "new fan on Tuesday");
}

/* --- giving machines back ------------------------------------------------------------------- */

static bool is_empty(struct world *w, int64_t cluster)
{
    return rows_of(counts(w, cluster)) == 0;
}

RACK_TEST(test_a_machine_is_given_back_clean, 1)
{
    rack_up(r);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB(ALONE_UNTIL_GO));
    WAIT(w, has_begun(w, j));
    assert_int_equal(access(path(w, "root/mounts/share"), F_OK), 0);
    resize(w, c, 0);
    WAIT(w, is_empty(w, c));
    assert_false(runs(w));
    static const char *const gone[] = {"root/jobs", "root/mounts", "root/setup"};
    for (size_t i = 0; i < 3; i++)
        assert_int_not_equal(access(path(w, gone[i]), F_OK), 0);
    assert_int_equal(access(path(w, "root/incarnation"), F_OK), 0); /* the root is the site's */
    assert_true(has_begun(w, j)); /* and what the share holds is the user's */
}
