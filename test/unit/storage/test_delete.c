/* SPDX-License-Identifier: MIT
 *
 * Deletion (marks that cascade, removal from the leaves up) and asynchronous operations.
 */
#include "test/unit/storage/fixture.h"

/* A second tree beside that of fx_start(): nothing of it may be touched. */
struct tree {
    int64_t group, workspace, experiment, cluster, server, job;
};

static struct tree plant(struct fx *f, const char *name)
{
    struct tree t;
    t.group = fx_add_group(f, SUB, name);
    t.workspace = fx_add_workspace(f, t.group, "w");
    t.experiment = fx_add_experiment(f, t.workspace, "x");
    t.cluster = fx_add_cluster(f, t.workspace, "c");
    t.server = fx_add_file_server(f, t.workspace, "s");
    struct job j = fx_job(f, "j");
    j.experiment_id = t.experiment;
    j.cluster_id = t.cluster;
    ok(f, st_job_insert(f->st, &j, NULL, &t.job, &f->e));
    return t;
}

/* One letter for each resource of the tree that is deleting. */
static const char *deleting(struct fx *f, const struct tree *t)
{
    struct resource_group g;
    struct workspace w;
    struct experiment x;
    struct cluster c;
    struct file_server s;
    struct job j;
    found(f, st_group_by_id(f->st, &f->a, t->group, &g, &f->e));
    found(f, st_workspace_by_id(f->st, &f->a, t->workspace, &w, &f->e));
    found(f, st_experiment_by_id(f->st, &f->a, t->experiment, &x, &f->e));
    found(f, st_cluster_by_id(f->st, &f->a, t->cluster, &c, &f->e));
    found(f, st_file_server_by_id(f->st, &f->a, t->server, &s, &f->e));
    found(f, st_job_by_id(f->st, &f->a, t->job, &j, &f->e));
    return arena_printf(
        &f->a, "%s%s%s%s%s%s", g.prov_state == PROV_DELETING ? "g" : "",
        w.prov_state == PROV_DELETING ? "w" : "", x.prov_state == PROV_DELETING ? "x" : "",
        c.prov_state == PROV_DELETING ? "c" : "", s.prov_state == PROV_DELETING ? "s" : "",
        j.prov_state == PROV_DELETING ? "j" : "");
}

static int64_t hold(struct fx *f, int64_t cluster, int64_t job)
{
    int64_t node = fx_add_node(f, cluster, 1, NODE_IDLE);
    fx_hold(f, job, 0, node);
    return node;
}

DB_TEST(test_marks_cascade)
{
    static const struct {
        enum resource_kind kind;
        const char *marks;
    } cases[] = {{RES_JOB, "j"},        {RES_FILE_SERVER, "s"},  {RES_CLUSTER, "c"},
                 {RES_EXPERIMENT, "x"}, {RES_WORKSPACE, "wxcs"}, {RES_GROUP, "gwxcs"}};
    struct tree other = plant(f, "untouched");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tree t = plant(f, arena_printf(&f->a, "g%zu", i));
        const int64_t id[] = {0, t.group, t.workspace, t.experiment, t.cluster, t.server, t.job};
        ok(f, st_mark_deleting(f->st, cases[i].kind, id[cases[i].kind], T0 + 1, &f->e));
        assert_string_equal(deleting(f, &t), cases[i].marks);
        ok(f, st_mark_deleting(f->st, cases[i].kind, id[cases[i].kind], T0 + 2, &f->e));
        assert_string_equal(deleting(f, &t), cases[i].marks);
        /* A job that holds a node must be told: it is marked by itself. */
        hold(f, t.cluster, t.job);
        bool has_it = cases[i].kind != RES_CLUSTER && cases[i].kind != RES_FILE_SERVER;
        ok(f, st_mark_deleting(f->st, cases[i].kind, id[cases[i].kind], T0 + 3, &f->e));
        assert_int_equal(strchr(deleting(f, &t), 'j') != NULL, has_it);
    }
    assert_string_equal(deleting(f, &other), "");
}

