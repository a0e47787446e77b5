/* SPDX-License-Identifier: MIT
 *
 * Every statement is an index lookup: no query plan scans a table, except where all its rows are
 * what is asked for. And the lists that must be quick do not sort.
 */
#include "lib/strbuf.h"
#include <sqlite3.h>

#include "test/unit/storage/fixture.h"

/* These read everything there is, by contract: of accounts, one look into an index for each; of
 * roles, and of the few paths whose changes are forgotten and not removed yet. A reset reads the
 * few subjects of the record of use; its rows are read only while some of them must go. */
static const char *const scans_allowed[] = {
    "ST_BATCH_ACCOUNT_WITH_TASK",
    "ST_BATCH_JOB_BARRED",
    "ST_POOL_IDS",
    "ST_NODE_IDS",
    "ST_NODE_LOCAL_TOTAL",
    "ST_NODE_USES",
    "ST_DEPENDENCY_POOLS", /* of rows that it has chosen */
    "ST_BATCH_OWN_POOLS",  /* likewise */
    "ST_DOOM_UP_TO",       /* likewise */
    "ST_POOL_TALLIES",
    "ST_OWNER_TALLIES",
    "ST_MACHINE_LIST",
    "ST_FILE_SERVER_SERVED_IDS",
    "ST_KEPT_PUT_IDS",
    "ST_ITEM_CHANGE_IDS",
    "ST_ITEM_CHANGE_FOLLOW",
    "ST_ASIDE_IS_NAMED", /* what is under way; blobs and snapshots by their indexes */
    "ST_BATCH_CLEANUP_NODES",
    "ST_BATCH_USER_NODES",       /* users that nodes do not have yet, or have still */
    "ST_BATCH_WAIT_UNSETTLED",   /* once, when the daemon starts */
    "ST_BATCH_NUMBER_SATISFIED", /* at most 64 names that it makes */
    "ST_BATCH_RANGES_UNSETTLED",
    "ST_BATCH_RANGES_MET_BY_LOW", /* some hundred rows, which their subqueries found by an index */
    "ST_BATCH_RANGES_MET_BY_HIGH",
    "ST_SUBSCRIPTION_LIST",
    "ST_VAULT_LIST_OPEN_TO",
    "ST_CHANGES_FORGET_ALL",
    "ST_DETACH_ROLES",
    "ST_CHANGES_SINCE",
    "ST_CHANGES_ANY_FORGOTTEN",
    "ST_CHANGES_SWEEP_SOME",
    "ST_USAGE_DETACH",
    "ST_USAGE_ANY_DETACHED",
    "ST_USAGE_SWEEP_OVER",
    "ST_USAGE_SWEEP_ROWS",
    "ST_USAGE_SWEEP_DAYS",
    "ST_USAGE_SWEEP_SUBJECTS",
    "ST_CREDENTIAL_EXISTS" /* the first it finds is enough */};

/* These must come out of their index in order. */
static const char *const sorted[] = {"ST_GROUP_LIST",
                                     "ST_WORKSPACE_LIST_GROUP",
                                     "ST_EXPERIMENT_LIST",
                                     "ST_JOB_LIST_SHOWN",
                                     "ST_CLUSTER_LIST_WORKSPACE",
                                     "ST_FILE_SERVER_LIST_WORKSPACE",
                                     "ST_RUN_QUEUE",
                                     "ST_RUN_OVERSIZED",
                                     "ST_RUN_PARTS_AFTER",
                                     "ST_NODE_LIST",
                                     "ST_NODE_OF_RUN",
                                     "ST_ALLOCATION_BEFORE",
                                     "ST_RUN_LIVE_IDS",
                                     "ST_RUN_DOOMED_IDS",
                                     "ST_SHARE_LIST",
                                     "ST_ACCOUNT_LIST_GROUP",
                                     "ST_BATCH_ACCOUNT_LIST_GROUP",
                                     "ST_BATCH_PACKAGE_LIST",
                                     "ST_BATCH_APPLICATION_LIST",
                                     "ST_BATCH_APPLICATION_LIST_USABLE",
                                     "ST_SHARE_DELETED",
                                     "ST_VAULT_LIST_GROUP",
                                     "ST_VAULT_LIST_SUBSCRIPTION",
                                     "ST_VAULT_LIST_DELETED",
                                     "ST_VAULT_EXPIRED",
                                     "ST_SECRET_EXPIRED",
                                     "ST_SECRET_VERSION_LIST",
                                     "ST_SECRET_LIST_LIVE",
                                     "ST_SECRET_LIST_DELETED",
                                     "ST_IDENTITY_LIST",
                                     "ST_ROLE_ASSIGNMENT_LIST",
                                     "ST_BATCH_POOL_LIST",
                                     "ST_BATCH_JOB_LIST",
                                     "ST_BATCH_JOB_TURN",
                                     "ST_BATCH_JOB_TURN_BEHIND",
                                     "ST_BATCH_TASK_LIST",
                                     "ST_BATCH_TASK_OF_NODE",
                                     "ST_BATCH_TASK_READY",
                                     "ST_BATCH_TASK_TO_STOP",
                                     "ST_BATCH_TASK_FILES_DUE",
                                     "ST_BATCH_CLEANUP_OF_NODE"};

/* These look at what holds nodes, however many jobs wait. */
static const char *const from_live[] = {"ST_MARK_HELD_OF_GROUP", "ST_MARK_HELD_OF_WORKSPACE",
                                        "ST_MARK_HELD_OF_EXPERIMENT"};

/* This looks at archived blobs, however many others the container has. */
#define ARCHIVED "ST_ITEM_LIST_ARCHIVED"

