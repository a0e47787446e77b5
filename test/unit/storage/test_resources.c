/* SPDX-License-Identifier: MIT
 *
 * Rows in, rows out: every column, names without regard to case, scopes, lists and their pages.
 */
#include <sqlite3.h>

#include "test/unit/storage/fixture.h"

DB_TEST(test_group)
{
    struct resource_group g;
    found(f, st_group_get(f->st, &f->a, "11111111-2222-3333-4444-555555555555", "dEMO", &g, &f->e));
    assert_string_equal(g.name, "Demo");
    assert_string_equal(g.location, "eastus");
    assert_null(g.tags);
    assert_int_equal(g.prov_state, PROV_SUCCEEDED);
    assert_int_equal(g.created_us, T0);
    ok(f, st_group_update(f->st, g.id, "{\"a\":\"b\"}", T0 + 7, &f->e));
    found(f, st_group_by_id(f->st, &f->a, g.id, &g, &f->e));
    assert_string_equal(g.tags, "{\"a\":\"b\"}");
    assert_int_equal(g.updated_us, T0 + 7);
    assert_int_equal(g.created_us, T0);
    assert_int_equal(st_group_get(f->st, &f->a, SUB, "other", &g, &f->e), 0);
    assert_int_equal(st_group_get(f->st, &f->a, "no-such", "demo", &g, &f->e), 0);
    refused_saying(f, st_group_update(f->st, 999, NULL, T0, &f->e), ERR_RESOURCE_NOT_FOUND, "999");
}

DB_TEST(test_duplicate_name_is_a_conflict)
{
    struct resource_group g = {
        .subscription = SUB, .name = "DEMO", .location = "x", .prov_state = PROV_SUCCEEDED};
    int64_t id;
    refused(f, st_group_insert(f->st, &g, &id, &f->e), ERR_CONFLICT);
    struct job j = fx_job(f, "Train");
    ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    j.name = "tRAIN";
    refused(f, st_job_insert(f->st, &j, NULL, &id, &f->e), ERR_CONFLICT);
    /* The same name elsewhere is another resource. */
    j.experiment_id = fx_add_experiment(f, f->workspace, "Second");
    ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    fx_add_group(f, "other-subscription", "Demo");
}

DB_TEST(test_insert_into_nothing_is_refused)
{
    struct job j = fx_job(f, "orphan");
    j.experiment_id = 4711;
    int64_t id;
    refused(f, st_job_insert(f->st, &j, NULL, &id, &f->e), ERR_CONFLICT);
    struct job out;
    assert_int_equal(st_job_get(f->st, &f->a, 4711, "orphan", &out, &f->e), 0);
}

DB_TEST(test_workspace)
{
    struct workspace w;
    found(f, st_workspace_get(f->st, &f->a, f->group, "WORK", &w, &f->e));
    assert_string_equal(w.name, "Work");
    assert_string_equal(w.tags, "{\"team\":\"x\"}");
    assert_string_equal(w.scope.subscription, SUB);
    assert_string_equal(w.scope.group, "Demo");
    assert_string_equal(w.scope.location, "westus2");
    assert_null(w.scope.workspace);
    ok(f, st_workspace_update_tags(f->st, w.id, NULL, T0 + 1, &f->e));
    found(f, st_workspace_by_id(f->st, &f->a, w.id, &w, &f->e));
    assert_null(w.tags);
    assert_int_equal(w.updated_us, T0 + 1);
    assert_int_equal(w.prov_us, T0);
    assert_int_equal(st_workspace_update_tags(f->st, 99, NULL, T0, &f->e), -1);
}

DB_TEST(test_experiment)
{
    struct experiment x;
    found(f, st_experiment_get(f->st, &f->a, f->workspace, "exp", &x, &f->e));
    assert_string_equal(x.name, "Exp");
    assert_string_equal(x.scope.group, "Demo");
    assert_string_equal(x.scope.workspace, "Work");
    assert_string_equal(x.scope.location, "westus2");
    assert_null(x.scope.experiment);
    found(f, st_experiment_by_id(f->st, &f->a, x.id, &x, &f->e));
    assert_int_equal(x.workspace_id, f->workspace);
    assert_int_equal(st_experiment_by_id(f->st, &f->a, 77, &x, &f->e), 0);
}

