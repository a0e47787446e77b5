/* SPDX-License-Identifier: MIT
 *
 * Makes the triggers that write the rows of `change`: their SQL is generated from a table of kinds,
 * with the states as texts. The triggers belong to this connection alone (temporary), so the file
 * never contains them. On the loop; only with --testing.
 */
#include "storage/changes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "storage/detachment.h"
#include "storage/sql/columns.h"
#include "storage/storage_priv.h"

#define KEPT "100000" /* some 20 MB */

/* --- paths: SQL over the row '@' -------------------------------------------------------------- */

#define GROUP_TEXT "'/subscriptions/' || g.subscription || '/resourceGroups/' || g.name"
#define IN_GROUP(id)                                                                               \
    "(SELECT " GROUP_TEXT " || '/providers/' FROM resource_group g WHERE g.id = " id ")"
#define WORKSPACE(id)                                                                              \
    "(SELECT " GROUP_TEXT                                                                          \
    " || '/providers/Microsoft.BatchAI/workspaces/' || w.name FROM workspace w "                   \
    "JOIN resource_group g ON g.id = w.group_id WHERE w.id = " id ")"
#define EXPERIMENT(id)                                                                             \
    "(SELECT " WORKSPACE(                                                                          \
        "x.workspace_id") " || '/experiments/' || x.name FROM experiment x WHERE x.id = " id ")"
#define BATCH_ACCOUNT(id)                                                                          \
    "(SELECT " IN_GROUP("b.group_id") " || 'Microsoft.Batch/batchAccounts/' || b.name "            \
                                      "FROM batch_account b WHERE b.id = " id ")"
#define JOB(id)                                                                                    \
    "(SELECT " EXPERIMENT("j.experiment_id") " || '/jobs/' || j.name FROM job j WHERE j.id = " id  \
                                             ")"
#define BATCH_JOB(id)                                                                              \
    "(SELECT " BATCH_ACCOUNT(                                                                      \
        "j.account_id") " || '/jobs/' || j.name FROM batch_job j WHERE j.id = " id ")"
#define CLUSTER(id)                                                                                \
    "(SELECT " WORKSPACE(                                                                          \
        "c.workspace_id") " || '/clusters/' || c.name FROM cluster c WHERE c.id = " id ")"
#define BATCH_POOL(id)                                                                             \
    "(SELECT " BATCH_ACCOUNT(                                                                      \
        "p.account_id") " || '/pools/' || p.name FROM batch_pool p WHERE p.id = " id ")"
#define NODE(pool, name) "coalesce(" CLUSTER(pool) ", " BATCH_POOL(pool) ") || '/nodes/' || " name
#define SHARE(service, name)                                                                       \
    "(SELECT " IN_GROUP(                                                                           \
        "s.group_id") " || 'Microsoft.Storage/storageAccounts/' || s.name || '" service            \
                      "' || " name " FROM storage_account s WHERE s.id = @.account_id)"
#define VAULT                                                                                      \
    "'/subscriptions/' || v.subscription || '/resourceGroups/' || v.group_name || "                \
    "'/providers/Microsoft.KeyVault/vaults/' || v.name"
#define VAULT_SECRET(vault, name)                                                                  \
    "(SELECT " VAULT " || '/secrets/' || " name " FROM vault v WHERE v.id = " vault ")"

/* --- kinds ------------------------------------------------------------------------------------ */