DB_TEST(test_mark_keeps_the_first_time)
{
    struct tree t = plant(f, "t");
    ok(f, st_mark_deleting(f->st, RES_JOB, t.job, T0 + 1, &f->e));
    hold(f, t.cluster, t.job);
    ok(f, st_mark_deleting(f->st, RES_GROUP, t.group, T0 + 2, &f->e));
    struct job j;
    struct cluster c;
    found(f, st_job_by_id(f->st, &f->a, t.job, &j, &f->e));
    found(f, st_cluster_by_id(f->st, &f->a, t.cluster, &c, &f->e));
    assert_int_equal(j.prov_us, T0 + 1);
    assert_int_equal(j.updated_us, T0);
    assert_int_equal(c.prov_us, T0 + 2);
    refused(f, st_mark_deleting(f->st, RES_CLUSTER, 999, T0, &f->e), ERR_CLUSTER_NOT_FOUND);
}

static void expect_removable(struct fx *f, enum resource_kind kind, int64_t only)
{
    int64_t *ids;
    size_t n;
    ok(f, st_removable_ids(f->st, &f->a, kind, &ids, &n, &f->e));
    assert_int_equal(n, only != 0);
    if (only)
        assert_int_equal(ids[0], only);
}

DB_TEST(test_removal_from_the_leaves_up)
{
    struct tree t = plant(f, "t");
    int64_t node = fx_add_node(f, t.cluster, 1, NODE_LEAVING);
    ok(f, st_mark_deleting(f->st, RES_GROUP, t.group, T0, &f->e));
    const struct {
        enum resource_kind kind;
        int64_t id;
    } refused[] = {{RES_GROUP, t.group},
                   {RES_WORKSPACE, t.workspace},
                   {RES_EXPERIMENT, t.experiment},
                   {RES_CLUSTER, t.cluster}};
    for (int i = 0; i < 4; i++) {
        refused(f, st_remove(f->st, refused[i].kind, refused[i].id, T0, &f->e), ERR_CONFLICT);
        expect_removable(f, refused[i].kind, 0);
    }
    int64_t *ids;
    size_t n;
    ok(f, st_deleting_cluster_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], t.cluster);
    struct doomed_job *doomed;
    ok(f, st_doomed_jobs(f->st, &f->a, 10, &doomed, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(doomed[0].id, t.job);
    assert_int_equal(doomed[0].cluster_id, t.cluster);
    expect_removable(f, RES_JOB, 0);

    ok(f, st_node_remove(f->st, node, &f->e));
    expect_removable(f, RES_CLUSTER, t.cluster);
    ok(f, st_remove(f->st, RES_CLUSTER, t.cluster, T0, &f->e));
    struct job j;
    found(f, st_job_by_id(f->st, &f->a, t.job, &j, &f->e));
    assert_int_equal(j.cluster_id, 0);
    assert_string_equal(j.cluster_ref, "/subscriptions/s/clusters/nc6");
    ok(f, st_remove(f->st, RES_JOB, t.job, T0, &f->e));
    expect_removable(f, RES_EXPERIMENT, t.experiment);
    ok(f, st_remove(f->st, RES_EXPERIMENT, t.experiment, T0, &f->e));
    expect_removable(f, RES_WORKSPACE, 0);
    expect_removable(f, RES_FILE_SERVER, t.server);
    ok(f, st_remove(f->st, RES_FILE_SERVER, t.server, T0, &f->e));
    expect_removable(f, RES_WORKSPACE, t.workspace);
    ok(f, st_remove(f->st, RES_WORKSPACE, t.workspace, T0, &f->e));
    expect_removable(f, RES_GROUP, t.group);
    ok(f, st_remove(f->st, RES_GROUP, t.group, T0, &f->e));
    refused(f, st_remove(f->st, RES_GROUP, t.group, T0, &f->e), ERR_GROUP_NOT_FOUND);
}

/* Bob's role at this scope. */
static void give_role(struct fx *f, const char *scope)
{
    const struct role_assignment ra = {
        .guid = scope, .scope = scope, .role = "owner", .principal = "bob", .created_us = T0};
    ok(f, st_role_assignment_insert(f->st, &ra, &f->e));
}

/* The scopes of all roles that are left, joined. */
static const char *roles_left(struct fx *f)
{
    struct role_assignment *rows;
    size_t n;
    const char *out = "";
    ok(f, st_role_assignment_of(f->st, &f->a, "bob", &rows, &n, &f->e));
    for (size_t i = 0; i < n; i++)
        out = arena_printf(&f->a, "%s%s ", out, rows[i].scope);
    return out;
}

#define BATCHAI "/subscriptions/" SUB "/resourceGroups/Lab/providers/Microsoft.BatchAI"

/* What has the same name later is somebody else's. */
DB_TEST(test_roles_end_with_their_scope)
{
    static const struct {
        enum resource_kind kind;
        const char *scope;
    } inside_out[] = {{RES_JOB, BATCHAI "/workspaces/migrated/EXPERIMENTS/migrated/jobs/j"},
                      {RES_JOB, BATCHAI "/jobs/j"},
                      {RES_CLUSTER, BATCHAI "/workspaces/migrated/clusters/C"},
                      {RES_CLUSTER, BATCHAI "/clusters/c/below"},
                      {RES_FILE_SERVER, BATCHAI "/workspaces/migrated/fileServers/s"},
                      {RES_FILE_SERVER, BATCHAI "/fileServers/s"},
                      {RES_EXPERIMENT, BATCHAI "/workspaces/migrated/experiments/migrated"},
                      {RES_WORKSPACE, BATCHAI "/workspaces/migrated"},
                      {RES_GROUP, "/subscriptions/" SUB "/resourcegroups/lab"},
                      {RES_GROUP, BATCHAI "/jobs/another"}};
    const size_t n = sizeof inside_out / sizeof inside_out[0];
    const char *others = "/subscriptions/" SUB "/resourceGroups/lab2 /subscriptions/" SUB " / ";
    struct tree t = {.group = fx_add_group(f, SUB, "Lab")};
    t.workspace = fx_add_workspace(f, t.group, "migrated");
    t.experiment = fx_add_experiment(f, t.workspace, "migrated");
    t.cluster = fx_add_cluster(f, t.workspace, "c");
    t.server = fx_add_file_server(f, t.workspace, "s");
    struct job j = fx_job(f, "j");
    j.experiment_id = t.experiment;
    j.cluster_id = t.cluster;
    ok(f, st_job_insert(f->st, &j, NULL, &t.job, &f->e));
    const int64_t id[] = {0, t.group, t.workspace, t.experiment, t.cluster, t.server, t.job};
    give_role(f, "/subscriptions/" SUB "/resourceGroups/lab2");
    give_role(f, "/subscriptions/" SUB);
    give_role(f, "/");
    for (size_t i = 0; i < n; i++)
        give_role(f, inside_out[i].scope);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(strstr(roles_left(f), inside_out[i].scope));
        if (i + 1 == n || inside_out[i + 1].kind != inside_out[i].kind)
            ok(f, st_remove(f->st, inside_out[i].kind, id[inside_out[i].kind], T0, &f->e));
        if (i + 1 < n && inside_out[i + 1].kind != inside_out[i].kind)
            assert_null(strstr(roles_left(f), inside_out[i].scope));
    }
    assert_string_equal(roles_left(f), others);
}

