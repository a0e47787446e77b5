/* SPDX-License-Identifier: MIT
 *
 * Everything that depends on SQLite: connections, prepared statements, SQL for one use, and the
 * conversion of SQLite's errors to struct err. SQLite's extended code and its own text are written
 * to the log, never into a message that a client may see. No other file except query.c calls SQLite
 * (make check-source).
 */
#include <assert.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "model/home.h"
#include "storage/detachment.h"
#include "storage/storage_priv.h"

/* How many steps SQLite's virtual machine takes between two reports of the progress of an
 * opening. */
#define TELL_STEPS 1000

/* --- errors ----------------------------------------------------------------------------------- */

static const struct {
    int rc; /* an extended code, or a primary code for all its extended codes */
    enum err_code code;
    const char *msg;
} sql_errors[] = {
    {SQLITE_CONSTRAINT_UNIQUE, ERR_CONFLICT, "The name exists already."},
    {SQLITE_CONSTRAINT_PRIMARYKEY, ERR_CONFLICT, "The name exists already."},
    {SQLITE_CONSTRAINT_FOREIGNKEY, ERR_CONFLICT,
     "The resource is still in use, or refers to a deleted resource."},
    {SQLITE_CONSTRAINT_TRIGGER, ERR_CONFLICT, "The resource is still in use."},
    {SQLITE_FULL, ERR_STORAGE,
     "The disk that holds the database is full; free some space and try again."},
    {SQLITE_IOERR, ERR_STORAGE,
     "The database could not be read or written; check the disk and the daemon's log."},
    {SQLITE_CORRUPT, ERR_STORAGE, "The database is damaged; restore it from a backup."},
    {SQLITE_NOTADB, ERR_STORAGE, "The file is not a database; restore it from a backup."},
    {SQLITE_BUSY, ERR_STORAGE, "The database is in use by another program."},
    {SQLITE_READONLY, ERR_STORAGE, "The database may not be written; check its permissions."},
    {SQLITE_PERM, ERR_STORAGE, "The database may not be opened; check its permissions."},
    {SQLITE_CANTOPEN, ERR_STORAGE, "The database cannot be opened; check its directory."},
};

static int translate(int rc, struct err *e)
{
    for (size_t i = 0; i < sizeof sql_errors / sizeof sql_errors[0]; i++) {
        if (sql_errors[i].rc == rc || sql_errors[i].rc == (rc & 0xff))
            return err_set(e, sql_errors[i].code, NULL, "%s", sql_errors[i].msg);
    }
    return err_set(e, ERR_STORAGE, NULL, "The database failed; the daemon's log has the details.");
}

/* Puts the path into the message, to show which disk is full. */
static void name_full_disk(const struct storage *st, int rc, struct err *e)
{
    if ((rc & 0xff) == SQLITE_FULL)
        err_set(e, ERR_STORAGE, NULL,
                "The disk that holds the database (%s) is full; free some space and try again.",
                st->path);
}

int st_err_from_sqlite(struct storage *st, int rc, const char *what, struct err *e)
{
    int ext = sqlite3_extended_errcode(st->db);
    if ((ext & 0xff) != (rc & 0xff))
        ext = rc;
    struct err local;
    translate(ext, &local);
    name_full_disk(st, ext, &local);
    if ((ext & 0xff) == SQLITE_FULL || ext == SQLITE_IOERR_WRITE) /* also if a quota is used up */
        st->disk_full = true;
    LOG_AT(st->log, local.code == ERR_CONFLICT ? LOG_LVL_DEBUG : LOG_LVL_ERROR, "db.failed",
           LF_STR("statement", what), LF_INT("sqlite", ext), LF_STR("why", sqlite3_errmsg(st->db)),
           LF_INT("errno", sqlite3_system_errno(st->db)));
    /* A full disk or an I/O error may end the whole transaction. Then all writes of the turn are
     * lost, and no further write may join it. */
    if (st->in_turn && !st->turn_doomed && sqlite3_get_autocommit(st->db)) {
        st->turn_doomed = true;
        st->doom = local;
    }
    if (e)
        *e = local;
    return -1;
}