static const struct kept_kind {
    enum change_kind kind;
    const char *table;
    const char *path; /* SQL of the path; '@' stands for the row */
    /* the column with the state; NULL: the kind has no states, or events report them */
    const char *state;
    /* a change of one of these columns is a change of the resource; separated by spaces */
    const char *columns;
    const char *there; /* SQL: whether the resource exists for clients; NULL: always */
} kinds[] = {
    {CHANGE_GROUP, "resource_group",
     "'/subscriptions/' || @.subscription || '/resourceGroups/' || @.name", "prov_state", "tags",
     NULL},
    {CHANGE_WORKSPACE, "workspace",
     IN_GROUP("@.group_id") " || 'Microsoft.BatchAI/workspaces/' || @.name", "prov_state", "tags",
     NULL},
    {CHANGE_EXPERIMENT, "experiment", WORKSPACE("@.workspace_id") " || '/experiments/' || @.name",
     "prov_state", "", NULL},
    {CHANGE_CLUSTER, "cluster", WORKSPACE("@.workspace_id") " || '/clusters/' || @.name", NULL,
     "doc", NULL},
    {CHANGE_FILE_SERVER, "file_server", WORKSPACE("@.workspace_id") " || '/fileServers/' || @.name",
     "prov_state", "", NULL},
    {CHANGE_JOB, "job", EXPERIMENT("@.experiment_id") " || '/jobs/' || @.name", NULL, "", NULL},
    {CHANGE_NODE, "node", NODE("@.pool_id", "@.name"), NULL, "", NULL},
    {CHANGE_STORAGE_ACCOUNT, "storage_account",
     IN_GROUP("@.group_id") " || 'Microsoft.Storage/storageAccounts/' || @.name", "prov_state",
     "tags doc sku keys blob_service file_service", NULL},
    {CHANGE_BATCH_ACCOUNT, "batch_account",
     IN_GROUP("@.group_id") " || 'Microsoft.Batch/batchAccounts/' || @.name", "prov_state",
     "tags doc keys", NULL},
    {CHANGE_BATCH_POOL, "batch_pool", BATCH_ACCOUNT("@.account_id") " || '/pools/' || @.name", NULL,
     "doc auto_enabled auto_formula", NULL},
    {CHANGE_BATCH_JOB, "batch_job", BATCH_ACCOUNT("@.account_id") " || '/jobs/' || @.name", "state",
     "doc", NULL},
    {CHANGE_BATCH_TASK, "batch_task", BATCH_JOB("@.job_id") " || '/tasks/' || @.name", "state",
     "doc", NULL},
    {CHANGE_BATCH_SCHEDULE, "batch_schedule",
     BATCH_ACCOUNT("@.account_id") " || '/jobSchedules/' || @.name", "state", "doc", NULL},
    {CHANGE_BATCH_CERTIFICATE, "batch_certificate",
     BATCH_ACCOUNT("@.account_id") " || '/certificates/' || @.algorithm || '-' || @.thumbprint",
     "state", "", NULL},
    {CHANGE_BATCH_APPLICATION, "batch_application",
     BATCH_ACCOUNT("@.account_id") " || '/applications/' || @.name", NULL,
     "display_name default_version allow_updates", NULL},
    {CHANGE_BATCH_PACKAGE, "batch_package",
     "(SELECT " BATCH_ACCOUNT(
         "a.account_id") " || '/applications/' || a.name || '/versions/' || "
                         "@.name FROM batch_application a WHERE a.id = @.application_id)",
     NULL, "activated_us format", NULL},
    {CHANGE_CONTAINER, "share", SHARE("/blobServices/default/containers/", "@.name"), NULL,
     "quota metadata acl public_access access_tier", SQL_CONTAINER_THERE},
    {CHANGE_SHARE, "share", SHARE("/fileServices/default/shares/", "@.name"), NULL,
     "quota metadata acl public_access access_tier", SQL_SHARE_THERE},
    {CHANGE_VAULT, "vault",
     "'/subscriptions/' || @.subscription || '/resourceGroups/' || @.group_name || "
     "'/providers/Microsoft.KeyVault/vaults/' || @.name",
     NULL, "tags doc", "@.group_id IS NOT NULL"},
    {CHANGE_SECRET, "secret", VAULT_SECRET("@.vault_id", "@.name"), NULL, "", "@.deleted_us = 0"},
    {CHANGE_ROLE_ASSIGNMENT, "role_assignment",
     "rtrim(@.scope, '/') || '/providers/Microsoft.Authorization/roleAssignments/' || @.guid", NULL,
     "", NULL},
};

/* Kinds whose state changes are events (st_event_add()). A change of such a kind is written with
 * its event, and not when the resource's row is inserted. */
static const struct {
    enum change_kind kind;
    const char *path;  /* SQL: the path of NEW.resource_id */
    const char *state; /* SQL: the last state, from the row of the table in `kinds` */
} told[] = {
    {CHANGE_JOB, JOB("NEW.resource_id"), "OLD.exec_state"},
    {CHANGE_CLUSTER, CLUSTER("NEW.resource_id"),
     "coalesce((SELECT alloc_state FROM pool WHERE id = OLD.id), 0)"},
    {CHANGE_NODE,
     "(SELECT " NODE("n.pool_id", "n.name") " FROM node n WHERE n.id = NEW.resource_id)",
     "OLD.state"},
    {CHANGE_BATCH_POOL, BATCH_POOL("NEW.resource_id"), "OLD.alloc_state"},
};
#define N_TOLD (sizeof told / sizeof *told)

/* While a group is detached (st_delete.c), no changes are reported. */
#define TOLD_FUNCTION "change_told"
#define TOLD          TOLD_FUNCTION "()"

/* --- triggers --------------------------------------------------------------------------------- */

