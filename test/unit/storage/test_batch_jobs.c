/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's jobs and tasks: names, counts, guarded moves, what tasks wait for, whose turn it
 * is, cleanups.
 */
#include "test/unit/storage/batch_fixture.h"

static int64_t add_job(struct fx *f, const char *name, int priority)
{
    return fx_add_batch_job(f, name, "p1", priority);
}

static struct batch_task add_task(struct fx *f, int64_t job, const char *name)
{
    return fx_add_batch_task(f, job, name, 2, 1);
}

static void move(struct fx *f, int64_t id, enum batch_task_state from, enum batch_task_state to,
                 enum batch_result result)
{
    const struct st_batch_task_move m = {.id = id,
                                         .from = from,
                                         .to = to,
                                         .now_us = T0 + 1,
                                         .result = result,
                                         .satisfies = result == BATCH_SUCCESS};
    ok(f, st_batch_task_move(f->st, &m, &f->e));
}

static void complete(struct fx *f, const struct batch_task *t, int64_t number)
{
    const struct st_batch_settling how = {number, 1000};
    bool left;
    move(f, t->id, BATCH_TASK_ACTIVE, BATCH_TASK_COMPLETED, BATCH_SUCCESS);
    ok(f, st_batch_wait_settle(f->st, t, &how, &left, &f->e));
}

static struct batch_counts counts_of(struct fx *f, int64_t job)
{
    struct batch_counts c;
    found(f, st_batch_job_counts(f->st, &f->a, job, &c, &f->e));
    return c;
}

static int waits_of(struct fx *f, int64_t task)
{
    struct batch_task t;
    found(f, st_batch_task_by_id(f->st, &f->a, task, &t, &f->e));
    return t.waits;
}

DB_TEST(test_names_are_found_without_case_and_once)
{
    struct batch_job j;
    struct batch_task t;
    const char *secrets;
    int64_t job = add_job(f, "Render", 0);
    add_task(f, job, "T1");
    found(f, st_batch_job_get(f->st, &f->a, 1, "RENDER", &j, &f->e));
    assert_string_equal(j.name, "Render");
    assert_int_equal(st_batch_job_get(f->st, &f->a, 2, "Render", &j, &f->e), 0);
    found(f, st_batch_task_get(f->st, &f->a, job, "t1", &t, &f->e));
    assert_string_equal(t.job_name, "Render");
    assert_int_equal(t.account_id, 1);
    found(f, st_batch_job_secrets(f->st, &f->a, job, &secrets, &f->e));
    assert_string_equal(secrets, "{\"a\":\"secret\"}");
    t.name = "t1";
    assert_int_equal(st_batch_task_insert(f->st, &t, NULL, NULL, &f->e), -1);
}

DB_TEST(test_counts_follow_every_write)
{
    int64_t job = add_job(f, "j", 0);
    const struct batch_task a = add_task(f, job, "a"), b = add_task(f, job, "b"),
                            c = add_task(f, job, "c");
    assert_int_equal(counts_of(f, job).active, 3);
    assert_int_equal(counts_of(f, job).active_slots, 6);
    move(f, a.id, BATCH_TASK_ACTIVE, BATCH_TASK_RUNNING, 0);
    move(f, b.id, BATCH_TASK_ACTIVE, BATCH_TASK_COMPLETED, BATCH_FAILURE);
    assert_int_equal(counts_of(f, job).running, 1);
    assert_int_equal(counts_of(f, job).failed_slots, 2);
    move(f, a.id, BATCH_TASK_RUNNING, BATCH_TASK_COMPLETED, BATCH_SUCCESS);
    assert_int_equal(counts_of(f, job).succeeded, 1);
    move(f, b.id, BATCH_TASK_COMPLETED, BATCH_TASK_ACTIVE, 0);
    ok(f, st_batch_task_remove(f->st, c.id, &f->e));
    const struct batch_counts n = counts_of(f, job);
    assert_int_equal(n.active, 1);
    assert_int_equal(n.failed, 0);
    assert_int_equal(n.succeeded_slots, 2);
    assert_int_equal(n.running_slots, 0);
}

