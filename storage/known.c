/* SPDX-License-Identifier: MIT
 *
 * Rows that were found by their names. Jobs that are put one after the other are of the same
 * experiment and cluster, and to find these by all the names in a path takes two joins; requests
 * for files and blobs are of the same account and share, one after the other. So the rows are kept
 * until a row changes that they were read from; then all are forgotten, as these tables seldom
 * change. Tasks of Azure Batch ask for their job and their pool at each step, by their ids.
 * SQLite's hooks count each change and each rollback (sql.c), so that no writer has to think of it.
 *
 * The number of rows is fixed; a new one takes the place of another.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "storage/storage_priv.h"

#define KEPT_BYTES 16384 /* of the texts of one row: to copy a longer one is not cheap either */

static void forget(struct known *k)
{
    arena_free(&k->a);
    *k = (struct known){0};
}

void st_known_forget(struct storage *st)
{
    for (size_t i = 0; i < KNOWN_MAX; i++)
        if (st->known[i].names)
            forget(&st->known[i]);
    sodium_memzero(st->known_keys, sizeof st->known_keys);
}

static void forget_changed(struct storage *st)
{
    if (st->known_at != st->places_changed)
        st_known_forget(st);
    st->known_at = st->places_changed;
}

struct known_keys *st_known_keys(struct storage *st, enum resource_kind kind, int64_t id)
{
    forget_changed(st);
    return &st->known_keys[((uint64_t)id + (uint64_t)kind) % KNOWN_KEYS_MAX];
}

/* The names as one key. */
static const char *join(struct arena *a, const char *const *names, size_t *n)
{
    *n = 0;
    for (const char *const *s = names; *s; s++)
        *n += strlen(*s) + 1;
    char *out = arena_alloc(a, *n), *p = out;
    for (const char *const *s = names; *s; s++)
        p = stpcpy(p, *s) + 1;
    return out;
}

/* The only place where the row can be. */
static struct known *place_of(struct storage *st, enum stmt_id id, const char *names, size_t n)
{
    uint32_t hash = 2166136261U ^ (uint32_t)id; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)names[i]) * 16777619U;
    return &st->known[(hash ^ hash >> 16) % KNOWN_MAX];
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

static void keep(struct known *k, enum stmt_id id, const char *names, size_t n,
                 const struct st_row *row, void *found)
{
    if (text_bytes(row, found) > KEPT_BYTES)
        return;
    forget(k);
    k->id = id;
    k->n_names = n;
    k->names = memcpy(arena_alloc(&k->a, n), names, n);
    k->row = arena_alloc(&k->a, row->size);
    copy_row(row, found, &k->a, k->row);
}

static int ask(struct storage *st, enum stmt_id id, const char *const *names, struct arena *a,
               const struct st_row *row, void *out, struct err *e)
{
    struct q q;
    q_read(&q, st, id);
    for (const char *const *s = names; *s; s++)
        q_text(&q, *s);
    return q_one(&q, a, row, out, e);
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
        *x = *y; /* the rest is compared by its bytes */
    }
    return true;
}

/* Builds for tests look up each row that is known. */
static void check_known(struct storage *st, const struct known *k, const char *const *names,
                        const struct st_row *row)
{
    struct err e;
    struct arena a;
    arena_init(&a);
    void *now = arena_alloc(&a, row->size), *was = arena_alloc(&a, row->size);
    copy_row(row, k->row, &a, was);
    int rc = ask(st, k->id, names, &a, row, now, &e);
    assert(rc < 0 || (rc == 1 && same_texts(row, was, now) && memcmp(was, now, row->size) == 0));
    arena_free(&a);
}
#else
static void check_known(struct storage *st, const struct known *k, const char *const *names,
                        const struct st_row *row)
{
    (void)st, (void)k, (void)names, (void)row;
}
#endif

int q_known_id(struct storage *st, enum stmt_id stmt, struct arena *a, int64_t id,
               const struct st_row *row, void *out, struct err *e)
{
    char text[24];
    const char *const names[] = {text, NULL};
    snprintf(text, sizeof text, "%lld", (long long)id);
    return q_known(st, stmt, names, a, row, out, e);
}

int q_known(struct storage *st, enum stmt_id id, const char *const *names, struct arena *a,
            const struct st_row *row, void *out, struct err *e)
{
    size_t n;
    const char *key = join(a, names, &n);
    forget_changed(st);
    struct known *k = place_of(st, id, key, n);
    if (k->names && k->id == id && k->n_names == n && memcmp(k->names, key, n) == 0) {
        check_known(st, k, names, row);
        copy_row(row, k->row, a, out);
        return 1;
    }
    int rc = ask(st, id, names, a, row, out, e);
    if (rc == 1)
        keep(k, id, key, n, row, out);
    return rc;
}