/* Appends `text`, with `row` in the place of each '@'. */
static void put(struct strbuf *out, const char *text, const char *row)
{
    for (const char *at; (at = strchr(text, '@')); text = at + 1) {
        strbuf_add(out, text, (size_t)(at - text));
        strbuf_puts(out, row);
    }
    strbuf_puts(out, text);
}

static void put_there(struct strbuf *out, const struct kept_kind *k, const char *row)
{
    strbuf_puts(out, "(");
    put(out, k->there ? k->there : "1", row);
    strbuf_puts(out, ")");
}

static const char *state_told(const struct kept_kind *k)
{
    for (size_t i = 0; i < N_TOLD; i++)
        if (told[i].kind == k->kind)
            return told[i].state;
    return NULL;
}

/* Appends the statement that inserts a change. `fallen`: the same statement may have removed the
 * parent too; then the last reported path is used. */
static void put_change(struct strbuf *out, const struct kept_kind *k, const char *row,
                       const char *what, const char *from, const char *to, bool fallen)
{
    strbuf_printf(out,
                  "INSERT INTO change (at_us, kind, resource_id, path, what, from_state, to_state) "
                  "SELECT served_now(), %d, %s.id, path, %s, %s, %s FROM (SELECT ",
                  (int)k->kind, row, what, from, to);
    if (fallen)
        strbuf_puts(out, "coalesce(");
    put(out, k->path, row);
    if (fallen)
        strbuf_printf(out,
                      ", (SELECT path FROM change WHERE kind = %d AND resource_id = %s.id "
                      "AND NOT " SQL_CHANGE_IS_FORGOTTEN " ORDER BY seq DESC LIMIT 1))",
                      (int)k->kind, row);
    strbuf_puts(out,
                " AS path) WHERE path NOT LIKE '/subscriptions/" GROUPS_DETACHED "/%'; END;\n");
}

static const char *state_of(struct arena *a, const struct kept_kind *k, const char *row)
{
    return k->state ? arena_concat(a, row, ".", k->state) : "0";
}

static void put_made(struct strbuf *out, struct arena *a, const struct kept_kind *k)
{
    strbuf_printf(out,
                  "CREATE TEMP TRIGGER IF NOT EXISTS change_made_%d AFTER INSERT ON %s WHEN " TOLD
                  " AND ",
                  (int)k->kind, k->table);
    put_there(out, k, "NEW");
    strbuf_puts(out, " BEGIN ");
    put_change(out, k, "NEW", SQL_CHANGE_MADE, "0", state_of(a, k, "NEW"), false);
}

static void put_removed(struct strbuf *out, struct arena *a, const struct kept_kind *k)
{
    const char *state = state_told(k);
    strbuf_printf(
        out,
        "CREATE TEMP TRIGGER IF NOT EXISTS change_removed_%d BEFORE DELETE ON %s WHEN " TOLD
        " AND ",
        (int)k->kind, k->table);
    put_there(out, k, "OLD");
    strbuf_puts(out, " BEGIN ");
    put_change(out, k, "OLD", SQL_CHANGE_REMOVED, state ? state : state_of(a, k, "OLD"), "0", true);
}

/* Appends the trigger for updates of a table. A change of `columns` or of the state changes the
 * resource. A change of the column that tells whether it exists (`state`, `group_id` or
 * `deleted_us`) makes or removes it. */
static void put_done(struct strbuf *out, struct arena *a, const struct kept_kind *k)
{
    struct strbuf differs = STRBUF_INIT;
    char *names = xstrdup(k->columns), *rest = NULL;
    strbuf_puts(&differs, "0");
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        strbuf_printf(&differs, " OR OLD.%s IS NOT NEW.%s", name, name);
    if (k->state)
        strbuf_printf(&differs, " OR OLD.%s <> NEW.%s", k->state, k->state);
    if (k->there) {
        strbuf_puts(&differs, " OR ");
        put_there(&differs, k, "OLD");
        strbuf_puts(&differs, " <> ");
        put_there(&differs, k, "NEW");
    }
    strbuf_printf(out,
                  "CREATE TEMP TRIGGER IF NOT EXISTS change_done_%d AFTER UPDATE ON %s WHEN " TOLD
                  " AND (%s) AND (",
                  (int)k->kind, k->table, differs.s);
    put_there(out, k, "OLD");
    strbuf_puts(out, " OR ");
    put_there(out, k, "NEW");
    strbuf_puts(out, ") BEGIN ");
    struct strbuf what = STRBUF_INIT;
    strbuf_puts(&what, "CASE WHEN NOT ");
    put_there(&what, k, "OLD");
    strbuf_puts(&what, " THEN " SQL_CHANGE_MADE " WHEN NOT ");
    put_there(&what, k, "NEW");
    strbuf_puts(&what, " THEN " SQL_CHANGE_REMOVED " ELSE " SQL_CHANGE_DONE " END");
    put_change(out, k, "NEW", what.s, state_of(a, k, "OLD"), state_of(a, k, "NEW"),
               k->there != NULL);
    strbuf_free(&what);
    strbuf_free(&differs);
    free(names);
}