DB_TEST(test_a_move_names_the_state_that_it_expects)
{
    int64_t job = add_job(f, "j", 0);
    const struct batch_task t = add_task(f, job, "a");
    const struct st_batch_task_move wrong = {
        .id = t.id, .from = BATCH_TASK_RUNNING, .to = BATCH_TASK_COMPLETED, .now_us = T0};
    refused(f, st_batch_task_move(f->st, &wrong, &f->e), ERR_CONFLICT);
    const struct st_batch_job_move end = {.id = job,
                                          .from = BATCH_JOB_ACTIVE,
                                          .to = BATCH_JOB_TERMINATING,
                                          .now_us = T0 + 5,
                                          .by_user = true,
                                          .reason = "UserTerminate"};
    struct batch_job j;
    ok(f, st_batch_job_move(f->st, &end, &f->e));
    assert_int_equal(st_batch_job_move(f->st, &end, &f->e), -1);
    found(f, st_batch_job_by_id(f->st, &f->a, job, &j, &f->e));
    assert_int_equal(j.was, BATCH_JOB_ACTIVE);
    assert_int_equal(j.updated_us, T0 + 5);
    assert_string_equal(j.reason, "UserTerminate");
}

DB_TEST(test_a_task_waits_for_names)
{
    int64_t job = add_job(f, "j", 0);
    const struct batch_task a = add_task(f, job, "a"), b = add_task(f, job, "b"),
                            c = add_task(f, job, "c");
    complete(f, &a, -1);
    ok(f, st_batch_wait_add(f->st, &c, "a", &f->e)); /* is completed already */
    ok(f, st_batch_wait_add(f->st, &c, "B", &f->e));
    ok(f, st_batch_wait_add(f->st, &c, "b", &f->e)); /* counts once */
    ok(f, st_batch_wait_add(f->st, &c, "later", &f->e));
    ok(f, st_batch_wait_count(f->st, c.id, &f->e));
    assert_int_equal(waits_of(f, c.id), 2);
    complete(f, &b, -1);
    assert_int_equal(waits_of(f, c.id), 1);
    const struct batch_task later = add_task(f, job, "Later");
    complete(f, &later, -1);
    assert_int_equal(waits_of(f, c.id), 0);
}

