/* SPDX-License-Identifier: MIT
 *
 * Machines that are reached over SSH: their jobs, and what becomes of both when the link breaks,
 * the machine stays away, is not what it was, or is taken out of use.
 */
#include "rack.h"
#include "scheduler/fleet/fleet.h"

static int64_t cluster_of(struct world *w, int target, enum dealloc_option rule)
{
    return add_cluster(w, "c", (struct cluster_wish){.scale = {.target = target, .dealloc = rule}});
}

static void resize(struct world *w, int64_t cluster, int target)
{
    set_scale(w, cluster,
              (struct scale){.kind = SCALE_MANUAL, .target = target, .dealloc = DEALLOC_REQUEUE});
}

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

static void test_a_job_runs_on_a_machine_of_the_inventory(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = "echo hello; exit 3"});
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exit_code, 3);
    assert_string_equal(out_of(w, j), "hello\n");
    const struct machine *m = &w->s->fleet->machines[0];
    assert_string_equal(node_of(w, c, 0)->root, r->group.node_root);
    assert_true(m->contact_us > 0);
    assert_null(m->trouble);
    /* An idle machine is still heard of. */
    int64_t contact_us = m->contact_us;
    WAIT(w, m->contact_us > contact_us);
    rack_free(r);
}

static void test_a_job_goes_on_while_sshd_is_away(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO "; exit 4"});
    WAIT(w, has_begun(w, j));
    sshd_stop(r);
    WAIT(w, node_of(w, c, 0)->contact.failures >= 2);
    assert_non_null(w->s->fleet->machines[0].trouble);
    go(w);
    WAIT(w, !runs(w)); /* it ended while nobody could see */
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    sshd_start(r);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exit_code, 4);
    assert_int_equal(job_row(w, j).attempt, 1);
    assert_string_equal(out_of(w, j), "begin\nend\n");
    assert_false(ran_twice(w));
    assert_null(w->s->fleet->machines[0].trouble);
    rack_free(r);
}

/* As after a network that was away for long: the machine does not know that the link is dead, and
 * its agent waits for more from it. */
static void test_a_session_that_hangs_on_the_machine_does_not_keep_the_next_one_out(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->site.dead_after_s = 3;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    signal_connections(r->sshd, SIGSTOP);
    WAIT(w, node_of(w, c, 0)->contact.failures >= 1);
    WAIT(w, node_rt_usable(node_of(w, c, 0)));
    go(w);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).attempt, 1);
    rack_free(r);
}

/* --- machines that stay away ---------------------------------------------------------------- */

static void test_a_job_of_a_silent_machine_is_queued_and_its_task_ends_first(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->site.unusable_after_s = 1;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    sshd_stop(r);
    WAIT(w, counts(w, c).unusable == 1 && job_state(w, j) == EXEC_QUEUED && *errors_of(w, c));
    assert_non_null(strstr(errors_of(w, c), "NodeUnreachable"));
    assert_non_null(strstr(errors_of(w, c), "could not be reached for"));
    assert_non_null(strstr(errors_of(w, c), "remedy"));
    assert_true(runs(w));
    sshd_start(r);
    WAIT(w, job_row(w, j).attempt == 2 && strcmp(out_of(w, j), "begin\nbegin\n") == 0);
    assert_false(ran_twice(w)); /* the first was gone before the second began */
    go(w);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_string_equal(errors_of(w, c), "");
    rack_free(r);
}

static void test_a_job_of_a_silent_machine_fails_by_the_clusters_rule(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->site.unusable_after_s = 1;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    sshd_stop(r);
    WAIT(w, job_ended(w, j) && counts(w, c).unusable == 1 && node_row(w, c, 0).live == 0);
    assert_non_null(strstr(job_row(w, j).errors, "NodeLost"));
    assert_non_null(strstr(job_row(w, j).errors, "could not be reached for"));
    assert_true(runs(w));
    /* A daemon that starts anew goes on trying. */
    world_stop(w);
    sshd_start(r);
    world_start(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_false(runs(w));
    rack_free(r);
}

static void test_a_machine_that_never_answered_is_unusable_soon_and_heals(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).unusable == 1 && *errors_of(w, c));
    assert_int_equal(node_of(w, c, 0)->contact.failures, 3);
    assert_non_null(strstr(errors_of(w, c), "in 3 tries"));
    assert_non_null(strstr(errors_of(w, c), "refused"));
    sshd_start(r);
    WAIT(w, counts(w, c).idle == 1);
    rack_free(r);
}

