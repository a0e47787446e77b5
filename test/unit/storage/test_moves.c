/* SPDX-License-Identifier: MIT
 *
 * Guarded moves of jobs, nodes and clusters, and what the scheduler asks: queue, demand, ids.
 */
#include "test/unit/storage/fixture.h"

DB_TEST(test_job_life)
{
    int64_t id = fx_add_job(f, "j");
    struct job j;
    struct st_job_move run = {
        .id = id, .from = EXEC_QUEUED, .to = EXEC_RUNNING, .now_us = T0 + 1, .start_us = T0 + 1};
    ok(f, st_job_move(f->st, &run, &f->e));
    found(f, st_job_by_id(f->st, &f->a, id, &j, &f->e));
    assert_int_equal(j.exec_state, EXEC_RUNNING);
    assert_int_equal(j.exec_us, T0 + 1);
    assert_int_equal(j.start_us, T0 + 1);
    assert_int_equal(j.end_us, 0);
    assert_false(j.has_exit_code);

    struct st_job_move requeue = {.id = id,
                                  .from = EXEC_RUNNING,
                                  .to = EXEC_QUEUED,
                                  .now_us = T0 + 2,
                                  .start_us = -1,
                                  .errors = "[1]"};
    ok(f, st_job_move(f->st, &requeue, &f->e));
    found(f, st_job_by_id(f->st, &f->a, id, &j, &f->e));
    assert_int_equal(j.start_us, 0);
    assert_string_equal(j.errors, "[1]");

    ok(f, st_job_move(f->st, &run, &f->e));
    struct st_job_move end = {.id = id,
                              .from = EXEC_RUNNING,
                              .to = EXEC_FAILED,
                              .now_us = T0 + 3,
                              .end_us = T0 + 3,
                              .has_exit_code = true,
                              .exit_code = 17};
    ok(f, st_job_move(f->st, &end, &f->e));
    found(f, st_job_by_id(f->st, &f->a, id, &j, &f->e));
    assert_true(j.has_exit_code);
    assert_int_equal(j.exit_code, 17);
    assert_int_equal(j.end_us, T0 + 3);
    assert_int_equal(j.start_us, T0 + 1);
    assert_string_equal(j.errors, "[1]");
    assert_int_equal(j.updated_us, T0);
}

DB_TEST(test_job_move_is_guarded)
{
    int64_t id = fx_add_job(f, "j");
    struct st_job_move m = {.id = id, .from = EXEC_RUNNING, .to = EXEC_SUCCEEDED, .now_us = T0 + 1};
    refused(f, st_job_move(f->st, &m, &f->e), ERR_CONFLICT);
    char want[120];
    snprintf(want, sizeof want, "Job %lld cannot go from running to succeeded: it is queued.",
             (long long)id);
    assert_string_equal(f->e.msg, want);
    struct job j;
    found(f, st_job_by_id(f->st, &f->a, id, &j, &f->e));
    assert_int_equal(j.exec_state, EXEC_QUEUED);
    assert_int_equal(j.exec_us, T0);
    m.id = 4711;
    refused_saying(f, st_job_move(f->st, &m, &f->e), ERR_CONFLICT, "it is gone");
}

