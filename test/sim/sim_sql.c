/* SPDX-License-Identifier: MIT
 *
 * Between the storage and SQLite: connections and prepared statements outlive the lives of the
 * daemon. To open the database again and to compile its statements takes longer than most lives
 * need for all else, and would show only that SQLite does it again. What is opened anew is put on
 * the disk of that life, of which it finds nothing in its cache that is not there, as after
 * another process has written.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "test/sim/sim_disk.h"
#include "test/sim/wrap.h"

#define KEPT_MAX 4 /* connections; a life has two */
#define BUCKETS  512
#define TOLD_MAX 8 /* settings */

struct sql_statement {
    struct sql_statement *next;
    char *sql;
    sqlite3_stmt *s;
    bool taken;
};

struct sql_connection {
    sqlite3 *db;
    bool in_use;
    const char *told[TOLD_MAX]; /* settings, by their text */
    struct sql_statement *buckets[BUCKETS];
};

static struct {
    bool on;
    struct sql_connection kept[KEPT_MAX];
    int n;
} all;

void sim_sql_keep(void)
{
    all.on = true;
}

static struct sql_connection *kept(const sqlite3 *db)
{
    for (int i = 0; i < all.n; i++)
        if (all.kept[i].db == db)
            return &all.kept[i];
    return NULL;
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "sim: %s\n", what);
    abort();
}

/* --- connections ------------------------------------------------------------------------------ */

WRAP(int, sqlite3_open_v2, const char *path, sqlite3 **db, int flags, const char *vfs)
{
    for (int i = 0; i < all.n; i++)
        if (!all.kept[i].in_use) {
            all.kept[i].in_use = true;
            *db = all.kept[i].db;
            sim_disk_attach(*db);
            return SQLITE_OK;
        }
    int rc = __real_sqlite3_open_v2(path, db, flags, vfs);
    if (all.on && rc == SQLITE_OK && all.n < KEPT_MAX)
        all.kept[all.n++] = (struct sql_connection){.db = *db, .in_use = true};
    return rc;
}

static void must_be_free(const struct sql_connection *c)
{
    for (int i = 0; i < BUCKETS; i++)
        for (const struct sql_statement *s = c->buckets[i]; s; s = s->next)
            must(!s->taken, "a statement is left when its connection is closed");
}

WRAP(int, sqlite3_close, sqlite3 *db)
{
    struct sql_connection *c = kept(db);
    if (!c)
        return __real_sqlite3_close(db);
    must_be_free(c);
    sqlite3_wal_hook(db, NULL, NULL);
    sqlite3_update_hook(db, NULL, NULL);
    sqlite3_rollback_hook(db, NULL, NULL);
    if (!sqlite3_get_autocommit(db))
        must(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK, "no rollback");
    sim_disk_detach(db);
    c->in_use = false;
    return SQLITE_OK;
}

/* --- statements ------------------------------------------------------------------------------- */

static unsigned bucket(const char *sql)
{
    unsigned h = 2166136261;
    for (; *sql; sql++)
        h = (h ^ (unsigned char)*sql) * 16777619;
    return h % BUCKETS;
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out);

WRAP(int, sqlite3_prepare_v3, sqlite3 *db, const char *sql, int n, unsigned flags,
     sqlite3_stmt **out, const char **tail)
{
    if (kept(db) && !tail)
        return prepare(db, sql, out);
    return __real_sqlite3_prepare_v3(db, sql, n, flags, out, tail);
}

WRAP(int, sqlite3_prepare_v2, sqlite3 *db, const char *sql, int n, sqlite3_stmt **out,
     const char **tail)
{
    return __wrap_sqlite3_prepare_v3(db, sql, n, 0, out, tail);
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out)
{
    struct sql_statement **first = &kept(db)->buckets[bucket(sql)], *s = *first;
    while (s && (s->taken || strcmp(s->sql, sql) != 0))
        s = s->next;
    if (!s) {
        int rc = __real_sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
        if (rc != SQLITE_OK)
            return rc;
        s = xcalloc(1, sizeof *s);
        *s = (struct sql_statement){.next = *first, .sql = xstrdup(sql), .s = *out};
        *first = s;
    }
    s->taken = true;
    *out = s->s;
    return SQLITE_OK;
}

WRAP(int, sqlite3_finalize, sqlite3_stmt *stmt)
{
    struct sql_connection *c = stmt ? kept(sqlite3_db_handle(stmt)) : NULL;
    if (!c)
        return __real_sqlite3_finalize(stmt);
    struct sql_statement *s = c->buckets[bucket(sqlite3_sql(stmt))];
    while (s->s != stmt)
        s = s->next;
    s->taken = false;
    sqlite3_clear_bindings(stmt);
    return sqlite3_reset(stmt);
}

/* --- settings --------------------------------------------------------------------------------- */

/* A setting makes all statements be compiled anew, even if it changes nothing. */
static bool was_told(struct sql_connection *c, const char *sql)
{
    for (int i = 0; i < TOLD_MAX; i++) {
        if (!c->told[i]) {
            c->told[i] = xstrdup(sql);
            return false;
        }
        if (strcmp(c->told[i], sql) == 0)
            return true;
    }
    return false;
}

static bool only_settings(const char *sql)
{
    static const char word[] = "PRAGMA ";
    while (strncmp(sql, word, sizeof word - 1) == 0) {
        const char *end = strchr(sql, ';');
        if (!end)
            return true;
        sql = end + 1 + strspn(end + 1, " ");
    }
    return *sql == '\0';
}

WRAP(int, sqlite3_exec, sqlite3 *db, const char *sql, int (*cb)(void *, int, char **, char **),
     void *ctx, char **msg)
{
    struct sql_connection *c = kept(db);
    if (c && only_settings(sql) && was_told(c, sql))
        return SQLITE_OK;
    return __real_sqlite3_exec(db, sql, cb, ctx, msg);
}
