/* SPDX-License-Identifier: MIT
 *
 * The one file that calls SQLite (make check-source): connections, prepared statements and the
 * small verbs that bind, step and read them, and the boundary where SQLite's errors become ours.
 * Its extended code and its own text go to the log, never into a message that a client may see. See
 * storage_priv.h.
 */
#include <assert.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "storage/storage_priv.h"

/* --- errors ----------------------------------------------------------------------------------- */

static const struct {
    int rc; /* an extended code, or a primary one for all its extended codes */
    enum err_code code;
    const char *msg;
} sql_errors[] = {
    {SQLITE_CONSTRAINT_UNIQUE, ERR_CONFLICT, "There already is one of this name."},
    {SQLITE_CONSTRAINT_PRIMARYKEY, ERR_CONFLICT, "There already is one of this name."},
    {SQLITE_CONSTRAINT_FOREIGNKEY, ERR_CONFLICT,
     "It still holds something, or what it belongs to is gone."},
    {SQLITE_CONSTRAINT_TRIGGER, ERR_CONFLICT, "It still holds something."},
    {SQLITE_FULL, ERR_STORAGE,
     "The disk that holds the database is full; free some space and try again."},
    {SQLITE_IOERR, ERR_STORAGE,
     "The database could not be read or written; look at the disk and the daemon's log."},
    {SQLITE_CORRUPT, ERR_STORAGE, "The database is damaged; restore it from a backup."},
    {SQLITE_NOTADB, ERR_STORAGE, "The file is not a database; restore it from a backup."},
    {SQLITE_BUSY, ERR_STORAGE, "The database is in use by another program."},
    {SQLITE_READONLY, ERR_STORAGE, "The database may not be written; look at its permissions."},
    {SQLITE_PERM, ERR_STORAGE, "The database may not be opened; look at its permissions."},
    {SQLITE_CANTOPEN, ERR_STORAGE, "The database cannot be opened; look at its directory."},
};

static int translate(int rc, struct err *e)
{
    for (size_t i = 0; i < sizeof sql_errors / sizeof sql_errors[0]; i++) {
        if (sql_errors[i].rc == rc || sql_errors[i].rc == (rc & 0xff))
            return err_set(e, sql_errors[i].code, NULL, "%s", sql_errors[i].msg);
    }
    return err_set(e, ERR_STORAGE, NULL, "The database failed; the daemon's log says how.");
}