DB_TEST(test_node_moves)
{
    int64_t id = fx_add_node(f, f->cluster, 1, NODE_PREPARING);
    struct st_node_move ready = {
        .id = id, .from = NODE_PREPARING, .to = NODE_IDLE, .now_us = T0 + 1};
    ok(f, st_node_move(f->st, &ready, &f->e));
    ok(f, st_node_set_incarnation(f->st, id, "boot-1", false, T0 + 1, &f->e));
    struct node nd;
    found(f, st_node_by_id(f->st, &f->a, id, &nd, &f->e));
    assert_string_equal(nd.name, "tvm-1");
    assert_int_equal(nd.state, NODE_IDLE);
    assert_int_equal(nd.state_us, T0 + 1);
    assert_int_equal(nd.idle_us, T0 + 1);
    assert_int_equal(nd.created_us, T0);
    assert_string_equal(nd.incarnation, "boot-1");
    assert_null(nd.errors);
    refused_saying(f, st_node_move(f->st, &ready, &f->e), ERR_CONFLICT, "it is idle");
    struct st_node_move broken = {.id = id,
                                  .from = NODE_IDLE,
                                  .to = NODE_UNUSABLE,
                                  .now_us = T0 + 2,
                                  .errors = "[2]",
                                  .why = "it fell"};
    ok(f, st_node_move(f->st, &broken, &f->e));
    found(f, st_node_by_id(f->st, &f->a, id, &nd, &f->e));
    assert_int_equal(nd.idle_us, 0);
    assert_string_equal(nd.errors, "[2]");
    assert_string_equal(nd.why, "it fell");
    assert_string_equal(nd.incarnation, "boot-1");
    const struct st_node_move again = {
        .id = id, .from = NODE_UNUSABLE, .to = NODE_PREPARING, .now_us = T0 + 3};
    ok(f, st_node_move(f->st, &again, &f->e));
    found(f, st_node_by_id(f->st, &f->a, id, &nd, &f->e));
    assert_null(nd.errors);
    assert_null(nd.why);
    ok(f, st_node_remove(f->st, id, &f->e));
    assert_int_equal(st_node_by_id(f->st, &f->a, id, &nd, &f->e), 0);
    assert_int_equal(st_node_remove(f->st, id, &f->e), -1);
    assert_int_equal(st_node_set_incarnation(f->st, id, "x", false, T0, &f->e), -1);
}

DB_TEST(test_node_lists)
{
    int64_t job = fx_add_job(f, "j"), other = fx_add_cluster(f, f->workspace, "other");
    static const int ordinals[] = {3, 1, 2}, ranks[] = {0, 2, 1};
    for (int i = 0; i < 3; i++) {
        int64_t id = fx_add_node(f, f->cluster, ordinals[i], NODE_IDLE);
        fx_hold(f, job, ranks[i], id);
    }
    fx_add_node(f, other, 1, NODE_IDLE);
    struct node *rows;
    size_t n;
    ok(f, st_node_list(f->st, &f->a, f->cluster, &rows, &n, &f->e));
    assert_int_equal(n, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rows[i].ordinal, i + 1);
    ok(f, st_node_of_run(f->st, &f->a, fx_run_of(f, job).id, &rows, &n, &f->e));
    assert_int_equal(n, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rows[ranks[i]].ordinal, ordinals[i]);
    int64_t total, *ids;
    ok(f, st_node_local_total(f->st, NULL, &total, &f->e));
    assert_int_equal(total, 4);
    ok(f, st_node_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 4);
    fx_let_go(f, job, T0 + 1);
    ok(f, st_node_of_run(f->st, &f->a, fx_run_of(f, job).id, &rows, &n, &f->e));
    assert_int_equal(n, 0);
}

DB_TEST(test_file_servers_are_set_up_once)
{
    int64_t id = fx_add_file_server_in(f, f->workspace, "disks", PROV_CREATING), *ids;
    struct file_server row;
    size_t n;
    ok(f, st_file_server_creating_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], id);
    ok(f, st_file_server_move(f->st, id, PROV_CREATING, PROV_EV_FAILED, T0 + 2, &f->e));
    ok(f, st_file_server_creating_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 0);
    found(f, st_file_server_by_id(f->st, &f->a, id, &row, &f->e));
    assert_int_equal(row.prov_state, PROV_FAILED);
    assert_int_equal(row.prov_us, T0 + 2);
    assert_int_equal(st_file_server_move(f->st, id, PROV_CREATING, PROV_EV_MADE, T0 + 3, &f->e),
                     -1);
    assert_int_equal(f->e.code, ERR_CONFLICT);
    assert_says(f->e.msg, "it is failed");
}