DB_TEST(test_a_job_that_holds_a_node_stays)
{
    int64_t job = fx_add_job(f, "j");
    hold(f, f->cluster, job);
    refused(f, st_remove(f->st, RES_JOB, job, T0, &f->e), ERR_CONFLICT);
}

/* Of 3 jobs in a doomed experiment one holds a node, and one is marked by itself; another
 * experiment stays. */
DB_TEST(test_what_is_in_any_state_may_be_deleted)
{
    for (int was = PROV_CREATING; was <= PROV_DELETING; was++) {
        const char *name = arena_printf(&f->a, "s%d", was);
        int64_t id = fx_add_file_server_in(f, f->workspace, name, (enum prov_state)was);
        struct file_server row;
        ok(f, st_mark_deleting(f->st, RES_FILE_SERVER, id, T0 + 1, &f->e));
        found(f, st_file_server_by_id(f->st, &f->a, id, &row, &f->e));
        assert_int_equal(row.prov_state, PROV_DELETING);
        assert_int_equal(row.prov_us, was == PROV_DELETING ? T0 : T0 + 1);
    }
}

DB_TEST(test_doomed_jobs_are_listed_in_pieces)
{
    struct tree t = plant(f, "t");
    struct job j = fx_job(f, "k");
    int64_t id[2];
    j.experiment_id = t.experiment;
    for (int i = 0; i < 2; i++) {
        j.name = i ? "l" : "k";
        j.cluster_id = t.cluster;
        ok(f, st_job_insert(f->st, &j, NULL, &id[i], &f->e));
    }
    hold(f, t.cluster, id[0]);
    struct doomed_job *rows;
    size_t n;
    ok(f, st_mark_deleting(f->st, RES_JOB, id[1], T0, &f->e));
    ok(f, st_mark_deleting(f->st, RES_EXPERIMENT, t.experiment, T0, &f->e));
    ok(f, st_doomed_jobs(f->st, &f->a, 10, &rows, &n, &f->e));
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].id, id[1]);
    assert_false(rows[0].with_experiment);
    assert_int_equal(rows[1].id, t.job);
    assert_true(rows[1].with_experiment);
    ok(f, st_doomed_jobs(f->st, &f->a, 1, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].run_id, fx_run_of(f, id[1]).id);
    fx_let_go(f, id[0], T0);
    ok(f, st_doomed_jobs(f->st, &f->a, 10, &rows, &n, &f->e));
    assert_int_equal(n, 3);
}

