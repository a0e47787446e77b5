/* SPDX-License-Identifier: MIT
 *
 * Rows that were found by their names. Consecutive jobs mostly have the same experiment and
 * cluster, and finding these by all the names in a path takes two joins; consecutive requests for
 * files and blobs mostly have the same account and share. So the rows are cached until a row of
 * their tables changes; then all are dropped, because these tables seldom change. Tasks of Azure
 * Batch look up their job and their pool at each step, by their ids. SQLite's hooks count each
 * change and each rollback (sql.c), so that no writer has to think of the cache: the count is the
 * stamp of the caches.
 */
#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "lib/cache.h"
#include "storage/storage_priv.h"

/* bytes of the texts of one row; copying a longer row is not cheap either */
#define KEPT_BYTES 16384

#define ROWS_MAX 64
#define KEYS_MAX 8

struct known {
    struct arena a; /* holds the row */
    void *row;
};

static void drop_row(void *value)
{
    arena_free(&((struct known *)value)->a);
}

static void wipe_keys(void *value)
{
    sodium_memzero(value, sizeof(struct account_keys));
}

static const struct cache_kind rows = {sizeof(struct known), .max_entries = ROWS_MAX,
                                       .drop = drop_row};
static const struct cache_kind keys = {sizeof(struct account_keys), .max_entries = KEYS_MAX,
                                       .drop = wipe_keys};

void st_known_new(struct cache **known_rows, struct cache **known_keys)
{
    *known_rows = cache_new(&rows);
    *known_keys = cache_new(&keys);
}

void st_known_init(struct storage *st)
{
    st_known_new(&st->known_rows, &st->known_keys);
}

void st_known_free(struct storage *st)
{
    cache_free(st->known_rows);
    cache_free(st->known_keys);
}

/* --- keys of accounts ------------------------------------------------------------------------- */

struct row_owner {
    int64_t kind, id;
};

struct account_keys *st_known_keys(struct storage *st, enum resource_kind kind, int64_t id)
{
    cache_stamp(st->known_keys, st->places_changed);
    return cache_find(st->known_keys, &(struct row_owner){kind, id}, sizeof(struct row_owner));
}

void st_keep_keys(struct storage *st, enum resource_kind kind, int64_t id,
                  const struct account_keys *k)
{
    *(struct account_keys *)cache_add(st->known_keys, &(struct row_owner){kind, id},
                                      sizeof(struct row_owner), 0) = *k;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Makes one key of the statement and the names. */
static const char *key_of(struct arena *a, const struct known_row *what, size_t *n)
{
    const char *const *names = what->names;
    *n = sizeof what->id;
    for (const char *const *s = names; *s; s++)
        *n += strlen(*s) + 1;
    char *out = arena_alloc(a, *n), *p = out + sizeof what->id;
    memcpy(out, &what->id, sizeof what->id);
    for (const char *const *s = names; *s; s++)
        p = stpcpy(p, *s) + 1;
    return out;
}

static const char **text_at(void *row, const struct st_column *c)
{
    return (const char **)((char *)row + c->at);
}

static void copy_row(const struct st_row *row, const void *from, struct arena *a, void *to)
{
    memcpy(to, from, row->size);
    for (size_t i = 0; i < row->n; i++)
        if (row->columns[i].kind == COLUMN_TEXT)
            *text_at(to, &row->columns[i]) = arena_strdup(a, *text_at(to, &row->columns[i]));
}

static size_t text_bytes(const struct st_row *row, void *of)
{
    size_t n = 0;
    for (size_t i = 0; i < row->n; i++) {
        const char *text =
            row->columns[i].kind == COLUMN_TEXT ? *text_at(of, &row->columns[i]) : NULL;
        n += text ? strlen(text) : 0;
    }
    return n;
}

static void keep(struct storage *st, const char *key, size_t n, const struct st_row *row,
                 void *found)
{
    if (text_bytes(row, found) > KEPT_BYTES)
        return;
    struct known *k = cache_add(st->known_rows, key, n, 0);
    arena_init(&k->a);
    k->row = arena_alloc(&k->a, row->size);
    copy_row(row, found, &k->a, k->row);
}

static int ask(struct storage *st, const struct known_row *what, struct arena *a, void *out,
               struct err *e)
{
    struct q q;
    q_read(&q, st, what->id);
    for (const char *const *s = what->names; *s; s++)
        q_text(&q, *s);
    return q_one(&q, a, what->row, out, e);
}

#ifdef __SANITIZE_ADDRESS__
static bool same_texts(const struct st_row *row, void *one, void *other)
{
    for (size_t i = 0; i < row->n; i++) {
        if (row->columns[i].kind != COLUMN_TEXT)
            continue;
        const char **x = text_at(one, &row->columns[i]), **y = text_at(other, &row->columns[i]);
        if (!*x != !*y || (*x && strcmp(*x, *y) != 0))
            return false;
        *x = *y; /* the remaining bytes are compared directly */
    }
    return true;
}

/* Builds for tests look up each cached row again and compare. */
static void check_known(struct storage *st, const struct known_row *what, const struct known *k)
{
    const struct st_row *row = what->row;
    struct err e;
    struct arena a;
    arena_init(&a);
    void *now = arena_alloc(&a, row->size), *was = arena_alloc(&a, row->size);
    copy_row(row, k->row, &a, was);
    int rc = ask(st, what, &a, now, &e);
    assert(rc < 0 || (rc == 1 && same_texts(row, was, now) && memcmp(was, now, row->size) == 0));
    arena_free(&a);
}
#else
static void check_known(struct storage *st, const struct known_row *what, const struct known *k)
{
    (void)st, (void)what, (void)k;
}
#endif

int q_known(struct storage *st, const struct known_row *what, struct arena *a, void *out,
            struct err *e)
{
    size_t n;
    const char *key = key_of(a, what, &n);
    cache_stamp(st->known_rows, st->places_changed);
    const struct known *k = cache_find(st->known_rows, key, n);
    if (k) {
        check_known(st, what, k);
        copy_row(what->row, k->row, a, out);
        return 1;
    }
    int rc = ask(st, what, a, out, e);
    if (rc == 1)
        keep(st, key, n, what->row, out);
    return rc;
}