static const char *machine_of(struct world *w, int64_t cluster)
{
    return machine_find(w->s->fleet, node_row(w, cluster, 0).machine_id)->name;
}

static void test_a_machine_that_never_answered_gives_its_place_to_one_that_works(void **state)
{
    (void)state;
    struct rack *r = rack_new(2);
    struct world *w = r->w;
    r->machines[0].port = free_port(NULL);
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1 && cluster_row(w, c).alloc_state == ALLOC_STEADY);
    assert_string_equal(machine_of(w, c), "m01");
    assert_string_equal(errors_of(w, c), "");
    assert_non_null(strstr(reason_of(w, "m00"), "refused"));
    rack_free(r);
}

static void test_a_machine_is_not_replaced_by_another_in_trouble(void **state)
{
    (void)state;
    struct rack *r = rack_new(2);
    struct world *w = r->w;
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).unusable == 1 && w->s->fleet->machines[1].trouble);
    assert_string_equal(machine_of(w, c), "m01");
    int64_t node = node_row(w, c, 0).id;
    sched_wake_cluster(w->s, c);
    WAIT(w, node_of(w, c, 0)->contact.failures >= 4);
    assert_int_equal(node_row(w, c, 0).id, node);
    rack_free(r);
}

static void test_a_machine_that_left_the_inventory_is_no_node(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    world_stop(w);
    r->site.n_machines = 0;
    world_start(w);
    WAIT(w, job_ended(w, j) && counts(w, c).unusable == 1 && *errors_of(w, c));
    assert_non_null(strstr(errors_of(w, c), "NodeNotInInventory"));
    WAIT(w, node_row(w, c, 0).live == 0);
    world_stop(w);
    r->site.n_machines = 1;
    world_start(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_false(runs(w));
    rack_free(r);
}

/* --- machines that are not what they were --------------------------------------------------- */

static int count_of(const char *text, const char *words)
{
    int n = 0;
    for (; (text = strstr(text, words)); text++)
        n++;
    return n;
}

static void test_a_changed_host_key_makes_the_node_unusable_at_once(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, counts(w, c).idle == 1);
    sshd_stop(r);
    char *old;
    struct err e;
    ok(fs_read(r->host_key, 1 << 16, &old, NULL, &e), &e);
    make_key(r->host_key, NULL);
    sshd_start(r);
    WAIT(w, counts(w, c).unusable == 1 && *errors_of(w, c));
    assert_non_null(strstr(errors_of(w, c), "NodeRefused"));
    assert_int_equal(count_of(errors_of(w, c), "SHA256:"), 2);
    assert_true(node_of(w, c, 0)->contact.retry_us - wakes_mono(w->s->wakes) > 200000000);
    /* Somebody puts it right, and says so. */
    sshd_stop(r);
    put_file(r->host_key, old);
    free(old);
    sshd_start(r);
    ok(fleet_machine_undrain(sched_fleet(w->s), "m00", &e), &e);
    WAIT(w, counts(w, c).idle == 1);
    rack_free(r);
}

static void test_a_machine_that_was_restarted_is_prepared_anew(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    struct err e;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    struct node row = node_row(w, c, 0);
    char *now = arena_strdup(&w->a, row.incarnation), *at = strchr(now, '@');
    assert_non_null(at);
    *at = '\0';
    /* As a daemon wrote it that knew of no boot ids: nothing follows from it. */
    ok(st_node_set_incarnation(w->st, row.id, now, &e), &e);
    wake(w->s->wakes, WAKE_NODE, row.id);
    WAIT(w, strchr(node_row(w, c, 0).incarnation, '@'));
    assert_int_equal(job_state(w, j), EXEC_RUNNING);
    ok(st_node_set_incarnation(w->st, row.id, arena_printf(&w->a, "%s@before", now), &e), &e);
    sshd_stop(r);
    sshd_start(r);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_non_null(strstr(job_row(w, j).errors, "NodeRebooted"));
    assert_false(runs(w));
    assert_true(node_row(w, c, 0).state_us > row.state_us);
    assert_string_equal(node_row(w, c, 0).incarnation, row.incarnation);
    rack_free(r);
}