static size_t n_queued(struct fx *f)
{
    struct run *rows;
    size_t n;
    int64_t demand;
    ok(f, st_run_queue(f->st, &f->a, f->cluster, 1000, 1000, &rows, &n, &f->e));
    ok(f, st_run_queue_demand(f->st, f->cluster, 1000, &demand, &f->e));
    assert_int_equal(demand, n); /* each wants one node */
    return n;
}

/* Nobody makes room for them, and no queue has to be read past them. */
DB_TEST(test_runs_of_marked_experiments_leave_the_queues_in_slices)
{
    struct tree t = plant(f, "t");
    enum { MANY = 25, SLICE = 10 };
    struct job j = fx_job(f, "");
    j.cluster_id = f->cluster;
    for (int i = 0; i < 2 * MANY; i++) {
        j.experiment_id = i % 2 ? f->experiment : t.experiment;
        j.name = arena_printf(&f->a, "j%d", i);
        ok(f, st_job_insert(f->st, &j, NULL, NULL, &f->e));
    }
    struct st_doom at = {0};
    assert_int_equal(st_doom_runs(f->st, &at, SLICE, &f->e), 0);
    assert_int_equal(n_queued(f), 2 * MANY);
    ok(f, st_mark_deleting(f->st, RES_EXPERIMENT, t.experiment, T0, &f->e));
    at = (struct st_doom){0};
    assert_int_equal(st_doom_runs(f->st, &at, SLICE, &f->e), 1);
    assert_in_range(n_queued(f), 2 * MANY - SLICE, 2 * MANY - 1);
    for (int i = 0; i < 3; i++)
        ok(f, st_doom_runs(f->st, &at, SLICE, &f->e));
    assert_int_equal(st_doom_runs(f->st, &at, SLICE, &f->e), 0);
    assert_int_equal(n_queued(f), MANY);
}

/* An array has many runs. */
DB_TEST(test_slices_count_runs)
{
    struct tree t = plant(f, "t");
    enum { ARRAYS = 5, RUNS = 4, SLICE = 10 };
    static const int numbers[RUNS] = {1, 2, 3, 4};
    struct st_doom at = {0};
    struct job j = fx_job(f, "");
    j.cluster_id = f->cluster;
    j.experiment_id = t.experiment;
    j.runs = RUNS;
    j.numbers = numbers;
    for (int i = 0; i < ARRAYS; i++) {
        j.name = arena_printf(&f->a, "j%d", i);
        ok(f, st_job_insert(f->st, &j, NULL, NULL, &f->e));
    }
    size_t most = n_queued(f);
    ok(f, st_mark_deleting(f->st, RES_EXPERIMENT, t.experiment, T0, &f->e));
    for (size_t n; (n = n_queued(f)) > most - ARRAYS * RUNS;) {
        assert_int_equal(st_doom_runs(f->st, &at, SLICE, &f->e), 1);
        assert_in_range(n - n_queued(f), 1, SLICE + RUNS - 1);
    }
}

DB_TEST(test_ids_are_never_given_out_twice)
{
    int64_t first = fx_add_job(f, "j");
    ok(f, st_remove(f->st, RES_JOB, first, T0, &f->e));
    assert_true(fx_add_job(f, "j") > first);
}

/* --- operations ------------------------------------------------------------------------------ */

static void add_op(struct fx *f, const char *guid, enum resource_kind kind, int64_t id,
                   bool is_delete)
{
    struct operation op = {.guid = guid,
                           .subscription = SUB,
                           .location = "eastus",
                           .resource_key = "S$demo$work$nc6",
                           .api_version = "2018-05-01",
                           .kind = kind,
                           .resource_id = id,
                           .is_delete = is_delete,
                           .status = OP_IN_PROGRESS,
                           .start_us = T0};
    ok(f, st_op_insert(f->st, &op, &f->e));
}