int st_err_from_sqlite(struct storage *st, int rc, const char *what, struct err *e)
{
    int ext = sqlite3_extended_errcode(st->db);
    if ((ext & 0xff) != (rc & 0xff))
        ext = rc;
    struct err local;
    translate(ext, &local);
    enum log_level level = local.code == ERR_CONFLICT ? LOG_LVL_DEBUG : LOG_LVL_ERROR;
    LOG_AT(st->log, level, "db.failed", LF_STR("what", what), LF_INT("sqlite", ext),
           LF_STR("error", sqlite3_errmsg(st->db)), LF_INT("errno", sqlite3_system_errno(st->db)));
    /* A full disk or an I/O error may end the whole transaction. Then nothing of the turn is left,
     * and nothing more may be added to it. */
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

bool st_sql_in_transaction(const struct storage *st)
{
    return !sqlite3_get_autocommit(st->db);
}

/* --- connections ------------------------------------------------------------------------------ */

int st_sql_open(const char *path, bool write, struct sqlite3 **db)
{
    /* Nobody uses SQLite's memory statistics, and counting takes a lock for each allocation. The
     * call has an effect only before SQLite has started. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    int flags = (write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(path, db, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(*db, "PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL", NULL,
                          NULL, NULL);
    return rc;
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
    st_checkpoint_frames(st, frames);
    return SQLITE_OK;
}

void st_sql_watch(struct storage *st)
{
    sqlite3_wal_hook(st->db, on_commit, st);
}

/* --- who watches the jobs --------------------------------------------------------------------- */

static void tell(struct storage *st, int64_t id)
{
    if (st->job_changed)
        st->job_changed(st->job_changed_ctx, id);
}

void st_jobs_changed(struct storage *st)
{
    tell(st, ST_ANY_JOB);
}

/* SQLite calls it for each row, including rows changed by actions of foreign keys. Not for a row
 * that REPLACE replaces, nor when all rows go at once; no statement does that to jobs. */
static void on_row(void *ctx, int op, const char *schema, const char *table, sqlite3_int64 id)
{
    static const char *const above[] = {"experiment", "workspace", "resource_group"};
    struct storage *st = ctx;
    (void)schema;
    if (strcmp(table, "job") == 0)
        tell(st, id);
    for (size_t i = 0; op != SQLITE_INSERT && i < sizeof above / sizeof above[0]; i++)
        if (strcmp(table, above[i]) == 0)
            tell(st, ST_ANY_JOB);
}

static void on_rollback(void *ctx)
{
    tell(ctx, ST_ANY_JOB);
}

void st_watch_jobs(struct storage *st, st_job_changed_fn fn, void *ctx)
{
    st->job_changed = fn;
    st->job_changed_ctx = ctx;
    sqlite3_update_hook(st->db, on_row, st);
    sqlite3_rollback_hook(st->db, on_rollback, st);
}

int st_sql_checkpoint(struct sqlite3 *db, bool truncate, int *log, int *done)
{
    int how = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    return sqlite3_wal_checkpoint_v2(db, NULL, how, log, done);
}

bool st_sql_is_busy(int rc)
{
    return (rc & 0xff) == SQLITE_BUSY;
}

static int copy_pages(struct sqlite3 *from, struct sqlite3 *to)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    if (!b)
        return sqlite3_errcode(to);
    int rc, end;
    while ((rc = sqlite3_backup_step(b, -1)) == SQLITE_BUSY || rc == SQLITE_LOCKED)
        sqlite3_sleep(10);
    end = sqlite3_backup_finish(b);
    if (rc != SQLITE_DONE || end != SQLITE_OK)
        return rc != SQLITE_DONE ? rc : end;
    /* The copy is one file, without a WAL. */
    return sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

int st_sql_copy(const char *from_path, const char *to_path, struct err *e)
{
    struct sqlite3 *from = NULL, *to = NULL;
    int rc = st_sql_open(from_path, false, &from);
    if (rc == SQLITE_OK)
        rc = st_sql_open(to_path, true, &to);
    if (rc == SQLITE_OK)
        rc = copy_pages(from, to);
    sqlite3_close(to);
    sqlite3_close(from);
    if (rc == SQLITE_OK)
        return 0;
    return err_set(e, ERR_STORAGE, NULL, "cannot copy %s to %s: %s", from_path, to_path,
                   sqlite3_errstr(rc));
}

/* --- statements that are used once ------------------------------------------------------------ */

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

#define ST_TEXT(id, text) text,
static const char *const stmt_sql[] = {STATEMENTS(ST_TEXT)};
#undef ST_TEXT
#define ST_NAME(id, text) #id,
static const char *const stmt_names[] = {STATEMENTS(ST_NAME)};
#undef ST_NAME

/* A statement is prepared at its first use: a start needs few of them, and preparing all would
 * double its time. */
static int prepare(struct storage *st, enum stmt_id id)
{
    assert(!st->finalized);
    if (st->stmts[id])
        return SQLITE_OK;
    struct strbuf sql = STRBUF_INIT;
    st_sql_expand(&sql, stmt_sql[id]);
    int rc = sqlite3_prepare_v3(st->db, sql.s, -1, SQLITE_PREPARE_PERSISTENT, &st->stmts[id], NULL);
    strbuf_free(&sql);
    return rc;
}

int st_prepare_control(struct storage *st, struct err *e)
{
    for (enum stmt_id i = 0; i <= ST_CONTROL_LAST; i++) {
        int rc = prepare(st, i);
        if (rc != SQLITE_OK)
            return st_err_from_sqlite(st, rc, stmt_names[i], e);
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

void q_read(struct q *q, struct storage *st, enum stmt_id id)
{
    st_turn_read(st);
    *q = (struct q){.st = st, .id = id, .rc = prepare(st, id)};
    q->s = st->stmts[id];
    assert(!sqlite3_stmt_busy(q->s));
    st->open_queries++;
    st->counters.statements++;
}

int q_write(struct q *q, struct storage *st, enum stmt_id id, struct err *e)
{
    if (st_turn_begin(st, e) < 0)
        return -1;
    q_read(q, st, id);
    return 0;
}

void q_end(struct q *q)
{
    assert(q->st->open_queries > 0);
    sqlite3_reset(q->s);
    q->st->open_queries--;
}

static void bound(struct q *q, int rc)
{
    /* Only a wrong parameter number or a string over SQLite's limit (1 GB) gets here, or a
     * statement that could not be prepared: its step says so. */
    assert(rc == SQLITE_OK || q->rc != SQLITE_OK);
    (void)rc;
    q->bound++;
}

void q_int(struct q *q, int64_t v)
{
    bound(q, sqlite3_bind_int64(q->s, q->bound + 1, v));
}

void q_text(struct q *q, const char *s)
{
    bound(q, sqlite3_bind_text(q->s, q->bound + 1, s, -1, SQLITE_STATIC));
}

void q_sealed(struct q *q, const char *secret)
{
    unsigned char *blob;
    size_t n;
    st_seal(q->st, secret, &blob, &n);
    bound(q, sqlite3_bind_blob64(q->s, q->bound + 1, blob, n, free));
}

void q_null(struct q *q)
{
    bound(q, sqlite3_bind_null(q->s, q->bound + 1));
}

void q_id(struct q *q, int64_t id)
{
    if (id == 0)
        q_null(q);
    else
        q_int(q, id);
}

/* --- whole rows ------------------------------------------------------------------------------ */

static void bind_column(struct q *q, const struct st_column *c, const char *at, const char *secrets)
{
    const char *value = at + c->at;
    switch (c->kind) {
    case COLUMN_INT64:
        q_int(q, *(const int64_t *)value);
        return;
    case COLUMN_INT:
        q_int(q, *(const int *)value);
        return;
    case COLUMN_BOOL:
        q_int(q, *(const bool *)value);
        return;
    case COLUMN_TEXT:
        q_text(q, *(const char *const *)value);
        return;
    case COLUMN_ID:
        q_id(q, *(const int64_t *)value);
        return;
    case COLUMN_MAYBE:
        if (*(const bool *)(at + c->has))
            q_int(q, *(const int *)value);
        else
            q_null(q);
        return;
    case COLUMN_SECRET:
        q_sealed(q, secrets);
        return;
    }
}

void q_row(struct q *q, const struct st_row *row, const void *from, const char *secrets)
{
    for (size_t i = 0; i < row->n; i++)
        if (!row->columns[i].read_only)
            bind_column(q, &row->columns[i], from, secrets);
}

int64_t c_int(struct q *q)
{
    assert(q->col < sqlite3_column_count(q->s));
    return sqlite3_column_int64(q->s, q->col++);
}

const void *c_blob(struct q *q, size_t *n)
{
    assert(q->col < sqlite3_column_count(q->s));
    const void *blob = sqlite3_column_blob(q->s, q->col);
    *n = (size_t)sqlite3_column_bytes(q->s, q->col);
    q->col++;
    return blob;
}

bool c_is_null(const struct q *q)
{
    assert(q->col < sqlite3_column_count(q->s));
    return sqlite3_column_type(q->s, q->col) == SQLITE_NULL;
}

const char *c_text(struct q *q, struct arena *a)
{
    assert(q->col < sqlite3_column_count(q->s));
    const char *s = (const char *)sqlite3_column_text(q->s, q->col);
    size_t n = (size_t)sqlite3_column_bytes(q->s, q->col);
    q->col++;
    return s ? arena_strndup(a, s, n) : NULL;
}

static void read_column(struct q *q, const struct st_column *c, struct arena *a, char *to)
{
    char *value = to + c->at;
    switch (c->kind) {
    case COLUMN_INT64:
    case COLUMN_ID:
        *(int64_t *)value = c_int(q);
        return;
    case COLUMN_MAYBE:
        *(bool *)(to + c->has) = !c_is_null(q);
        *(int *)value = (int)c_int(q);
        return;
    case COLUMN_INT:
        *(int *)value = (int)c_int(q);
        return;
    case COLUMN_BOOL:
        *(bool *)value = c_int(q) != 0;
        return;
    case COLUMN_TEXT:
        *(const char **)value = c_text(q, a);
        return;
    case COLUMN_SECRET: /* is not selected */
        return;
    }
}

static void read_row(struct q *q, const struct st_row *row, struct arena *a, void *to)
{
    memset(to, 0, row->size);
    for (size_t i = 0; i < row->n; i++)
        read_column(q, &row->columns[i], a, to);
    assert(q->col == sqlite3_column_count(q->s)); /* no column left unread */
}

/* --- steps ----------------------------------------------------------------------------------- */

int q_step(struct q *q, struct err *e)
{
    if (q->rc != SQLITE_OK) {
        q_end(q);
        return st_err_from_sqlite(q->st, q->rc, stmt_names[q->id], e);
    }
    assert(q->bound == sqlite3_bind_parameter_count(q->s));
    assert(q->st->in_turn || sqlite3_stmt_readonly(q->s)); /* no write outside the turn */
    q->col = 0;
    int rc = sqlite3_step(q->s);
    if (rc == SQLITE_ROW)
        return 1;
    int failed = rc == SQLITE_DONE ? 0 : st_err_from_sqlite(q->st, rc, stmt_names[q->id], e);
    q_end(q);
    return failed;
}

int64_t st_sql_changes(const struct storage *st)
{
    return sqlite3_total_changes64(st->db);
}

int q_run(struct q *q, struct err *e)
{
    int rc = q_step(q, e);
    assert(rc <= 0); /* a statement that yields rows is read, not run */
    return rc;
}

int q_insert(struct q *q, int64_t *id, struct err *e)
{
    if (q_run(q, e) < 0)
        return -1;
    if (id)
        *id = sqlite3_last_insert_rowid(q->st->db);
    return 0;
}

int q_change(struct q *q, const char *noun, int64_t id, struct err *e)
{
    if (q_run(q, e) < 0)
        return -1;
    assert(sqlite3_changes(q->st->db) <= 1); /* it names one row, by its key */
    if (sqlite3_changes(q->st->db) == 1)
        return 0;
    return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "There is no %s with the id %lld.", noun,
                   (long long)id);
}

int q_one_int(struct q *q, int64_t *v, struct err *e)
{
    int rc = q_step(q, e);
    if (rc != 1)
        return rc;
    *v = c_int(q);
    q_end(q);
    return 1;
}

int q_one(struct q *q, struct arena *a, const struct st_row *row, void *out, struct err *e)
{
    int rc = q_step(q, e);
    if (rc != 1)
        return rc;
    read_row(q, row, a, out);
    q_end(q);
    return 1;
}

/* Makes room for one more item in an arena array; the old array stays in the arena until that is
 * freed. */
static void *grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 16;
    void *bigger = arena_alloc(a, *cap * size);
    if (n > 0)
        memcpy(bigger, items, n * size);
    return bigger;
}

int q_rows(struct q *q, struct arena *a, const struct st_row *row, void **rows, size_t *n,
           struct err *e)
{
    char *items = NULL;
    size_t count = 0, cap = 0;
    int rc;
    while ((rc = q_step(q, e)) == 1) {
        items = grow(a, items, count, &cap, row->size);
        read_row(q, row, a, items + count * row->size);
        count++;
    }
    if (rc < 0)
        return -1;
    *rows = items;
    *n = count;
    return 0;
}

int q_ids(struct q *q, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    void *rows;
    if (q_rows(q, a, &id_row, &rows, n, e) < 0)
        return -1;
    *ids = rows;
    return 0;
}

int q_secret(struct q *q, struct arena *a, const char **plain, struct err *e)
{
    *plain = NULL;
    int rc = q_step(q, e);
    if (rc != 1)
        return rc;
    size_t len;
    const void *blob = c_blob(q, &len);
    rc = st_unseal(q->st, a, blob, len, plain, e) < 0 ? -1 : 1;
    q_end(q);
    return rc;
}

int q_changed(const struct storage *st)
{
    return sqlite3_changes(st->db);
}

int q_moved(struct storage *st, enum stmt_id now, const char *noun, const struct enum_name *names,
            int64_t id, int from, int to, struct err *e)
{
    assert(sqlite3_changes(st->db) <= 1);
    if (sqlite3_changes(st->db) == 1)
        return 0;
    struct q q;
    q_read(&q, st, now);
    q_int(&q, id);
    int64_t is = 0;
    int rc = q_one_int(&q, &is, e);
    if (rc < 0)
        return -1;
    return err_set(e, ERR_CONFLICT, NULL, "%s %lld cannot go from %s to %s: it is %s.", noun,
                   (long long)id, enum_to_name(names, from), enum_to_name(names, to),
                   rc == 0 ? "gone" : enum_to_name(names, (int)is));
}