static bool among(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}
#define AMONG(name, list) among((name), (list), sizeof(list) / sizeof(list)[0])

/* "SCAN t USING INDEX i" over a partial index reads what the index holds, and is no scan. */
static bool is_table_scan(const char *detail)
{
    static const char *const partial[] = {"resource_group_deleting",
                                          "resource_group_creating",
                                          "workspace_deleting",
                                          "experiment_deleting",
                                          "file_server_deleting",
                                          "file_server_creating",
                                          "cluster_deleting",
                                          "batch_pool_unsettled",
                                          "batch_pool_deleting",
                                          "batch_pool_scaled",
                                          "job_deleting",
                                          "run_queue",
                                          "run_live",
                                          "allocation_live",
                                          "dependency_open",
                                          "operation_open",
                                          "share_unsettled",
                                          "storage_account_deleting",
                                          "batch_account_deleting",
                                          "share_deleted",
                                          "share_item_aside",
                                          "batch_job_moving",
                                          "batch_job_limited",
                                          "batch_job_turn",
                                          "batch_task_files",
                                          "batch_task_fed",
                                          "operation_ended"};
    if (strncmp(detail, "SCAN", 4) != 0 || strcmp(detail, "SCAN CONSTANT ROW") == 0)
        return false;
    if (strstr(detail, "VIRTUAL TABLE")) /* json_each(), of one row's text */
        return false;
    for (size_t i = 0; i < sizeof partial / sizeof partial[0]; i++)
        if (strstr(detail, partial[i]))
            return false;
    return true;
}

/* Ended allocations of a node are as many as the jobs that it ever ran: only what asks for those
 * that keep a directory, or for one in the past, goes over them. What shows the use of a node asks
 * whether it has any, and reads the first. */
static bool walks_ended(const char *name, const char *detail)
{
    static const char *const allowed[] = {"ST_ALLOCATION_KEPT_DIRS", "ST_ALLOCATION_TRIM",
                                          "ST_ALLOCATION_MARK_KEPT", "ST_ALLOCATION_BEFORE",
                                          "ST_NODE_REMOVE_ROW",      "ST_NODE_USES",
                                          "ST_NODE_USES_AFTER",      "ST_NODE_USE_BY_ID"};
    return strstr(detail, "INDEX allocation_node ") && !AMONG(name, allowed);
}

static int plan_faults(struct fx *f, const char *name, const char *sql)
{
    struct strbuf explain = STRBUF_INIT;
    strbuf_puts(&explain, "EXPLAIN QUERY PLAN ");
    st_sql_expand(&explain, sql, NULL);
    sqlite3_stmt *s;
    int faults = 0;
    bool from_there = !AMONG(name, from_live), of_archived = strcmp(name, ARCHIVED) != 0;
    assert_int_equal(sqlite3_prepare_v2(f->st->db, explain.s, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(s, 3);
        bool scan = is_table_scan(detail) && !AMONG(name, scans_allowed);
        bool sort = strstr(detail, "TEMP B-TREE") && AMONG(name, sorted);
        from_there |= strncmp(detail, "SCAN a USING INDEX allocation_live", 34) == 0 ||
                      strcmp(detail, "SCAN a USING COVERING INDEX allocation_live") == 0;
        of_archived |= strstr(detail, "INDEX share_item_archived ") != NULL;
        if (scan || sort || walks_ended(name, detail)) {
            print_error("%s: %s\n", name, detail);
            faults++;
        }
    }
    sqlite3_finalize(s);
    strbuf_free(&explain);
    if (!from_there)
        print_error("%s does not begin with live allocations\n", name);
    if (!of_archived)
        print_error("%s reads more than archived blobs\n", name);
    return faults + !from_there + !of_archived;
}

DB_TEST(test_query_plans)
{
    int faults = 0;
    for (enum stmt_id i = 0; i < ST_COUNT; i++)
        faults += plan_faults(f, st_stmt_name(i), st_stmt_sql(i));
    assert_int_equal(faults, 0);
}

/* The check can fail. */
DB_TEST(test_a_scan_is_seen)
{
    assert_int_equal(plan_faults(f, "bad", "SELECT id FROM job WHERE guid = ?1"), 1);
    assert_int_equal(plan_faults(f, "ST_JOB_LIST_SHOWN",
                                 "SELECT id FROM job WHERE experiment_id = ?1 ORDER BY created_us"),
                     1);
}

/* As when memory has run out: the call says that it failed, the turn goes on, and the next try is
 * as good as the first. */
DB_TEST(test_a_statement_that_cannot_be_prepared_fails_alone)
{
    struct workspace ws;
    ok(f,
       st_event_add(f->st, &(struct event){.kind = RES_JOB, .resource_id = 1, .at_us = T0}, &f->e));
    int usual = sqlite3_limit(f->st->db, SQLITE_LIMIT_SQL_LENGTH, 1);
    refused(f, st_workspace_by_id(f->st, &f->a, f->workspace, &ws, &f->e), ERR_STORAGE);
    assert_int_equal(st_event_forget(f->st, RES_JOB, 1, &f->e), -1);
    sqlite3_limit(f->st->db, SQLITE_LIMIT_SQL_LENGTH, usual);
    assert_int_equal(f->st->open_queries, 0);
    found(f, st_workspace_by_id(f->st, &f->a, f->workspace, &ws, &f->e));
    st_turn_end(f->st);
    struct event_rows events;
    ok(f, st_event_since(f->st, &f->a, PAGE(10), &events, &f->e));
    assert_int_equal(events.n, 2); /* the cluster and the job were made */
}