static struct operation get_op(struct fx *f, const char *guid)
{
    struct operation op;
    found(f, st_op_get(f->st, &f->a, guid, &op, &f->e));
    return op;
}

DB_TEST(test_operations)
{
    add_op(f, "abcdef00-0000-4000-8000-000000000001", RES_CLUSTER, f->cluster, false);
    add_op(f, "abcdef00-0000-4000-8000-000000000002", RES_CLUSTER, f->cluster, true);
    add_op(f, "abcdef00-0000-4000-8000-000000000003", RES_CLUSTER, f->cluster + 1, false);
    add_op(f, "abcdef00-0000-4000-8000-000000000004", RES_JOB, f->cluster, false);
    struct operation op = get_op(f, "ABCDEF00-0000-4000-8000-000000000001");
    assert_string_equal(op.guid, "abcdef00-0000-4000-8000-000000000001");
    assert_string_equal(op.subscription, SUB);
    assert_string_equal(op.location, "eastus");
    assert_string_equal(op.resource_key, "S$demo$work$nc6");
    assert_string_equal(op.api_version, "2018-05-01");
    assert_int_equal(op.kind, RES_CLUSTER);
    assert_int_equal(op.resource_id, f->cluster);
    assert_int_equal(op.status, OP_IN_PROGRESS);
    assert_int_equal(op.start_us, T0);

    ok(f, st_op_finish(f->st, RES_CLUSTER, f->cluster, false, "NodeFailure", "it broke", T0 + 9,
                       &f->e));
    op = get_op(f, "abcdef00-0000-4000-8000-000000000001");
    assert_int_equal(op.status, OP_FAILED);
    assert_string_equal(op.error_code, "NodeFailure");
    assert_string_equal(op.error_message, "it broke");
    assert_int_equal(op.end_us, T0 + 9);
    for (char c = '2'; c <= '4'; c++) {
        char guid[] = "abcdef00-0000-4000-8000-000000000000";
        guid[35] = c;
        assert_int_equal(get_op(f, guid).status, OP_IN_PROGRESS);
    }
    /* What is finished stays as it is. */
    ok(f, st_op_finish(f->st, RES_CLUSTER, f->cluster, false, NULL, NULL, T0 + 10, &f->e));
    assert_int_equal(get_op(f, "abcdef00-0000-4000-8000-000000000001").status, OP_FAILED);

    /* Expiry forgets the finished alone. */
    int gone;
    ok(f, st_op_expire(f->st, T0 + 9, 100, &gone, &f->e));
    assert_int_equal(gone, 0);
    get_op(f, "abcdef00-0000-4000-8000-000000000001");
    ok(f, st_op_expire(f->st, T0 + 10, 0, &gone, &f->e));
    assert_int_equal(gone, 0);
    ok(f, st_op_expire(f->st, T0 + 10, 100, &gone, &f->e));
    assert_int_equal(gone, 1);
    assert_int_equal(st_op_get(f->st, &f->a, "abcdef00-0000-4000-8000-000000000001", &op, &f->e),
                     0);
    get_op(f, "abcdef00-0000-4000-8000-000000000002");
}

DB_TEST(test_removal_completes_all_operations)
{
    int64_t job = fx_add_job(f, "j");
    add_op(f, "g1", RES_JOB, job, true);
    add_op(f, "g2", RES_JOB, job, true); /* asked twice */
    add_op(f, "g3", RES_JOB, job + 1, true);
    add_op(f, "g5", RES_JOB, job, false); /* a terminate that the deletion overtook */
    ok(f, st_remove(f->st, RES_JOB, job, T0 + 4, &f->e));
    struct operation op = get_op(f, "g1");
    assert_int_equal(op.status, OP_SUCCEEDED);
    assert_int_equal(op.end_us, T0 + 4);
    assert_null(op.error_code);
    assert_int_equal(get_op(f, "g2").status, OP_SUCCEEDED);
    assert_int_equal(get_op(f, "g3").status, OP_IN_PROGRESS);
    assert_int_equal(get_op(f, "g5").status, OP_SUCCEEDED);
    /* A refused removal completes nothing. */
    add_op(f, "g4", RES_GROUP, f->group, true);
    assert_int_equal(st_remove(f->st, RES_GROUP, f->group, T0, &f->e), -1);
    assert_int_equal(get_op(f, "g4").status, OP_IN_PROGRESS);
}
