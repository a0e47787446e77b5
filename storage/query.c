/* SPDX-License-Identifier: MIT
 *
 * A use of a statement: functions that bind, step and read. See storage_priv.h.
 */
#include <assert.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "storage/storage_priv.h"

void q_read(struct q *q, struct storage *st, enum stmt_id id)
{
    st_turn_read(st);
    *q = (struct q){.st = st, .id = id, .rc = st_prepare(st, id)};
    q->s = st->stmts[id];
    assert(!sqlite3_stmt_busy(q->s));
    st->open_queries++;
    st->counters.statements++;
}

int q_write(struct q *q, struct storage *st, enum stmt_id id, struct err *e)
{
    if (st_turn_begin(st, e) < 0 || (st->changes_due && st->changes_begin(st, e) < 0))
        return -1;
    q_read(q, st, id);
    return 0;
}

void q_end(struct q *q)
{
    assert(q->st->open_queries > 0);
    if (q->own)
        sqlite3_finalize(q->own);
    else
        sqlite3_reset(q->s);
    q->st->open_queries--;
}

static void bound(struct q *q, int rc)
{
    /* This happens only for a wrong parameter number, a string over SQLite's limit (1 GB), or a
     * statement that could not be prepared: q_step() reports the latter. */
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

void q_bytes(struct q *q, const void *bytes, size_t n)
{
    bound(q, sqlite3_bind_blob64(q->s, q->bound + 1, n > 0 ? bytes : "", n, SQLITE_STATIC));
}

void q_null(struct q *q)
{
    bound(q, sqlite3_bind_null(q->s, q->bound + 1));
}

static int bind_literal(sqlite3_stmt *s, int at, const struct filter_literal *l)
{
    switch (l->kind) {
    case FILTER_NULL:
        return sqlite3_bind_null(s, at);
    case FILTER_TEXT:
        return sqlite3_bind_text(s, at, l->text, -1, SQLITE_STATIC);
    case FILTER_NUMBER:
        return sqlite3_bind_double(s, at, l->number);
    case FILTER_BOOL:
        return sqlite3_bind_int(s, at, l->truth);
    case FILTER_TIME:
        return sqlite3_bind_int64(s, at, l->us);
    }
    return SQLITE_MISUSE;
}

void q_literal(struct q *q, int at, const struct filter_literal *l)
{
    int rc = bind_literal(q->s, at, l);
    assert(rc == SQLITE_OK || q->rc != SQLITE_OK);
    (void)rc;
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
    case COLUMN_BLOB:
        q_bytes(q, *(const void *const *)value, *(const size_t *)(at + c->has));
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

/* Reads the next column, and adds a '\0' behind it. */
static const void *copy_blob(struct q *q, struct arena *a, size_t *n)
{
    const void *bytes = c_blob(q, n);
    char *copy = arena_alloc(a, *n + 1);
    memcpy(copy, *n > 0 ? bytes : "", *n);
    copy[*n] = '\0';
    return copy;
}

static bool fits(const struct st_domain *d, int64_t v)
{
    return v >= d->least && v <= d->most && (!d->holes || !(d->holes >> v & 1));
}

/* False: the value is outside of the column's domain. */
static bool read_column(struct q *q, const struct st_column *c, struct arena *a, char *to)
{
    char *value = to + c->at;
    int64_t v;
    switch (c->kind) {
    case COLUMN_INT64:
    case COLUMN_ID:
        *(int64_t *)value = v = c_int(q);
        return fits(c->domain, v);
    case COLUMN_MAYBE:
        *(bool *)(to + c->has) = !c_is_null(q);
        *(int *)value = (int)(v = c_int(q));
        return fits(c->domain, v);
    case COLUMN_INT:
        *(int *)value = (int)(v = c_int(q));
        return fits(c->domain, v);
    case COLUMN_BOOL:
        *(bool *)value = c_int(q) != 0;
        return true;
    case COLUMN_TEXT:
        *(const char **)value = c_text(q, a);
        return true;
    case COLUMN_BLOB:
        *(const void **)value = copy_blob(q, a, (size_t *)(to + c->has));
        return true;
    case COLUMN_SECRET: /* is not selected */
        return true;
    }
    return false;
}

/* Names the column that was read last, and the row by its first column: every list begins with the
 * row's key. */
static int refuse_value(struct q *q, const struct st_row *row, const struct st_column *c,
                        struct err *e)
{
    const struct st_column_name name = st_column_name(row, c),
                                first = st_column_name(row, &row->columns[0]);
    int64_t v = sqlite3_column_int64(q->s, q->col - 1);
    const char *key = (const char *)sqlite3_column_text(q->s, 0);
    LOG_ERROR(q->st->log, "db.bad_value", LF_STR("table", name.table),
              LF_STR("column", name.column), LF_INT("value", v), LF_STR("key_table", first.table),
              LF_STR("key", key));
    err_set(e, ERR_STORAGE, NULL,
            "The database is damaged: %s.%s has the invalid value %lld in the row of %s %s; "
            "restore it from a backup.",
            name.table, name.column, (long long)v, first.table, key ? key : "?");
    q_end(q);
    return -1;
}

/* Reads a row into its struct. A failure ends the statement. */
static int read_row(struct q *q, const struct st_row *row, struct arena *a, void *to, struct err *e)
{
    memset(to, 0, row->size);
    for (size_t i = 0; i < row->n; i++)
        if (!read_column(q, &row->columns[i], a, to))
            return refuse_value(q, row, &row->columns[i], e);
    assert(q->col == sqlite3_column_count(q->s)); /* no column left unread */
    return 0;
}

/* --- steps ----------------------------------------------------------------------------------- */

int q_step(struct q *q, struct err *e)
{
    if (q->rc != SQLITE_OK) {
        q_end(q);
        return st_err_from_sqlite(q->st, q->rc, st_stmt_name(q->id), e);
    }
    assert(q->own || q->bound == sqlite3_bind_parameter_count(q->s));
    assert(q->st->in_turn || sqlite3_stmt_readonly(q->s)); /* no write outside the turn */
    q->col = 0;
    int rc = sqlite3_step(q->s);
    if (rc == SQLITE_ROW)
        return 1;
    int failed = rc == SQLITE_DONE ? 0 : st_err_from_sqlite(q->st, rc, st_stmt_name(q->id), e);
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
    assert(sqlite3_changes(q->st->db) <= 1); /* the statement selects one row by its key */
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
    if (read_row(q, row, a, out, e) < 0)
        return -1;
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
        if (read_row(q, row, a, items + count * row->size, e) < 0)
            return -1;
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

int q_moved(struct storage *st, const struct moving *m, int64_t id, int from, int to, struct err *e)
{
    assert(sqlite3_changes(st->db) <= 1);
    if (sqlite3_changes(st->db) == 1)
        return 0;
    struct q q;
    q_read(&q, st, m->now);
    q_int(&q, id);
    int64_t is = 0;
    int rc = q_one_int(&q, &is, e);
    if (rc < 0)
        return -1;
    return err_set(e, ERR_CONFLICT, NULL, "%s %lld cannot go from %s to %s: it is %s.", m->noun,
                   (long long)id, enum_to_name(m->names, from), enum_to_name(m->names, to),
                   rc == 0 ? "gone" : enum_to_name(m->names, (int)is));
}