DB_TEST(test_file_server)
{
    int64_t id = fx_add_file_server(f, f->workspace, "Nfs");
    struct file_server s;
    found(f, st_file_server_get(f->st, &f->a, f->workspace, "nfs", &s, &f->e));
    assert_int_equal(s.id, id);
    assert_string_equal(s.doc, "{\"vmSize\":\"STANDARD_DS1_V2\"}");
    assert_string_equal(s.scope.workspace, "Work");
    found(f, st_file_server_by_id(f->st, &f->a, id, &s, &f->e));
    assert_string_equal(s.name, "Nfs");
    assert_string_equal(s.guid, "cccccccc-0000-4000-8000-000000000001");
    const char *secrets;
    found(f, st_file_server_secrets(f->st, &f->a, id, &secrets, &f->e));
    assert_string_equal(secrets, "{\"password\":\"pw\"}");
}

DB_TEST(test_cluster)
{
    struct cluster in = fx_cluster(f->workspace, "Auto"), c;
    in.scale = (struct scale){.kind = SCALE_AUTO,
                              .dealloc = DEALLOC_WAIT_FOR_COMPLETION,
                              .minimum = 1,
                              .maximum = 9,
                              .initial = 3};
    in.auto_target = 3;
    in.vm_priority = VM_LOWPRIORITY;
    in.errors = "[]";
    ok(f, st_cluster_insert(f->st, &in, NULL, &in.id, &f->e));
    found(f, st_cluster_get(f->st, &f->a, f->workspace, "aUTO", &c, &f->e));
    assert_memory_equal(&c.scale, &in.scale, sizeof in.scale);
    assert_int_equal(c.auto_target, 3);
    assert_int_equal(c.vm_priority, VM_LOWPRIORITY);
    assert_string_equal(c.errors, "[]");
    assert_string_equal(c.vm_size, "STANDARD_NC6");
    assert_int_equal(c.alloc_state, ALLOC_RESIZING);

    in.scale = (struct scale){.kind = SCALE_MANUAL, .target = 5, .dealloc = DEALLOC_TERMINATE};
    in.doc = "{}";
    in.updated_us = T0 + 5;
    ok(f, st_cluster_update_scale(f->st, &in, &f->e));
    ok(f, st_pool_set_auto_target(f->st, in.id, 4, &f->e));
    ok(f, st_pool_set_errors(f->st, in.id, NULL, &f->e));
    found(f, st_cluster_by_id(f->st, &f->a, in.id, &c, &f->e));
    assert_memory_equal(&c.scale, &in.scale, sizeof in.scale);
    assert_string_equal(c.doc, "{}");
    assert_int_equal(c.updated_us, T0 + 5);
    assert_int_equal(c.created_us, T0);
    assert_int_equal(c.auto_target, 4);
    assert_null(c.errors);
    in.id = 999;
    assert_int_equal(st_cluster_update_scale(f->st, &in, &f->e), -1);
}

