/* SPDX-License-Identifier: MIT
 *
 * Is the database whole? The rows of quick_check and foreign_key_check say so; their return codes
 * do not. Both read every page, about 1 GB/s from the page cache, so a large database that was
 * closed in order is not read again.
 */
#include <stdio.h>
#include <string.h>

#include "storage/storage_priv.h"

/* Some 60,000 jobs; reading this much stays well below a second. */
#define ALWAYS_CHECK_BYTES (256LL << 20)
#define SHOWN_PROBLEMS     5

/* Collects up to SHOWN_PROBLEMS rows as text; `columns` of each are shown. Returns their number. */
static int problems(struct storage *st, const char *sql, char *text, size_t size, struct err *e)
{
    sqlite3_stmt *s = NULL;
    int n = 0, rc = sqlite3_prepare_v2(st->db, sql, -1, &s, NULL);
    size_t used = 0;
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(s);
        if (rc != SQLITE_ROW)
            break;
        const char *cell = (const char *)sqlite3_column_text(s, 0);
        if (!cell || strcmp(cell, "ok") == 0 || n == SHOWN_PROBLEMS)
            continue;
        int w = snprintf(text + used, size - used, "%s%s", n ? "; " : "", cell);
        used += w > 0 && (size_t)w < size - used ? (size_t)w : 0;
        n++;
    }
    sqlite3_finalize(s);
    if (rc == SQLITE_DONE)
        return n;
    return st_err_from_sqlite(st, rc, "check", e);
}

static int clean_close(struct storage *st, bool *clean, struct err *e)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(st->db, "SELECT clean_close FROM meta", -1, &s, NULL);
    *clean = false;
    if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW)
        *clean = sqlite3_column_int(s, 0) == 1;
    sqlite3_finalize(s);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : st_err_from_sqlite(st, rc, "meta", e);
}

static int refuse_rows(struct storage *st, const char *sql, const char *pragma, struct err *e)
{
    char found[700] = "";
    int n = problems(st, sql, found, sizeof found, e);
    if (n < 0)
        return err_prefix(e, "%s is damaged: %s fails", st->path, pragma);
    if (n == 0)
        return 0;
    for (char *p = found; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    return err_set(e, ERR_STORAGE, NULL,
                   "%s is damaged and was not used; %s found: %s. Restore it from a backup",
                   st->path, pragma, found);
}

int st_check(struct storage *st, const struct st_peek *file, struct err *e)
{
    if (!file->exists || file->user_version == 0)
        return 0; /* nothing in it yet */
    bool clean;
    if (clean_close(st, &clean, e) < 0)
        return err_prefix(e, "%s is damaged", st->path);
    if (clean && file->size > ALWAYS_CHECK_BYTES) {
        LOG_INFO(st->log, "db.check_skipped", LF_INT("bytes", file->size));
        return 0;
    }
    if (refuse_rows(st, "PRAGMA quick_check(5)", "quick_check", e) < 0)
        return -1;
    return refuse_rows(st,
                       "SELECT \"table\" || ' row ' || coalesce(rowid, '?') || ' points to no ' "
                       "|| parent FROM pragma_foreign_key_check",
                       "foreign_key_check", e);
}