static void put_told(struct strbuf *out, size_t i)
{
    strbuf_printf(
        out,
        "CREATE TEMP TRIGGER IF NOT EXISTS change_told_%d AFTER INSERT ON event WHEN " TOLD
        " AND NEW.kind = %d BEGIN INSERT INTO change (at_us, kind, resource_id, path, "
        "what, from_state, "
        "to_state, reason) SELECT NEW.at_us, %d, NEW.resource_id, path, "
        "iif(NEW.from_state = 0, " SQL_CHANGE_MADE ", " SQL_CHANGE_DONE
        "), NEW.from_state, NEW.to_state, NEW.reason "
        "FROM (SELECT %s AS path) WHERE path NOT LIKE "
        "'/subscriptions/" GROUPS_DETACHED "/%%'; END;\n",
        (int)told[i].kind, (int)told[i].kind, (int)told[i].kind, told[i].path);
}

/* Appends the triggers for new versions of a secret, and for changes of a version's attributes. */
static void put_secrets(struct strbuf *out)
{
    static const char *const when[] = {
        "INSERT ON secret_version WHEN " TOLD " AND EXISTS (SELECT 1 FROM secret_version "
        "WHERE secret_id = NEW.secret_id AND id <> NEW.id)",
        "UPDATE ON secret_version WHEN " TOLD,
    };
    for (int i = 0; i < 2; i++)
        strbuf_printf(out,
                      "CREATE TEMP TRIGGER IF NOT EXISTS change_version_%d AFTER %s BEGIN "
                      "INSERT INTO change (at_us, kind, resource_id, path, what, from_state, "
                      "to_state) SELECT served_now(), %d, k.id, " VAULT
                      " || '/secrets/' || k.name, " SQL_CHANGE_DONE
                      ", 0, 0 FROM secret k JOIN vault v "
                      "ON v.id = k.vault_id WHERE k.id = NEW.secret_id; END;\n",
                      i, when[i], (int)CHANGE_SECRET);
}

static const char of_changes[] =
    "CREATE TEMP TRIGGER IF NOT EXISTS change_kept AFTER INSERT ON change BEGIN "
    "DELETE FROM change WHERE seq <= NEW.seq - " KEPT "; END;\n";

static char *all_triggers(void)
{
    struct strbuf out = STRBUF_INIT;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!state_told(&kinds[i]))
            put_made(&out, &a, &kinds[i]);
        if (kinds[i].state || kinds[i].there || *kinds[i].columns)
            put_done(&out, &a, &kinds[i]);
        put_removed(&out, &a, &kinds[i]);
    }
    for (size_t i = 0; i < N_TOLD; i++)
        put_told(&out, i);
    put_secrets(&out);
    strbuf_puts(&out, of_changes);
    arena_free(&a);
    return strbuf_take(&out);
}

/* Makes the triggers. */
static int make_triggers(struct storage *st, struct err *e)
{
    char *triggers = all_triggers();
    int rc = st_exec(st, triggers, "changes", e);
    free(triggers);
    st->changes_due = rc < 0;
    st->changes_new = true;
    return rc;
}

/* --- for callers outside of storage/ --- */

int st_changes_keep(struct storage *st, struct loop *loop, struct err *e)
{
    int rc = st_sql_clock(st, "served_now", loop);
    if (rc == 0)
        rc = st_sql_is_off(st, TOLD_FUNCTION, &st->changes_muted);
    if (rc != 0)
        return st_err_from_sqlite(st, rc, "changes", e);
    st->changes_begin = make_triggers;
    st->changes_due = true;
    return 0;
}

int st_changes_forget(struct storage *st, const char *path, struct err *e)
{
    return path ? st_changes_forget_at(st, path, e) : st_changes_forget_all(st, e);
}

int st_changes_sweep(struct storage *st, int limit, int *gone, struct err *e)
{
    bool any;
    *gone = 0;
    if (st_changes_any_forgotten(st, &any, e) < 0)
        return -1;
    if (!any)
        return 0;
    if (st_changes_sweep_some(st, limit, gone, e) < 0)
        return -1;
    return *gone == limit ? 0 : st_changes_swept(st, e);
}