static void test_a_local_node_whose_host_was_restarted_is_prepared_anew(void **state)
{
    (void)state;
    struct world *w = world_new(1);
    struct err e;
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    struct node row = node_row(w, c, 0);
    world_stop(w);
    world_start(w);
    ok(st_node_set_incarnation(
           w->st, row.id,
           arena_printf(&w->a, "%.*s@before", (int)strcspn(row.incarnation, "@"), row.incarnation),
           &e),
       &e);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_non_null(strstr(job_row(w, j).errors, "NodeRebooted"));
    assert_false(runs(w));
    world_free(w);
}

static void test_a_machine_that_is_listed_twice_is_used_under_one_name(void **state)
{
    (void)state;
    struct rack *r = rack_new(2);
    struct world *w = r->w;
    sshd_start(r);
    r->machines[1].host = "localhost";
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    resize(w, c, 2);
    WAIT(w, strstr(reason_of(w, "m01"), "another agent serves"));
    assert_true(node_rt_usable(node_of(w, c, 0)));
    go(w);
    WAIT(w, job_ended(w, j));
    assert_int_equal(job_row(w, j).exec_state, EXEC_SUCCEEDED);
    assert_int_equal(job_row(w, j).attempt, 1);
    rack_free(r);
}

/* --- taking turns --------------------------------------------------------------------------- */

static bool all_troubled(struct world *w)
{
    for (size_t i = 0; i < w->s->fleet->n_machines; i++)
        if (!w->s->fleet->machines[i].trouble)
            return false;
    return true;
}

/* Takes what knocks and lets go of it, one a turn; notes how many were connecting at most. */
static bool let_go_until(struct world *w, int listening, int *most)
{
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (w->s->fleet->turns.connecting > *most)
        *most = w->s->fleet->turns.connecting;
    if (fd >= 0)
        close(fd);
    return all_troubled(w);
}

static void test_no_more_links_connect_at_once_than_the_site_allows(void **state)
{
    (void)state;
    int listening, most = 0;
    struct rack *r = rack_new(MACHINES_MAX);
    struct world *w = r->w;
    int port = free_port(&listening);
    assert_int_equal(fcntl(listening, F_SETFL, O_NONBLOCK), 0);
    for (int i = 0; i < MACHINES_MAX; i++)
        r->machines[i].port = port;
    rack_start(r);
    cluster_of(w, MACHINES_MAX, DEALLOC_REQUEUE);
    WAIT(w, let_go_until(w, listening, &most));
    assert_int_equal(most, r->site.connect_limit);
    close(listening);
    rack_free(r);
}

/* Each pause is at least 80 % of twice the one before, from half a second on. */
static void test_pauses_between_tries_grow(void **state)
{
    (void)state;
    int64_t at[4];
    int listening, fd;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->machines[0].port = free_port(&listening);
    assert_int_equal(fcntl(listening, F_SETFL, O_NONBLOCK), 0);
    rack_start(r);
    cluster_of(w, 1, DEALLOC_REQUEUE);
    for (int i = 0; i < 4; i++) {
        WAIT(w, (fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0);
        at[i] = time_now_us();
        close(fd);
    }
    for (int i = 0; i < 3; i++)
        assert_true(at[i + 1] - at[i] >= (400000 << i));
    close(listening);
    rack_free(r);
}

/* --- health --------------------------------------------------------------------------------- */

static void test_a_disk_that_is_nearly_full_and_a_wrong_clock_are_told(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->site.min_free_disk_bytes = INT64_MAX;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, strstr(reason_of(w, "m00"), "nearly full"));
    assert_null(strstr(reason_of(w, "m00"), "clock"));
    r->site.min_free_disk_bytes = 0;
    WAIT(w, !*reason_of(w, "m00"));
    w->ahead_us = 60000000;
    WAIT(w, strstr(reason_of(w, "m00"), "s behind the daemon's"));
    assert_int_equal(counts(w, c).idle, 1);
    rack_free(r);
}

/* So often the health command of the next test has run. */
static size_t checks(struct world *w)
{
    return strlen(read_text(w, path(w, "checks")));
}

static void test_the_health_command_drains_and_undrains_but_not_what_a_person_drained(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    struct err e;
    r->group.health_command = arena_printf(
        &w->a,
        "cd %s; printf x >> checks; ! test -f sick || { echo >&2 odd; echo >&2 'the fan "
        "is broken'; exit 1; }",
        w->dir);
    put_file(path(w, "sick"), "");
    put_file(path(w, "checks"), "");
    sshd_start(r);
    rack_start(r);
    const struct machine *m = &w->s->fleet->machines[0];
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
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
    rack_free(r);
}

