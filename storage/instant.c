/* SPDX-License-Identifier: MIT
 *
 * A copy of the database and what belongs to its connection: statements, and the caches of rows.
 * While the copy is entered, the storage has these in the place of the original ones. On the loop's
 * thread.
 */
#include "storage/instant.h"

#include <assert.h>
#include <stdlib.h>
#include <uv.h>

#include "lib/cache.h"
#include "storage/storage_priv.h"

/* How many pages are copied before the clock is read: 1 MiB, less than a millisecond. */
#define PAGES    256
#define SLICE_NS (5 * 1000 * 1000)

struct st_instant {
    struct storage *st;
    struct sqlite3 *db;
    struct sqlite3_backup *copying; /* NULL: it is complete */
    struct sqlite3_stmt *stmts[ST_COUNT];
    struct cache *known_rows, *known_keys;
    bool in_turn, in_read; /* the values of the storage itself, while the copy is entered */
};

struct st_instant *st_instant_begin(struct storage *st, struct err *e)
{
    struct st_instant *i = xcalloc(1, sizeof *i);
    i->st = st;
    int rc = st_sql_copy_begin(st, &i->db, &i->copying);
    if (rc == 0)
        return i;
    st_err_from_sqlite(st, rc, "begin a copy", e);
    st_instant_end(i);
    return NULL;
}

int st_instant_copy(struct st_instant *i, struct err *e)
{
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    int rc;
    do
        rc = st_sql_copy_some(i->copying, PAGES);
    while (rc == 0 && uv_hrtime() < until_ns);
    /* Busy: this turn has written, and these writes are not committed yet. */
    if (rc == 0 || st_sql_is_busy(rc))
        return 0;
    int end = st_sql_copy_end(i->copying);
    i->copying = NULL;
    if (rc < 0 && end == 0)
        return 1;
    return st_err_from_sqlite(i->st, rc < 0 ? end : rc, "copy", e);
}

static void swap(void *one, void *other, size_t n)
{
    char *x = one, *y = other;
    for (size_t k = 0; k < n; k++) {
        char c = x[k];
        x[k] = y[k];
        y[k] = c;
    }
}

static void swap_all(struct st_instant *i)
{
    struct storage *st = i->st;
    swap(&st->db, &i->db, sizeof st->db);
    swap(st->stmts, i->stmts, sizeof st->stmts);
    swap(&st->known_rows, &i->known_rows, sizeof st->known_rows);
    swap(&st->known_keys, &i->known_keys, sizeof st->known_keys);
    swap(&st->in_turn, &i->in_turn, sizeof st->in_turn);
    swap(&st->in_read, &i->in_read, sizeof st->in_read);
}

void st_instant_enter(struct st_instant *i)
{
    assert(!i->copying && !i->st->at_instant && i->st->open_queries == 0);
    if (!i->known_rows)
        st_known_new(&i->known_rows, &i->known_keys);
    i->in_turn = false;
    i->in_read = true; /* each read begins and ends its own transaction of the copy */
    swap_all(i);
    i->st->at_instant = true;
}

void st_instant_leave(struct st_instant *i)
{
    assert(i->st->at_instant && i->st->open_queries == 0);
    swap_all(i);
    i->st->at_instant = false;
}

void st_instant_end(struct st_instant *i)
{
    if (!i)
        return;
    if (i->copying)
        st_sql_copy_end(i->copying);
    st_sql_close_copy(i->db, i->stmts, ST_COUNT);
    cache_free(i->known_rows);
    cache_free(i->known_keys);
    free(i);
}
