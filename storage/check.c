/* SPDX-License-Identifier: MIT
 *
 * Checks whether the database is intact. The rows of quick_check, and rows with missing references,
 * show damage; return codes do not. quick_check reads every page, about 400 MB/s from the page
 * cache. So a large database is not checked again if it was closed in order, and otherwise is
 * checked beside the daemon's work (check_beside.c).
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/strbuf.h"
#include "storage/storage_priv.h"

/* The size with some 60,000 jobs; reading it takes well below a second. */
#define ALWAYS_CHECK_BYTES (256LL << 20)
#define SHOWN_PROBLEMS     5

int st_set_clean(struct storage *st, enum close_mark mark, struct err *e)
{
    return st_meta_set_clean(st, (int)mark, e);
}

/* Collects up to SHOWN_PROBLEMS problems as text. */
struct problems {
    char text[700];
    size_t used;
    int n;
};

static void take_problem(void *ctx, const void *cell, size_t n)
{
    struct problems *p = ctx;
    size_t room = sizeof p->text - p->used;
    if (!cell || (n == 2 && memcmp(cell, "ok", 2) == 0) || p->n == SHOWN_PROBLEMS)
        return;
    int w =
        snprintf(p->text + p->used, room, "%s%.*s", p->n ? "; " : "", (int)n, (const char *)cell);
    p->used += w > 0 && (size_t)w < room ? (size_t)w : 0;
    p->n++;
}

static int refuse_rows(struct storage *st, const char *sql, const char *pragma, struct err *e)
{
    struct problems found = {.text = ""};
    if (st_query(st, sql, "check", take_problem, &found, e) < 0)
        return err_prefix(e, "%s is damaged: %s fails", st->path, pragma);
    if (found.n == 0)
        return 0;
    for (char *p = found.text; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    return err_set(e, ERR_STORAGE, NULL,
                   "%s is damaged and was not used; %s found: %s. Restore it from a backup",
                   st->path, pragma, found.text);
}

int st_check_rows(struct storage *st, struct err *e)
{
    if (refuse_rows(st, "PRAGMA quick_check(5)", "quick_check", e) < 0)
        return -1;
    return st_check_foreign_keys(st, e);
}

int st_check(struct storage *st, const struct st_peek *file, bool *beside, struct err *e)
{
    if (!file->exists || file->user_version == 0)
        return 0; /* the database is empty */
    int64_t clean = 0;
    if (st_query_int(st, "SELECT clean_close FROM meta", "meta", &clean, e) < 0)
        return err_prefix(e, "%s is damaged", st->path);
    bool large = file->size > (st->large_bytes ? st->large_bytes : ALWAYS_CHECK_BYTES);
    if (large && clean == CLOSE_IN_ORDER) {
        LOG_INFO(st->log, "db.check_skipped", LF_INT("bytes", file->size));
        return 0;
    }
    if (large && beside && clean == CLOSE_NONE) {
        *beside = true;
        return 0;
    }
    return st_check_rows(st, e);
}

/* Makes a query for each foreign key, which finds rows with missing references.
 * pragma_foreign_key_check finds the same rows, but it scans tables, while these queries use the
 * indexes of the columns. Each foreign key has one column. */
static const char foreign_key_queries[] =
    "SELECT format('SELECT ''%w row '' || %s || '' points to no %w'' FROM \"%w\" "
    "WHERE \"%w\" IS NOT NULL AND \"%w\" NOT IN (SELECT \"%w\" FROM \"%w\")', t.name, iif(t.wr, "
    "'''?''', 'rowid'), "
    "f.\"table\", t.name, f.\"from\", f.\"from\", f.\"to\", f.\"table\") "
    "FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f "
    "WHERE t.schema = 'main' AND t.type = 'table'";

/* Appends the query with its terminating NUL. */
static void take_query(void *ctx, const void *cell, size_t n)
{
    struct strbuf *all = ctx;
    assert(cell);
    strbuf_add(all, cell, n);
    strbuf_putc(all, '\0');
}

int st_check_foreign_keys(struct storage *st, struct err *e)
{
    struct strbuf all = STRBUF_INIT;
    int rc = st_query(st, foreign_key_queries, "foreign keys", take_query, &all, e);
    for (size_t at = 0; rc >= 0 && at < all.len; at += strlen(all.s + at) + 1)
        rc = refuse_rows(st, all.s + at, "foreign_key_check", e);
    strbuf_free(&all);
    return rc < 0 ? -1 : 0;
}