DB_TEST(test_cluster_counts)
{
    int64_t other = fx_add_cluster(f, f->workspace, "other"), job = fx_add_job(f, "j");
    static const enum node_state states[] = {NODE_PREPARING, NODE_LEAVING, NODE_UNUSABLE,
                                             NODE_IDLE,      NODE_IDLE,    NODE_IDLE,
                                             NODE_IDLE,      NODE_IDLE};
    for (int i = 0; i < 8; i++) {
        int64_t id = fx_add_node(f, f->cluster, i + 1, states[i]);
        if (i >= 5)
            fx_hold(f, job, i, id);
    }
    fx_add_node(f, other, 1, NODE_UNUSABLE);
    struct cluster c;
    found(f, st_cluster_by_id(f->st, &f->a, f->cluster, &c, &f->e));
    struct node_counts want = {
        .preparing = 1, .idle = 2, .running = 3, .leaving = 1, .unusable = 1};
    assert_memory_equal(&c.counts, &want, sizeof want);
    struct cluster_rows rows;
    struct st_filter by = {.subscription = SUB, .workspace_id = f->workspace};
    ok(f, st_cluster_list(f->st, &f->a, &by, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 2);
    assert_memory_equal(&rows.items[0].counts, &want, sizeof want);
    struct node_counts one = {.unusable = 1};
    assert_memory_equal(&rows.items[1].counts, &one, sizeof one);
}

DB_TEST(test_lists_by_scope)
{
    int64_t g2 = fx_add_group(f, SUB, "Second"), g3 = fx_add_group(f, "elsewhere", "Third");
    int64_t w2 = fx_add_workspace(f, g2, "Work"), w3 = fx_add_workspace(f, g3, "Work");
    int64_t w4 = fx_add_workspace(f, f->group, "Play");
    /* Ids interleave between the scopes, so that the order is the id's and not the scope's. */
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        const int64_t in[] = {w2, w3, f->workspace, w4};
        for (int k = 0; k < 4; k++) {
            fx_add_cluster(f, in[k], name);
            fx_add_file_server(f, in[k], name);
        }
    }
    const struct {
        struct st_filter by;
        size_t clusters, servers;
    } cases[] = {
        {{.subscription = SUB}, 10, 9},
        {{.subscription = "ELSEWHERE"}, 3, 3},
        {{.subscription = SUB, .group_id = f->group}, 7, 6},
        {{.subscription = SUB, .group_id = f->group, .workspace_id = w4}, 3, 3},
        {{.subscription = "none"}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster_rows c;
        struct file_server_rows s;
        ok(f, st_cluster_list(f->st, &f->a, &cases[i].by, PAGE(100), &c, &f->e));
        ok(f, st_file_server_list(f->st, &f->a, &cases[i].by, PAGE(100), &s, &f->e));
        assert_int_equal(c.n, cases[i].clusters);
        assert_int_equal(s.n, cases[i].servers);
        for (size_t k = 1; k < c.n; k++)
            assert_true(c.items[k].id > c.items[k - 1].id);
        for (size_t k = 1; k < s.n; k++)
            assert_true(s.items[k].id > s.items[k - 1].id);
    }
    int64_t count;
    ok(f, st_cluster_count(f->st, SUB, &count, &f->e));
    assert_int_equal(count, 10);
    int64_t *ids;
    size_t n;
    ok(f, st_pool_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 13);
}

DB_TEST(test_workspace_and_group_lists)
{
    int64_t g2 = fx_add_group(f, SUB, "Second"), g3 = fx_add_group(f, "elsewhere", "Third");
    int64_t w2 = fx_add_workspace(f, g2, "a");
    fx_add_workspace(f, g3, "b");
    struct workspace_rows w;
    struct resource_group_rows g;
    struct experiment_rows x;
    ok(f, st_group_list(f->st, &f->a, SUB, PAGE(10), &g, &f->e));
    assert_int_equal(g.n, 2);
    ok(f, st_group_list(f->st, &f->a, SUB, PAGE_AFTER(g.items[0].id, 10), &g, &f->e));
    assert_int_equal(g.n, 1);
    assert_int_equal(g.items[0].id, g2);
    ok(f, st_workspace_list(f->st, &f->a, IN(SUB, 0), PAGE(10), &w, &f->e));
    assert_int_equal(w.n, 2);
    ok(f, st_workspace_list(f->st, &f->a, IN(SUB, g2), PAGE(10), &w, &f->e));
    assert_int_equal(w.n, 1);
    assert_int_equal(w.items[0].id, w2);
    assert_string_equal(w.items[0].scope.group, "Second");
    ok(f, st_experiment_list(f->st, &f->a, f->workspace, PAGE(10), &x, &f->e));
    assert_int_equal(x.n, 1);
    ok(f, st_experiment_list(f->st, &f->a, w2, PAGE(10), &x, &f->e));
    assert_int_equal(x.n, 0);
}

DB_TEST(test_job)
{
    struct job in = fx_job(f, "Train"), j;
    in.priority = 1000;
    in.node_count = 4;
    in.exec_state = EXEC_FAILED;
    in.start_us = T0 + 1;
    in.end_us = T0 + 2;
    in.has_exit_code = true;
    in.exit_code = 0;
    in.attempt = 2;
    in.errors = "[{\"code\":\"JobFailed\"}]";
    int64_t id;
    ok(f, st_job_insert(f->st, &in, NULL, &id, &f->e));
    found(f, st_job_get(f->st, &f->a, f->experiment, "tRAIN", &j, &f->e));
    assert_int_equal(j.id, id);
    assert_int_equal(j.cluster_id, f->cluster);
    assert_string_equal(j.guid, in.guid);
    assert_string_equal(j.doc, in.doc);
    assert_string_equal(j.cluster_ref, in.cluster_ref);
    assert_int_equal(j.priority, 1000);
    assert_int_equal(j.node_count, 4);
    assert_int_equal(j.max_wall_us, in.max_wall_us);
    assert_int_equal(j.exec_state, EXEC_FAILED);
    assert_int_equal(j.start_us, T0 + 1);
    assert_int_equal(j.end_us, T0 + 2);
    assert_true(j.has_exit_code);
    assert_int_equal(j.exit_code, 0);
    assert_int_equal(j.attempt, 2);
    assert_string_equal(j.errors, in.errors);
    assert_string_equal(j.scope.subscription, SUB);
    assert_string_equal(j.scope.group, "Demo");
    assert_string_equal(j.scope.workspace, "Work");
    assert_string_equal(j.scope.experiment, "Exp");
    assert_string_equal(j.scope.location, "westus2");
    id = fx_add_job(f, "plain");
    found(f, st_job_by_id(f->st, &f->a, id, &j, &f->e));
    assert_false(j.has_exit_code);
    assert_null(j.errors);
    assert_int_equal(st_job_by_id(f->st, &f->a, 12345, &j, &f->e), 0);
}

DB_TEST(test_job_pages)
{
    int64_t other = fx_add_experiment(f, f->workspace, "Other");
    for (int i = 0; i < 105; i++) {
        struct job j = fx_job(f, arena_printf(&f->a, "job%03d", i));
        int64_t id;
        ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
        j.experiment_id = other;
        ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    }
    int64_t after = 0;
    int seen = 0;
    struct job_rows rows;
    do {
        ok(f, st_job_list_shown(f->st, &f->a, f->experiment, PAGE_AFTER(after, 20), &rows, &f->e));
        for (size_t i = 0; i < rows.n; i++) {
            assert_string_equal(rows.items[i].name, arena_printf(&f->a, "job%03d", seen++));
            after = rows.items[i].id;
        }
    } while (rows.n == 20);
    assert_int_equal(seen, 105);
}

DB_TEST(test_secrets)
{
    const char *text = "{\"properties.secrets[0].value\":\"hunter2\"}", *got;
    struct job j = fx_job(f, "secret");
    int64_t id;
    ok(f, st_job_insert(f->st, &j, text, &id, &f->e));
    found(f, st_job_secrets(f->st, &f->a, id, &got, &f->e));
    assert_string_equal(got, text);
    id = fx_add_job(f, "open");
    found(f, st_job_secrets(f->st, &f->a, id, &got, &f->e));
    assert_null(got);
    assert_int_equal(st_job_secrets(f->st, &f->a, 999, &got, &f->e), 0);
    struct cluster c = fx_cluster(f->workspace, "sealed");
    ok(f, st_cluster_insert(f->st, &c, text, &id, &f->e));
    found(f, st_cluster_secrets(f->st, &f->a, id, &got, &f->e));
    assert_string_equal(got, text);
    /* A damaged seal is told, not passed on. */
    char sql[120];
    snprintf(sql, sizeof sql,
             "UPDATE cluster SET secrets = zeroblob(length(secrets)) WHERE id = %lld",
             (long long)id);
    assert_int_equal(sqlite3_exec(f->st->db, sql, NULL, NULL, NULL), SQLITE_OK);
    refused(f, st_cluster_secrets(f->st, &f->a, id, &got, &f->e), ERR_STORAGE);
    /* So is one that is too short to be one. */
    snprintf(sql, sizeof sql, "UPDATE cluster SET secrets = x'00' WHERE id = %lld", (long long)id);
    assert_int_equal(sqlite3_exec(f->st->db, sql, NULL, NULL, NULL), SQLITE_OK);
    refused(f, st_cluster_secrets(f->st, &f->a, id, &got, &f->e), ERR_STORAGE);
}

DB_TEST(test_reads_survive_reopening)
{
    const char *text = "{\"k\":\"v\"}", *got;
    struct job j = fx_job(f, "kept"), out;
    int64_t id;
    ok(f, st_job_insert(f->st, &j, text, &id, &f->e));
    fx_reopen(f);
    found(f, st_job_get(f->st, &f->a, f->experiment, "kept", &out, &f->e));
    found(f, st_job_secrets(f->st, &f->a, id, &got, &f->e));
    assert_string_equal(got, text);
}