/* --- giving machines back ------------------------------------------------------------------- */

static bool is_empty(struct world *w, int64_t cluster)
{
    return rows_of(counts(w, cluster)) == 0;
}

static void test_a_machine_is_given_back_clean(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
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
    rack_free(r);
}

static void test_a_silent_machine_is_given_back_and_cleaned_for_the_next(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->site.unusable_after_s = 1;
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    int64_t j = add_job(w, c, "j", (struct job_wish){.command = ALONE_UNTIL_GO});
    WAIT(w, has_begun(w, j));
    sshd_stop(r);
    resize(w, c, 0);
    WAIT(w, is_empty(w, c));
    assert_true(runs(w));
    sshd_start(r);
    resize(w, c, 1);
    WAIT(w, strcmp(out_of(w, j), "begin\nbegin\n") == 0);
    assert_false(ran_twice(w));
    go(w);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).attempt, 2);
    rack_free(r);
}

static void test_a_health_command_under_way_holds_up_no_release(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->group.health_command = arena_printf(&w->a, "cd %s; printf x >> checks; sleep 1000", w->dir);
    r->group.health_interval_s = 600;
    put_file(path(w, "checks"), "");
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, checks(w) == 1);
    resize(w, c, 0);
    WAIT(w, is_empty(w, c));
    /* That it was killed for the release says nothing about the machine. */
    assert_false(w->s->fleet->machines[0].drained);
    resize(w, c, 1);
    WAIT(w, checks(w) == 2);
    rack_free(r);
}

static void test_a_health_command_under_way_holds_up_no_preparation(void **state)
{
    (void)state;
    struct rack *r = rack_new(1);
    struct world *w = r->w;
    r->site.unusable_after_s = 1;
    r->group.health_command = arena_printf(&w->a, "cd %s; printf x >> checks; sleep 1000", w->dir);
    r->group.health_interval_s = 600;
    put_file(path(w, "checks"), "");
    sshd_start(r);
    rack_start(r);
    int64_t c = cluster_of(w, 1, DEALLOC_REQUEUE);
    WAIT(w, checks(w) == 1);
    sshd_stop(r);
    WAIT(w, counts(w, c).unusable == 1);
    sshd_start(r);
    WAIT(w, counts(w, c).idle == 1);
    assert_false(w->s->fleet->machines[0].drained);
    rack_free(r);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_runs_on_a_machine_of_the_inventory),
        cmocka_unit_test(test_a_job_goes_on_while_sshd_is_away),
        cmocka_unit_test(test_a_session_that_hangs_on_the_machine_does_not_keep_the_next_one_out),
        cmocka_unit_test(test_a_job_of_a_silent_machine_is_queued_and_its_task_ends_first),
        cmocka_unit_test(test_a_job_of_a_silent_machine_fails_by_the_clusters_rule),
        cmocka_unit_test(test_a_machine_that_never_answered_is_unusable_soon_and_heals),
        cmocka_unit_test(test_a_machine_that_never_answered_gives_its_place_to_one_that_works),
        cmocka_unit_test(test_a_machine_is_not_replaced_by_another_in_trouble),
        cmocka_unit_test(test_a_machine_that_left_the_inventory_is_no_node),
        cmocka_unit_test(test_a_changed_host_key_makes_the_node_unusable_at_once),
        cmocka_unit_test(test_a_machine_that_was_restarted_is_prepared_anew),
        cmocka_unit_test(test_a_local_node_whose_host_was_restarted_is_prepared_anew),
        cmocka_unit_test(test_a_machine_that_is_listed_twice_is_used_under_one_name),
        cmocka_unit_test(test_no_more_links_connect_at_once_than_the_site_allows),
        cmocka_unit_test(test_pauses_between_tries_grow),
        cmocka_unit_test(test_a_disk_that_is_nearly_full_and_a_wrong_clock_are_told),
        cmocka_unit_test(test_the_health_command_drains_and_undrains_but_not_what_a_person_drained),
        cmocka_unit_test(test_a_machine_is_given_back_clean),
        cmocka_unit_test(test_a_silent_machine_is_given_back_and_cleaned_for_the_next),
        cmocka_unit_test(test_a_health_command_under_way_holds_up_no_release),
        cmocka_unit_test(test_a_health_command_under_way_holds_up_no_preparation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