DB_TEST(test_alloc_is_guarded)
{
    struct st_pool_move m = {.id = f->cluster,
                             .kind = RES_CLUSTER,
                             .from = ALLOC_RESIZING,
                             .to = ALLOC_STEADY,
                             .now_us = T0 + 1};
    ok(f, st_pool_move(f->st, &m, &f->e));
    struct cluster c;
    found(f, st_cluster_by_id(f->st, &f->a, f->cluster, &c, &f->e));
    assert_int_equal(c.alloc_state, ALLOC_STEADY);
    assert_int_equal(c.alloc_us, T0 + 1);
    refused_saying(f, st_pool_move(f->st, &m, &f->e), ERR_CONFLICT, "it is steady");
}

static int64_t add_with(struct fx *f, const char *name, int priority, int nodes, int64_t cluster,
                        enum exec_state exec)
{
    struct job j = fx_job(f, name);
    j.priority = priority;
    j.node_count = nodes;
    j.cluster_id = cluster;
    j.exec_state = exec;
    int64_t id;
    ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    return id;
}

DB_TEST(test_queue)
{
    int64_t other = fx_add_cluster(f, f->workspace, "other");
    int64_t low = add_with(f, "low", -1000, 1, f->cluster, EXEC_QUEUED);
    int64_t first = add_with(f, "first", 0, 2, f->cluster, EXEC_QUEUED);
    int64_t second = add_with(f, "second", 0, 3, f->cluster, EXEC_QUEUED);
    int64_t high = add_with(f, "high", 1000, 4, f->cluster, EXEC_QUEUED);
    int64_t going = add_with(f, "going", 1000, 5, f->cluster, EXEC_QUEUED);
    add_with(f, "elsewhere", 0, 6, other, EXEC_QUEUED);
    int64_t running = add_with(f, "running", 0, 7, f->cluster, EXEC_RUNNING);
    int64_t dying = add_with(f, "dying", 0, 7, f->cluster, EXEC_TERMINATING);
    add_with(f, "done", 0, 7, f->cluster, EXEC_SUCCEEDED);
    ok(f, st_mark_deleting(f->st, RES_JOB, going, T0, &f->e));
    const int64_t want[] = {high, first, second, low};
    struct run *rows;
    size_t n;
    ok(f, st_run_queue(f->st, &f->a, f->cluster, 1000, 10, &rows, &n, &f->e));
    assert_int_equal(n, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(rows[i].owner_id, want[i]);
    ok(f, st_run_queue(f->st, &f->a, f->cluster, 1000, 2, &rows, &n, &f->e));
    assert_int_equal(n, 2);
    /* The larger ones stand aside. */
    ok(f, st_run_queue(f->st, &f->a, f->cluster, 2, 10, &rows, &n, &f->e));
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].owner_id, first);
    ok(f, st_run_oversized(f->st, &f->a, f->cluster, 2, 10, &rows, &n, &f->e));
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].owner_id, high);
    assert_int_equal(rows[1].owner_id, second);
    int64_t demand;
    ok(f, st_run_queue_demand(f->st, f->cluster, 2, &demand, &f->e));
    assert_int_equal(demand, 3);
    ok(f, st_run_queue_demand(f->st, f->cluster, 1000, &demand, &f->e));
    assert_int_equal(demand, 10);
    ok(f, st_run_queue_demand(f->st, 999, 1000, &demand, &f->e));
    assert_int_equal(demand, 0);

    int64_t *ids;
    const int64_t live[] = {fx_run_of(f, running).id, fx_run_of(f, dying).id};
    ok(f, st_run_live_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 2);
    assert_memory_equal(ids, live, sizeof live);
    ok(f, st_mark_deleting(f->st, RES_JOB, dying, T0, &f->e));
    ok(f, st_run_doomed_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], live[1]);
}