DB_TEST(test_of_many_tasks_that_wait_for_one_some_are_released_at_a_time)
{
    int64_t job = add_job(f, "j", 0), *ids;
    const struct st_batch_settling how = {-1, 2};
    const struct batch_task a = add_task(f, job, "a");
    struct batch_task b[3];
    size_t n;
    bool left;
    for (int i = 0; i < 3; i++) {
        b[i] = add_task(f, job, arena_printf(&f->a, "b%d", i));
        ok(f, st_batch_wait_add(f->st, &b[i], "A", &f->e));
        ok(f, st_batch_wait_count(f->st, b[i].id, &f->e));
    }
    ok(f, st_batch_wait_unsettled(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 0);
    move(f, a.id, BATCH_TASK_ACTIVE, BATCH_TASK_COMPLETED, BATCH_SUCCESS);
    ok(f, st_batch_wait_settle(f->st, &a, &how, &left, &f->e));
    assert_true(left);
    assert_int_equal(waits_of(f, b[1].id), 0);
    assert_int_equal(waits_of(f, b[2].id), 1);
    ok(f, st_batch_wait_unsettled(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], a.id);
    ok(f, st_batch_wait_settle(f->st, &a, &how, &left, &f->e));
    assert_false(left);
    assert_int_equal(waits_of(f, b[2].id), 0);
}

/* 4 and 04 are one number: the first of them counts. */
DB_TEST(test_a_task_waits_for_ranges_of_numbers)
{
    int64_t job = add_job(f, "j", 0);
    const struct batch_task t4 = add_task(f, job, "4"), t04 = add_task(f, job, "04"),
                            t5 = add_task(f, job, "5"), t6 = add_task(f, job, "6"),
                            x = add_task(f, job, "x"), y = add_task(f, job, "y");
    complete(f, &t5, 5);
    ok(f, st_batch_wait_add_range(f->st, &x, 4, 6, &f->e));
    ok(f, st_batch_wait_add_range(f->st, &x, 5, 5, &f->e)); /* satisfied */
    ok(f, st_batch_wait_add_range(f->st, &x, 6, 6, &f->e));
    ok(f, st_batch_wait_count(f->st, x.id, &f->e));
    ok(f, st_batch_wait_add_range(f->st, &y, 4, 7, &f->e));
    ok(f, st_batch_wait_count(f->st, y.id, &f->e));
    assert_int_equal(waits_of(f, x.id), 2);
    complete(f, &t4, 4);
    complete(f, &t04, 4);
    assert_int_equal(waits_of(f, x.id), 2);
    complete(f, &t6, 6);
    assert_int_equal(waits_of(f, x.id), 0);
    assert_int_equal(waits_of(f, y.id), 1);
}

DB_TEST(test_whose_turn_it_is)
{
    struct batch_job *jobs;
    struct batch_task *tasks;
    size_t n;
    int64_t low = add_job(f, "low", -5), first = add_job(f, "first", 7),
            second = add_job(f, "second", 7);
    add_job(f, "without tasks", 9);
    add_task(f, low, "t");
    const struct batch_task a = add_task(f, second, "z"), b = add_task(f, second, "a");
    add_task(f, first, "t");
    const struct st_batch_fit fit = {.nodes = 1, .slots = 2};
    ok(f, st_batch_job_turn(f->st, &f->a, 1, "P1", 1, &fit, 10, &jobs, &n, &f->e));
    assert_int_equal(n, 3);
    assert_int_equal(jobs[0].id, first);
    assert_int_equal(jobs[2].id, low);
    ok(f, st_batch_job_turn(f->st, &f->a, 1, "P1", 1,
                            &(struct st_batch_fit){.nodes = 1, .slots = 1}, 10, &jobs, &n, &f->e));
    assert_int_equal(n, 0); /* their tasks take two slots */
    ok(f, st_batch_task_feed(f->st, a.id, true, &f->e));
    ok(f, st_batch_task_ready(f->st, &f->a, second, &fit, 10, &tasks, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(tasks[0].id, b.id);
    ok(f, st_batch_task_feed(f->st, b.id, true, &f->e));
    ok(f, st_batch_job_turn(f->st, &f->a, 1, "p1", 1, &fit, 10, &jobs, &n, &f->e));
    assert_int_equal(n, 2);
    int64_t fed;
    ok(f, st_batch_task_count_fed(f->st, second, &fed, &f->e));
    assert_int_equal(fed, 2);
    ok(f, st_batch_task_set_fate(f->st, a.id, BATCH_FATE_REQUEUE, &f->e));
    ok(f, st_batch_task_to_stop(f->st, &f->a, second, BATCH_TASK_ACTIVE, BATCH_FATE_REQUEUE, 1,
                                &tasks, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(tasks[0].id, b.id);
}

DB_TEST(test_lists_are_by_name_and_go_on)
{
    struct batch_task_rows rows;
    int64_t job = add_job(f, "j", 0);
    add_task(f, job, "b");
    add_task(f, job, "A");
    add_task(f, job, "c");
    ok(f, st_batch_task_list(f->st, &f->a, job, NULL,
                             &(struct st_names){.after = NULL, .upto = NULL, .limit = 2}, &rows,
                             &f->e));
    assert_int_equal(rows.n, 2);
    assert_string_equal(rows.items[0].name, "A");
    ok(f,
       st_batch_task_list(f->st, &f->a, job, NULL,
                          &(struct st_names){.after = rows.items[1].name, .upto = NULL, .limit = 2},
                          &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_string_equal(rows.items[0].name, "c");
    ok(f, st_batch_task_list(f->st, &f->a, job, NULL,
                             &(struct st_names){.after = NULL, .upto = "B", .limit = 9}, &rows,
                             &f->e));
    assert_int_equal(rows.n, 2);
    const char *name;
    assert_int_equal(st_batch_task_nth(f->st, &f->a, job, "a", 2, &name, &f->e), 1);
    assert_string_equal(name, "c");
    assert_int_equal(st_batch_task_nth(f->st, &f->a, job, "a", 3, &name, &f->e), 0);
}

DB_TEST(test_a_job_goes_in_slices)
{
    bool left;
    int64_t job = add_job(f, "j", 0);
    char name[16];
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "t%d", i);
        add_task(f, job, name);
    }
    assert_int_equal(st_batch_job_remove(f->st, job, &f->e), -1); /* it still has tasks */
    ok(f, st_batch_task_remove_some(f->st, job, 5, &left, &f->e));
    assert_true(left);
    ok(f, st_batch_task_remove_some(f->st, job, 5, &left, &f->e));
    assert_false(left);
    for (int i = 0; i < 3; i++) /* the numbers among their names are left */
        ok(f, st_batch_wait_settle(f->st, &(struct batch_task){.job_id = job, .name = "-"},
                                   &(struct st_batch_settling){2 * i, 1}, &left, &f->e));
    ok(f, st_batch_job_remove_numbers(f->st, job, 2, &left, &f->e));
    assert_true(left);
    ok(f, st_batch_job_remove_numbers(f->st, job, 2, &left, &f->e));
    assert_false(left);
    ok(f, st_batch_job_remove(f->st, job, &f->e));
}

DB_TEST(test_cleanups_go_with_their_node)
{
    struct batch_cleanup *rows;
    int64_t *nodes, id = fx_add_node(f, f->cluster, 1, NODE_PREPARING);
    size_t n;
    ok(f, st_batch_cleanup_add(f->st, id, "workitems/j/job-1/a", 0, &f->e));
    ok(f, st_batch_cleanup_add_all(f->st, f->cluster, 0, T0, "workitems/j", &f->e));
    ok(f, st_batch_cleanup_add(f->st, id, "later", T0 + 7, &f->e));
    ok(f, st_batch_cleanup_nodes(f->st, &f->a, T0, &nodes, &n, &f->e));
    assert_int_equal(n, 1);
    ok(f, st_batch_cleanup_of_node(f->st, &f->a, id, T0, 10, &rows, &n, &f->e));
    assert_int_equal(n, 2);
    assert_string_equal(rows[1].path, "workitems/j");
    ok(f, st_batch_cleanup_gone(f->st, rows[0].id, &f->e));
    ok(f, st_batch_cleanup_of_node(f->st, &f->a, id, T0, 10, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    int64_t next = 0;
    ok(f, st_batch_cleanup_next(f->st, T0, &next, &f->e));
    assert_int_equal(next, T0 + 7);
    ok(f, st_batch_cleanup_of_node(f->st, &f->a, id, T0 + 7, 10, &rows, &n, &f->e));
    assert_int_equal(n, 2);
    ok(f, st_batch_cleanup_keep(f->st, id, "workitems/j", &f->e)); /* due already */
    ok(f, st_batch_cleanup_keep(f->st, id, "later", &f->e));
    ok(f, st_batch_cleanup_of_node(f->st, &f->a, id, T0 + 7, 10, &rows, &n, &f->e));
    assert_int_equal(n, 1);
}

static size_t cleanups_of(struct fx *f, int64_t node)
{
    struct batch_cleanup *rows;
    size_t n;
    ok(f, st_batch_cleanup_of_node(f->st, &f->a, node, T0, 10, &rows, &n, &f->e));
    return n;
}

DB_TEST(test_a_node_that_was_unusable_all_the_time_has_no_cleanups)
{
    int64_t unusable = fx_add_node(f, f->cluster, 1, NODE_UNUSABLE),
            preparing = fx_add_node(f, f->cluster, 2, NODE_PREPARING),
            idle = fx_add_node(f, f->cluster, 3, NODE_IDLE);
    ok(f, st_batch_cleanup_add_all(f->st, f->cluster, 0, T0 + 1, "workitems/new", &f->e));
    assert_int_equal(cleanups_of(f, unusable), 0);
    assert_int_equal(cleanups_of(f, preparing), 0);
    assert_int_equal(cleanups_of(f, idle), 1);
    ok(f, st_batch_cleanup_add_all(f->st, f->cluster, 0, T0 - 1, "workitems/old", &f->e));
    assert_int_equal(cleanups_of(f, unusable), 1);
    assert_int_equal(cleanups_of(f, preparing), 1);
    assert_int_equal(cleanups_of(f, idle), 2);
}

static void start_on_a_node(struct fx *f, int64_t task)
{
    const struct st_batch_task_move m = {.id = task,
                                         .from = BATCH_TASK_ACTIVE,
                                         .to = BATCH_TASK_RUNNING,
                                         .now_us = T0,
                                         .starts = true,
                                         .pool_name = "p1",
                                         .node_name = "tvm-1"};
    ok(f, st_batch_task_move(f->st, &m, &f->e));
}

static void end_with_files(struct fx *f, int64_t task, int64_t files_until_us)
{
    const struct st_batch_task_move m = {.id = task,
                                         .from = BATCH_TASK_RUNNING,
                                         .to = BATCH_TASK_COMPLETED,
                                         .now_us = T0,
                                         .result = BATCH_SUCCESS,
                                         .has_exit_code = true,
                                         .files_until_us = files_until_us};
    ok(f, st_batch_task_move(f->st, &m, &f->e));
}

DB_TEST(test_files_have_their_time)
{
    struct batch_task *rows;
    size_t n;
    int64_t at, job = add_job(f, "j", 0);
    const struct batch_task t = add_task(f, job, "a");
    ok(f, st_batch_task_files_next(f->st, &at, &f->e));
    assert_int_equal(at, 0);
    start_on_a_node(f, t.id);
    ok(f, st_batch_task_of_node(f->st, &f->a, "tvm-1", 10, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    end_with_files(f, t.id, T0 + 10);
    ok(f, st_batch_task_files_next(f->st, &at, &f->e));
    assert_int_equal(at, T0 + 10);
    ok(f, st_batch_task_files_due(f->st, &f->a, T0 + 9, 10, &rows, &n, &f->e));
    assert_int_equal(n, 0);
    ok(f, st_batch_task_files_due(f->st, &f->a, T0 + 10, 10, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    assert_true(rows[0].has_exit_code);
    ok(f, st_batch_task_set_files(f->st, t.id, BATCH_FILES_CLEANED, &f->e));
    ok(f, st_batch_task_files_due(f->st, &f->a, T0 + 10, 10, &rows, &n, &f->e));
    assert_int_equal(n, 0);
}

static int64_t add_ended(struct fx *f, int64_t job, const char *name, int64_t files_until_us)
{
    const struct batch_task t = add_task(f, job, name);
    start_on_a_node(f, t.id);
    end_with_files(f, t.id, files_until_us);
    return t.id;
}

static int64_t kept_until_since(struct fx *f, int64_t emptied, int64_t now_us)
{
    int64_t until = -1;
    ok(f, st_batch_kept_until(f->st, 1, "tvm-1", emptied, now_us, &until, &f->e));
    return until;
}

static int64_t kept_until(struct fx *f, int64_t now_us)
{
    return kept_until_since(f, 0, now_us);
}

DB_TEST(test_a_node_is_kept_for_the_files_of_any_task)
{
    int64_t job = add_job(f, "j", 0);
    assert_int_equal(kept_until(f, T0), 0);
    add_ended(f, job, "long", T0 + 100);
    int64_t removed = add_ended(f, job, "removed", T0 + 200);
    add_ended(f, job, "short", T0 + 10);
    ok(f, st_batch_task_set_files(f->st, removed, BATCH_FILES_CLEANED, &f->e));
    assert_int_equal(kept_until(f, T0), T0 + 10); /* the latest says when to look again */
    assert_int_equal(kept_until(f, T0 + 10), T0 + 100);
    assert_int_equal(kept_until(f, T0 + 100), 0);
    add_ended(f, job, "for-ever", 0);
    assert_int_equal(kept_until(f, T0 + 100), INT64_MAX);
}

DB_TEST(test_files_of_before_a_node_was_emptied_are_not_kept)
{
    int64_t job = add_job(f, "j", 0);
    add_ended(f, job, "long", T0 + 100);
    assert_int_equal(kept_until_since(f, 0, T0), T0 + 100);
    assert_int_equal(kept_until_since(f, 1, T0), 0);
}

/* Its number of removals that are due, or will be. */
static size_t cleanups_ever(struct fx *f, int64_t node)
{
    struct batch_cleanup *rows;
    size_t n;
    ok(f, st_batch_cleanup_of_node(f->st, &f->a, node, INT64_MAX, 10, &rows, &n, &f->e));
    return n;
}

DB_TEST(test_cleanups_go_when_their_node_is_emptied)
{
    int64_t id = fx_add_node(f, f->cluster, 1, NODE_IDLE);
    const struct st_node_move
        restarts = {.id = id,
                    .from = NODE_IDLE,
                    .to = NODE_PREPARING,
                    .now_us = T0 + 1,
                    .wish = IS_RESTARTING},
        fails = {.id = id, .from = NODE_PREPARING, .to = NODE_UNUSABLE, .now_us = T0 + 2},
        is_being_wiped = {.id = id,
                          .from = NODE_UNUSABLE,
                          .to = NODE_PREPARING,
                          .now_us = T0 + 3,
                          .wish = IS_BEING_WIPED},
        is_wiped = {
            .id = id, .from = NODE_PREPARING, .to = NODE_IDLE, .now_us = T0 + 3, .emptied = true};
    ok(f, st_batch_cleanup_add(f->st, id, "now", 0, &f->e));
    ok(f, st_batch_cleanup_add(f->st, id, "later", T0 + 7, &f->e));
    ok(f, st_node_move(f->st, &restarts, &f->e));
    ok(f, st_node_set_incarnation(f->st, id, "root@boot", false, T0 + 1, &f->e));
    ok(f, st_node_move(f->st, &fails, &f->e));
    ok(f, st_node_move(f->st, &is_being_wiped, &f->e));
    assert_int_equal(cleanups_ever(f, id), 2);
    ok(f, st_node_move(f->st, &is_wiped, &f->e));
    assert_int_equal(cleanups_ever(f, id), 0);
    ok(f, st_batch_cleanup_add(f->st, id, "now", 0, &f->e));
    ok(f, st_node_set_incarnation(f->st, id, "other@boot", true, T0 + 4, &f->e));
    assert_int_equal(cleanups_ever(f, id), 0);
}
