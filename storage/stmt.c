/* SPDX-License-Identifier: MIT
 *
 * Prepared statements: made in a loop, ended in a loop, and the small verbs that bind, step and
 * read them. See storage_priv.h.
 */
#include <assert.h>
#include <string.h>

#include "storage/storage_priv.h"

#define ST_TEXT(id, text) text,
static const char *const stmt_sql[] = {STATEMENTS(ST_TEXT)};
#undef ST_TEXT
#define ST_NAME(id, text) #id,
static const char *const stmt_names[] = {STATEMENTS(ST_NAME)};
#undef ST_NAME

int st_prepare_all(struct storage *st, struct err *e)
{
    for (int i = 0; i < ST_COUNT; i++) {
        int rc = sqlite3_prepare_v3(st->db, stmt_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                    &st->stmts[i], NULL);
        if (rc != SQLITE_OK)
            return st_err_from_sqlite(st, rc, stmt_names[i], e);
    }
    return 0;
}

void st_finalize_all(struct storage *st)
{
    for (int i = 0; i < ST_COUNT; i++) {
        sqlite3_finalize(st->stmts[i]);
        st->stmts[i] = NULL;
    }
}

void q_read(struct q *q, struct storage *st, enum stmt_id id)
{
    *q = (struct q){.st = st, .s = st->stmts[id], .id = id};
    assert(!sqlite3_stmt_busy(q->s));
    st_turn_read(st);
    st->open_queries++;
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
    sqlite3_reset(q->s);
    q->st->open_queries--;
}

static void bound(struct q *q, int rc)
{
    /* Only a wrong parameter number or a string over SQLite's limit (1 GB) gets here. */
    assert(rc == SQLITE_OK);
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

int64_t c_int(struct q *q)
{
    assert(q->col < sqlite3_column_count(q->s));
    return sqlite3_column_int64(q->s, q->col++);
}

bool c_is_null(const struct q *q)
{
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

void c_scope(struct q *q, struct arena *a, enum scope_depth depth, struct scope *out)
{
    out->subscription = c_text(q, a);
    out->group = c_text(q, a);
    out->location = c_text(q, a);
    if (depth >= SCOPE_WORKSPACE)
        out->workspace = c_text(q, a);
    if (depth >= SCOPE_EXPERIMENT)
        out->experiment = c_text(q, a);
}

int q_step(struct q *q, struct err *e)
{
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

int q_one(struct q *q, struct arena *a, row_reader read, void *row, struct err *e)
{
    int rc = q_step(q, e);
    if (rc != 1)
        return rc;
    read(q, a, row);
    assert(q->col == sqlite3_column_count(q->s)); /* no column left unread */
    q_end(q);
    return 1;
}

/* Room for one more in an arena array; what it outgrew stays in the arena until it is freed. */
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

int q_rows(struct q *q, struct arena *a, row_reader read, size_t size, void **rows, size_t *n,
           struct err *e)
{
    char *items = NULL;
    size_t count = 0, cap = 0;
    int rc;
    while ((rc = q_step(q, e)) == 1) {
        items = grow(a, items, count, &cap, size);
        read(q, a, items + count * size);
        assert(q->col == sqlite3_column_count(q->s));
        count++;
    }
    if (rc < 0)
        return -1;
    *rows = items;
    *n = count;
    return 0;
}

static void read_id(struct q *q, struct arena *a, void *row)
{
    (void)a;
    *(int64_t *)row = c_int(q);
}

int q_ids(struct q *q, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    void *rows;
    if (q_rows(q, a, read_id, sizeof **ids, &rows, n, e) < 0)
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
    const void *blob = sqlite3_column_blob(q->s, 0);
    size_t len = (size_t)sqlite3_column_bytes(q->s, 0);
    rc = st_unseal(q->st, a, blob, len, plain, e) < 0 ? -1 : 1;
    q_end(q);
    return rc;
}

int q_moved(struct storage *st, enum stmt_id now, const char *noun, const struct enum_name *names,
            int64_t id, int from, int to, struct err *e)
{
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
