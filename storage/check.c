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

/* Up to SHOWN_PROBLEMS of them as text. */
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

int st_check(struct storage *st, const struct st_peek *file, struct err *e)
{
    if (!file->exists || file->user_version == 0)
        return 0; /* nothing in it yet */
    int64_t clean = 0;
    if (st_query_int(st, "SELECT clean_close FROM meta", "meta", &clean, e) < 0)
        return err_prefix(e, "%s is damaged", st->path);
    if (clean == 1 && file->size > ALWAYS_CHECK_BYTES) {
        LOG_INFO(st->log, "db.check_skipped", LF_INT("bytes", file->size));
        return 0;
    }
    if (refuse_rows(st, "PRAGMA quick_check(5)", "quick_check", e) < 0)
        return -1;
    return st_check_foreign_keys(st, e);
}

int st_check_foreign_keys(struct storage *st, struct err *e)
{
    return refuse_rows(st,
                       "SELECT \"table\" || ' row ' || coalesce(rowid, '?') || ' points to no ' "
                       "|| parent FROM pragma_foreign_key_check",
                       "foreign_key_check", e);
}