int st_exec(struct storage *st, const char *sql, const char *what, struct err *e)
{
    int rc = sqlite3_exec(st->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : st_err_from_sqlite(st, rc, what, e);
}

const char *st_sql_text(int rc)
{
    return sqlite3_errstr(rc);
}

const char *st_sql_error(const struct storage *st)
{
    return sqlite3_errmsg(st->db);
}

int64_t st_sql_changes(const struct storage *st)
{
    return sqlite3_total_changes64(st->db);
}

bool st_sql_in_transaction(const struct storage *st)
{
    return !sqlite3_get_autocommit(st->db);
}

/* --- connections ------------------------------------------------------------------------------ */

/* The checkpointer, or a `sqlite3` shell that somebody left open, holds locks for moments. */
#define BUSY_MS      5000
#define PAGE_BYTES   INT64_C(4096) /* the default of SQLite */
#define COPIED_PAGES 2048          /* pages of each step of a copy with progress */

int st_sql_open(const char *path, bool write, bool sync, struct sqlite3 **db)
{
    /* SQLite's memory statistics are not needed, and counting takes a lock for each allocation. The
     * call has an effect only before SQLite has started. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    int flags = (write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(path, db, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(*db, BUSY_MS);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(*db, sync ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = OFF",
                          NULL, NULL, NULL);
    return rc;
}

void st_sql_interrupt(struct sqlite3 *db)
{
    sqlite3_interrupt(db);
}

void st_sql_close(struct sqlite3 *db)
{
    sqlite3_close(db);
}

static int on_commit(void *ctx, sqlite3 *db, const char *schema, int frames)
{
    struct storage *st = ctx;
    (void)db;
    (void)schema;
    st->on_frames(st, frames);
    return SQLITE_OK;
}

/* --- which rows change ------------------------------------------------------------------------ */

static void tell(struct storage *st, int64_t id)
{
    if (st->job_changed)
        st->job_changed(st->job_changed_ctx, id);
}

void st_rows_undone(struct storage *st)
{
    st->places_changed++;
    tell(st, ST_ANY_JOB);
}

/* The tables whose rows are cached or displayed. They have few rows, and these change seldom.
 * above_jobs: displayed jobs have names from the table. counted: only a change of the number of
 * rows counts. */
static const struct {
    const char *table;
    bool above_jobs, counted;
} watched[] = {
    {"experiment", true, false}, {"workspace", true, false},      {"resource_group", true, false},
    {"cluster", false, false},   {"pool", false, false},          {"storage_account", false, false},
    {"share", false, false},     {"batch_account", false, false}, {"batch_pool", false, false},
    {"batch_job", false, false}, {"node", false, true},
};

/* SQLite calls this for each changed row, including rows changed by actions of foreign keys. It is
 * not called for a row that REPLACE replaces, nor when all rows are deleted at once; no statement
 * does this to these tables. */
static void on_row(void *ctx, int op, const char *schema, const char *table, sqlite3_int64 id)
{
    struct storage *st = ctx;
    (void)schema;
    if (strcmp(table, "job") == 0)
        tell(st, id);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
        if (strcmp(table, watched[i].table) != 0 || (watched[i].counted && op == SQLITE_UPDATE))
            continue;
        st->places_changed++;
        if (watched[i].above_jobs && op != SQLITE_INSERT)
            tell(st, ST_ANY_JOB);
    }
}

static void on_rollback(void *ctx)
{
    st_rows_undone(ctx);
}

void st_sql_watch(struct storage *st, void (*on_frames)(struct storage *st, int frames))
{
    st->on_frames = on_frames;
    sqlite3_wal_hook(st->db, on_commit, st);
    sqlite3_update_hook(st->db, on_row, st);
    sqlite3_rollback_hook(st->db, on_rollback, st);
}

void st_watch_jobs(struct storage *st, st_job_changed_fn fn, void *ctx)
{
    st->job_changed = fn;
    st->job_changed_ctx = ctx;
}

/* --- functions ------------------------------------------------------------------------------- */

static void wall_us(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    (void)n, (void)values;
    sqlite3_result_int64(ctx, loop_wall_us(sqlite3_user_data(ctx)));
}

int st_sql_clock(struct storage *st, const char *name, struct loop *loop)
{
    return sqlite3_create_function(st->db, name, 0, SQLITE_UTF8, loop, wall_us, NULL, NULL);
}

static void is_off(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    const bool *flag = sqlite3_user_data(ctx);
    (void)n, (void)values;
    sqlite3_result_int(ctx, !*flag);
}

int st_sql_is_off(struct storage *st, const char *name, const bool *flag)
{
    return sqlite3_create_function(st->db, name, 0, SQLITE_UTF8, (void *)(uintptr_t)flag, is_off,
                                   NULL, NULL);
}

/* --- checkpoints and copies ------------------------------------------------------------------- */

int st_sql_checkpoint(struct sqlite3 *db, bool truncate, int *log, int *done)
{
    int how = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    return sqlite3_wal_checkpoint_v2(db, NULL, how, log, done);
}

int st_sql_cut_wal(struct sqlite3 *db)
{
    sqlite3_busy_timeout(db, 0);
    int rc = st_sql_checkpoint(db, true, NULL, NULL);
    sqlite3_busy_timeout(db, BUSY_MS);
    return rc;
}

static int on_steps(void *ctx)
{
    const struct storage *st = ctx;
    st->told->tell(st->told->ctx, st->doing);
    return 0;
}

void st_sql_say(struct storage *st, const char *doing)
{
    if (!st->told)
        return;
    st->doing = doing;
    sqlite3_progress_handler(st->db, TELL_STEPS, doing ? on_steps : NULL, st);
    if (!doing)
        st->told->tell(st->told->ctx, NULL);
}

bool st_sql_is_busy(int rc)
{
    return (rc & 0xff) == SQLITE_BUSY;
}

/* Copies all pieces at once, one after the other: `from` is in a transaction, so writes of others
 * do not make the copy begin anew. */
static int copy_steps(sqlite3_backup *b, const struct st_copying *told)
{
    int rc;
    while ((rc = sqlite3_backup_step(b, COPIED_PAGES)) == SQLITE_OK || rc == SQLITE_BUSY ||
           rc == SQLITE_LOCKED) {
        int64_t all = sqlite3_backup_pagecount(b);
        if (rc != SQLITE_OK)
            sqlite3_sleep(10);
        else if (told)
            told->tell(told->ctx, (all - sqlite3_backup_remaining(b)) * PAGE_BYTES,
                       all * PAGE_BYTES);
    }
    return rc;
}

static int copy_pages(struct sqlite3 *from, struct sqlite3 *to, const struct st_copying *told)
{
    int end,
        rc = sqlite3_exec(from, "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    if (!b)
        return sqlite3_errcode(to);
    rc = copy_steps(b, told);
    end = sqlite3_backup_finish(b);
    if (rc != SQLITE_DONE || end != SQLITE_OK)
        return rc != SQLITE_DONE ? rc : end;
    /* The copy is one file, without a WAL. */
    return sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

int st_sql_copy(const char *from_path, const char *to_path, const struct st_copying *told,
                struct err *e)
{
    struct sqlite3 *from = NULL, *to = NULL;
    int rc = st_sql_open(from_path, false, true, &from);
    if (rc == SQLITE_OK)
        rc = st_sql_open(to_path, true, true, &to);
    if (rc == SQLITE_OK)
        rc = copy_pages(from, to, told);
    sqlite3_close(to);
    sqlite3_close(from);
    if (rc == SQLITE_OK)
        return 0;
    if (st_sql_is_busy(rc)) /* other daemons let readers in */
        return err_set(e, ERR_STORAGE, NULL,
                       "%s cannot be copied: an ephemeral daemon keeps it to itself as long as it "
                       "runs; with --testing, `batchaid dump` prints its state",
                       from_path);
    return err_set(e, ERR_STORAGE, NULL, "cannot copy %s to %s: %s", from_path, to_path,
                   sqlite3_errstr(rc));
}

int st_sql_copy_begin(struct storage *st, struct sqlite3 **db, struct sqlite3_backup **copying)
{
    int rc = st_sql_open(":memory:", true, false, db);
    *copying = rc == SQLITE_OK ? sqlite3_backup_init(*db, "main", st->db, "main") : NULL;
    return rc != SQLITE_OK || *copying ? rc : sqlite3_errcode(*db);
}

int st_sql_copy_some(struct sqlite3_backup *copying, int pages)
{
    int rc = sqlite3_backup_step(copying, pages);
    return rc == SQLITE_DONE ? -1 : rc;
}

int st_sql_copy_end(struct sqlite3_backup *copying)
{
    return sqlite3_backup_finish(copying);
}

void st_sql_close_copy(struct sqlite3 *db, struct sqlite3_stmt **stmts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sqlite3_finalize(stmts[i]);
    sqlite3_close(db);
}

int64_t st_sql_term(const char *path)
{
    struct sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    int64_t term = 0;
    if (st_sql_open(path, false, true, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "SELECT term FROM epoch", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        term = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return term;
}

/* Changes a copy of a database; does nothing if the copy is so old that it lacks the column. There
 * is no journal on disk: after a crash the copy is made again, and an old journal would be applied
 * to the new copy. */
static int change_copy(const char *path, const char *table, const char *column, const char *sql,
                       struct err *e)
{
    struct sqlite3 *db = NULL;
    int rc = st_sql_open(path, true, true, &db);
    if (rc == SQLITE_OK && sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL,
                                                         NULL, NULL, NULL) == SQLITE_OK) {
        rc = sqlite3_exec(db, "PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
        if (rc == SQLITE_OK)
            rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    sqlite3_close(db);
    return rc == SQLITE_OK
               ? 0
               : err_set(e, ERR_STORAGE, NULL, "cannot write to %s: %s", path, sqlite3_errstr(rc));
}

int st_sql_raise_term(const char *path, int64_t term, struct err *e)
{
    char sql[100];
    snprintf(sql, sizeof sql, "UPDATE epoch SET term = max(term, %lld)", (long long)term);
    return change_copy(path, "epoch", "term", sql, e);
}

int st_sql_end_sessions(const char *path, int64_t now_us, struct err *e)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "INSERT OR REPLACE INTO ended_session (principal, id, begun_us, until_us) "
             "VALUES ('*', '*', %lld, %lld)",
             (long long)now_us, (long long)INT64_MAX);
    return change_copy(path, "ended_session", "until_us", sql, e);
}

int st_sql_forget_changes(const char *path, struct err *e)
{
    if (change_copy(path, "kept_put", "id", "DELETE FROM kept_put", e) < 0)
        return -1;
    return change_copy(path, "item_change", "id", "DELETE FROM item_change", e);
}

/* --- statements for one use --- */

int st_query(struct storage *st, const char *sql, const char *what, st_query_fn fn, void *ctx,
             struct err *e)
{
    sqlite3_stmt *s = NULL;
    int n = 0, rc = sqlite3_prepare_v2(st->db, sql, -1, &s, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const void *cell = sqlite3_column_blob(s, 0);
        fn(ctx, cell, (size_t)sqlite3_column_bytes(s, 0));
        n++;
        rc = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? n : st_err_from_sqlite(st, rc, what, e);
}

static void take_int(void *ctx, const void *cell, size_t n)
{
    char text[24] = "";
    memcpy(text, cell ? cell : "", n < sizeof text - 1 ? n : sizeof text - 1);
    *(int64_t *)ctx = strtoll(text, NULL, 10);
}

int st_query_int(struct storage *st, const char *sql, const char *what, int64_t *v, struct err *e)
{
    return st_query(st, sql, what, take_int, v, e) < 0 ? -1 : 0;
}

/* --- prepared statements ---------------------------------------------------------------------- */

static const struct {
    const char *name, *sql;
} stmts[ST_COUNT] = {
#include "statement_texts.inc"
};

/* A statement is prepared at its first use: a start needs few statements, and preparing all would
 * double its time. */
int st_prepare(struct storage *st, enum stmt_id id)
{
    assert(!st->finalized);
    if (st->stmts[id])
        return SQLITE_OK;
    struct strbuf sql = STRBUF_INIT;
    st_sql_expand(&sql, stmts[id].sql, NULL);
    int rc = sqlite3_prepare_v3(st->db, sql.s, -1, SQLITE_PREPARE_PERSISTENT, &st->stmts[id], NULL);
    strbuf_free(&sql);
    return rc;
}

int st_prepare_filtered(struct storage *st, enum stmt_id id, const char *filter,
                        struct sqlite3_stmt **out)
{
    struct strbuf sql = STRBUF_INIT;
    assert(!st->finalized);
    st_sql_expand(&sql, stmts[id].sql, filter);
    int rc = sqlite3_prepare_v2(st->db, sql.s, -1, out, NULL);
    strbuf_free(&sql);
    return rc;
}

const char *st_stmt_name(enum stmt_id id)
{
    return stmts[id].name;
}

const char *st_stmt_sql(enum stmt_id id)
{
    return stmts[id].sql;
}

int st_prepare_control(struct storage *st, struct err *e)
{
    for (enum stmt_id i = 0; i <= ST_CONTROL_LAST; i++) {
        int rc = st_prepare(st, i);
        if (rc != SQLITE_OK)
            return st_err_from_sqlite(st, rc, stmts[i].name, e);
    }
    return 0;
}

void st_finalize_all(struct storage *st)
{
    assert(st->open_queries == 0);
    for (int i = 0; i < ST_COUNT; i++) {
        sqlite3_finalize(st->stmts[i]);
        st->stmts[i] = NULL;
    }
    st->finalized = true;
}

int st_control(struct storage *st, enum stmt_id id, const char *what, struct err *e)
{
    assert(id <= ST_CONTROL_LAST);
    int rc = sqlite3_step(st->stmts[id]);
    int failed = rc == SQLITE_DONE ? 0 : st_err_from_sqlite(st, rc, what, e);
    sqlite3_reset(st->stmts[id]);
    return failed;
}
