/* SPDX-License-Identifier: MIT
 *
 * The file of the history. Averages are made of rows, not of memory: when the first sample after a
 * step comes, the step before is averaged; if none comes, the hourly sweep averages it. So a
 * restart loses nothing that is on disk. An average that is made again replaces the old one, except
 * if some of its samples may have been removed since.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "storage/history/history_priv.h"

#define PAGE_BYTES 4096
#define BUSY_MS    5000
#define HOUR_S     3600
#define DAY_S      86400
#define HALVINGS   8
#define BYTES_MOST (INT64_C(8) << 30)
#define US_PER_S   INT64_C(1000000)

const struct history_age history_ages[HISTORY_LEVELS] = {
    [HISTORY_RAW] = {"15s", SAMPLE_EVERY_S, HOUR_S},
    [HISTORY_MINUTES] = {"5m", 300, 7 * DAY_S},
    [HISTORY_HOURS] = {"1h", HOUR_S, 365 * DAY_S},
};

static const char schema[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "CREATE TABLE IF NOT EXISTS node (id INTEGER PRIMARY KEY, "
    "name TEXT NOT NULL UNIQUE COLLATE NOCASE) STRICT;"
    "CREATE TABLE IF NOT EXISTS sample (node_id INTEGER NOT NULL, level INTEGER NOT NULL, "
    "at INTEGER NOT NULL, vals BLOB NOT NULL, PRIMARY KEY (node_id, level, at)) "
    "STRICT, WITHOUT ROWID;";

static const char *const texts[HISTORY_STATEMENTS] = {
    [HISTORY_BEGIN] = "BEGIN IMMEDIATE",
    [HISTORY_COMMIT] = "COMMIT",
    [HISTORY_ROLLBACK] = "ROLLBACK",
    [HISTORY_NODE_ADD] = "INSERT INTO node (name) VALUES (?1) ON CONFLICT DO NOTHING",
    [HISTORY_NODE_ID] = "SELECT id FROM node WHERE name = ?1",
    [HISTORY_PUT] = "INSERT OR REPLACE INTO sample (node_id, level, at, vals) "
                    "VALUES (?1, ?2, ?3, ?4)",
    [HISTORY_BEFORE] = "SELECT max(at) FROM sample WHERE node_id = ?1 AND level = ?2 AND at < ?3",
    [HISTORY_RANGE] = "SELECT at, vals FROM sample WHERE node_id = ?1 AND level = ?2 "
                      "AND at >= ?3 AND at < ?4 ORDER BY at LIMIT ?5",
    [HISTORY_FORGET] = "DELETE FROM sample WHERE node_id = ?1 AND level = ?2 AND at < ?3",
    [HISTORY_NODES] = "SELECT id FROM node WHERE id > ?1 ORDER BY id LIMIT 1",
    [HISTORY_NODE_GONE] = "DELETE FROM node WHERE id = ?1 AND NOT EXISTS "
                          "(SELECT 1 FROM sample WHERE node_id = ?1)",
    /* whether the file has reached its limit; if not, the disk is full */
    [HISTORY_AT_LIMIT] = "SELECT p.page_count + 1024 >= m.max_page_count "
                         "FROM pragma_page_count p, pragma_max_page_count m",
};

/* --- SQLite ----------------------------------------------------------------------------------- */

static int failed(struct history_file *f, struct err *e)
{
    return err_set(e, ERR_STORAGE, NULL, "the history of samples: %s",
                   f->db ? sqlite3_errmsg(f->db) : "no memory");
}

static bool is_damaged(struct history_file *f)
{
    int code = f->db ? sqlite3_errcode(f->db) & 0xff : SQLITE_OK;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

static bool is_full(struct history_file *f)
{
    return (sqlite3_errcode(f->db) & 0xff) == SQLITE_FULL;
}

/* Steps a statement with bound parameters. 1: it has a row; 0: it has no more rows; -1: err. The
 * caller must reset it. */
static int step(struct history_file *f, enum history_statement id, struct err *e)
{
    int rc = sqlite3_step(f->statements[id]);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : failed(f, e);
}

/* Binds numbers, runs the statement and resets it. *out (may be NULL): the first column of the
 * first row. 1: this column has a value; 0: no row or no value; -1: err. */
static int run(struct history_file *f, enum history_statement id, const int64_t *numbers, int n,
               int64_t *out, struct err *e)
{
    sqlite3_stmt *s = f->statements[id];
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(s, i + 1, numbers[i]);
    int rc = step(f, id, e);
    if (rc == 1 && sqlite3_column_type(s, 0) == SQLITE_NULL)
        rc = 0;
    if (rc == 1 && out)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_reset(s);
    return rc;
}

#define RUN(f, id, out, e, ...)                                                                    \
    run(f, id, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
        out, e)

static int by_name(struct history_file *f, enum history_statement id, const char *name,
                   int64_t *out, struct err *e)
{
    sqlite3_stmt *s = f->statements[id];
    sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    return run(f, id, NULL, 0, out, e);
}

/* --- opening ---------------------------------------------------------------------------------- */

void history_file_close(struct history_file *f)
{
    for (int i = 0; i < HISTORY_STATEMENTS; i++) {
        sqlite3_finalize(f->statements[i]);
        f->statements[i] = NULL;
    }
    sqlite3_close(f->db);
    f->db = NULL;
    sample_mean_free(f->mean);
    f->mean = NULL;
}

static int open_file(struct history_file *f, const char *path, int64_t bytes_most, struct err *e)
{
    char limit[64];
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_errno(e, ERR_STORAGE, "cannot open %s", path);
    close(fd);
    if (sqlite3_open_v2(path, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return failed(f, e);
    sqlite3_busy_timeout(f->db, BUSY_MS);
    snprintf(limit, sizeof limit, "PRAGMA max_page_count = %lld",
             (long long)((bytes_most ? bytes_most : BYTES_MOST) / PAGE_BYTES));
    if (sqlite3_exec(f->db, limit, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(f->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return failed(f, e);
    for (int i = 0; i < HISTORY_STATEMENTS; i++)
        if (sqlite3_prepare_v3(f->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &f->statements[i],
                               NULL) != SQLITE_OK)
            return failed(f, e);
    f->mean = sample_mean_new();
    return 0;
}

static void put_aside(const char *path)
{
    static const char *const beside[] = {"-wal", "-shm"};
    char from[4096], to[4096];
    snprintf(to, sizeof to, "%s.damaged", path);
    (void)rename(path, to);
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(from, sizeof from, "%s%s", path, beside[i]);
        (void)unlink(from);
    }
}

int history_file_open(struct history_file *f, const char *path, int64_t bytes_most, struct err *e)
{
    if (f->db)
        return 0;
    int rc = open_file(f, path, bytes_most, e);
    /* A table of that name with other columns means that the file is no history either. */
    bool damaged = rc < 0 && (is_damaged(f) || (f->db && sqlite3_errcode(f->db) == SQLITE_ERROR));
    if (rc < 0)
        history_file_close(f);
    if (!damaged)
        return rc;
    put_aside(path);
    f->put_aside = true;
    rc = open_file(f, path, bytes_most, e);
    if (rc < 0)
        history_file_close(f);
    return rc;
}

int history_file_begin(struct history_file *f, struct err *e)
{
    return run(f, HISTORY_BEGIN, NULL, 0, NULL, e);
}

int history_file_end(struct history_file *f, int rc, struct err *e)
{
    bool damaged = rc < 0 && is_damaged(f), full = rc < 0 && is_full(f);
    if (rc == 0 && run(f, HISTORY_COMMIT, NULL, 0, NULL, e) == 0)
        return 0;
    if (rc == 0) {
        damaged = is_damaged(f);
        full = is_full(f);
    }
    struct err ignored;
    if (!sqlite3_get_autocommit(f->db))
        (void)run(f, HISTORY_ROLLBACK, NULL, 0, NULL, &ignored);
    int64_t at_limit = 0;
    if (full && f->halvings < HALVINGS &&
        run(f, HISTORY_AT_LIMIT, NULL, 0, &at_limit, &ignored) == 1 && at_limit)
        f->halvings++;
    if (damaged) {
        const char *at = sqlite3_db_filename(f->db, "main");
        char *path = xstrdup(at ? at : "");
        history_file_close(f);
        put_aside(path);
        f->put_aside = true;
        free(path);
    }
    return -1;
}

/* --- averages --------------------------------------------------------------------------------- */

static int put(struct history_file *f, int64_t node, enum history_level level, int64_t at_s,
               const struct node_sample *s, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    sqlite3_stmt *q = f->statements[HISTORY_PUT];
    sample_pack(s, &b);
    sqlite3_bind_blob(q, 4, b.s, (int)b.len, SQLITE_TRANSIENT);
    strbuf_free(&b);
    return RUN(f, HISTORY_PUT, NULL, e, node, level, at_s) < 0 ? -1 : 0;
}

typedef void (*row_fn)(void *ctx, struct node_sample *s);

/* Calls fn with each row; fn frees the row. A row that cannot be read is skipped. */
static int each(struct history_file *f, const int64_t range[5], row_fn fn, void *ctx, struct err *e)
{
    sqlite3_stmt *q = f->statements[HISTORY_RANGE];
    int rc;
    for (int i = 0; i < 5; i++)
        sqlite3_bind_int64(q, i + 1, range[i]);
    while ((rc = step(f, HISTORY_RANGE, e)) == 1) {
        struct node_sample s;
        const void *bytes = sqlite3_column_blob(q, 1);
        if (!bytes || sample_unpack(bytes, (size_t)sqlite3_column_bytes(q, 1), &s) < 0)
            continue;
        s.at_us = sqlite3_column_int64(q, 0) * US_PER_S;
        fn(ctx, &s);
    }
    sqlite3_reset(q);
    return rc;
}

static void add_to_mean(void *mean, struct node_sample *s)
{
    sample_mean_add(mean, s);
    sample_free(s);
}

static int64_t keeps(const struct history_file *f, enum history_level level)
{
    return history_ages[level].keeps_s >> (level == HISTORY_RAW ? 0 : f->halvings);
}

static int forget(struct history_file *f, int64_t node, enum history_level level, struct err *e)
{
    return RUN(f, HISTORY_FORGET, NULL, e, node, level, f->steady_s - keeps(f, level));
}

/* Writes the average of the step of this level that starts at `begin`. */
static int average_step(struct history_file *f, int64_t node, enum history_level level,
                        int64_t begin, struct err *e)
{
    int64_t step_s = history_ages[level].step_s;
    struct node_sample mean;
    const int64_t range[5] = {node, level - 1, begin, begin + step_s, step_s};
    int rc = each(f, range, add_to_mean, f->mean, e);
    int n = sample_mean_take(f->mean, &mean);
    if (rc == 0 && n > 0)
        rc = put(f, node, level, begin, &mean, e);
    sample_free(&mean);
    return rc;
}

/* 1: *begin is the start of the last step of this level that has samples and was over at `now_s`.
 * 0: there is no such step; -1: err. */
static int last_step(struct history_file *f, int64_t node, enum history_level level, int64_t now_s,
                     int64_t *begin, struct err *e)
{
    int64_t step_s = history_ages[level].step_s, last = 0;
    int rc = RUN(f, HISTORY_BEFORE, &last, e, node, level - 1, now_s);
    if (rc <= 0 || last >= now_s / step_s * step_s)
        return rc < 0 ? -1 : 0;
    *begin = last / step_s * step_s;
    return 1;
}

/* 1: the step of this level that starts at `begin` has an average; 0: it has none; -1: err. */
static int has_average(struct history_file *f, int64_t node, enum history_level level,
                       int64_t begin, struct err *e)
{
    int64_t there;
    int rc = RUN(f, HISTORY_BEFORE, &there, e, node, level, begin + 1);
    return rc == 1 ? there == begin : rc;
}

/* Averages a step; an existing average stays if some of its samples may have been removed since. */
static int average_whole(struct history_file *f, int64_t node, enum history_level level,
                         int64_t begin, struct err *e)
{
    bool is_old = begin < f->steady_s - keeps(f, level - 1);
    int rc = is_old ? has_average(f, node, level, begin, e) : 0;
    return rc == 0 ? average_step(f, node, level, begin, e) : rc < 0 ? -1 : 0;
}

/* Call when a sample at `now_s` of the level below is written: averages the last step with samples,
 * if it was over at `now_s`; then the levels above. */
static int average(struct history_file *f, int64_t node, enum history_level level, int64_t now_s,
                   struct err *e)
{
    int64_t begin;
    int rc = last_step(f, node, level, now_s, &begin, e);
    if (rc <= 0)
        return rc;
    rc = average_whole(f, node, level, begin, e);
    if (rc == 0 && forget(f, node, level - 1, e) < 0)
        rc = -1;
    if (rc == 0 && level + 1 < HISTORY_LEVELS)
        rc = average(f, node, level + 1, begin, e);
    if (rc == 0 && level + 1 == HISTORY_LEVELS && forget(f, node, level, e) < 0)
        rc = -1;
    return rc;
}

int history_file_add(struct history_file *f, const char *name, const struct node_sample *s,
                     struct err *e)
{
    int64_t node = 0, at_s = s->at_us / US_PER_S;
    int rc = by_name(f, HISTORY_NODE_ID, name, &node, e);
    if (rc == 0 && by_name(f, HISTORY_NODE_ADD, name, NULL, e) == 0)
        rc = by_name(f, HISTORY_NODE_ID, name, &node, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_STORAGE, NULL, "node %.100s cannot be kept", name);
    if (put(f, node, HISTORY_RAW, at_s, s, e) < 0)
        return -1;
    return average(f, node, HISTORY_MINUTES, at_s, e);
}

/* --- nodes that are gone ---------------------------------------------------------------------- */

/* Averages the last step of a node that sends no more samples, then the levels above. An existing
 * average stays, because some of its samples may have been removed since. */
static int average_last(struct history_file *f, int64_t node, enum history_level level,
                        int64_t now_s, struct err *e)
{
    int64_t begin;
    int rc = last_step(f, node, level, now_s, &begin, e);
    if (rc <= 0)
        return rc;
    rc = has_average(f, node, level, begin, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    rc = average_step(f, node, level, begin, e);
    return rc == 0 && level + 1 < HISTORY_LEVELS ? average(f, node, level + 1, begin, e) : rc;
}

static int sweep_node(struct history_file *f, int64_t node, int64_t now_s, bool at_once,
                      struct err *e)
{
    for (int level = HISTORY_RAW + 1; level < HISTORY_LEVELS && !at_once; level++)
        if (average_last(f, node, level, now_s, e) < 0)
            return -1;
    for (int level = 0; level < HISTORY_LEVELS; level++)
        if (forget(f, node, level, e) < 0)
            return -1;
    return RUN(f, HISTORY_NODE_GONE, NULL, e, node) < 0 ? -1 : 0;
}

int history_file_sweep(struct history_file *f, int64_t now_s, bool at_once, struct err *e)
{
    int64_t node = 0;
    int rc;
    if (!at_once && now_s - f->swept_s < HOUR_S && f->swept_s <= now_s)
        return 0;
    f->swept_s = now_s;
    while ((rc = RUN(f, HISTORY_NODES, &node, e, node)) == 1)
        if (sweep_node(f, node, now_s, at_once, e) < 0)
            return -1;
    return rc;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct sample_rows {
    struct node_sample *list;
    size_t n;
};

static void add_row(void *ctx, struct node_sample *s)
{
    struct sample_rows *r = ctx;
    r->list[r->n++] = *s;
}

int history_file_read(struct history_file *f, const struct history_query *q,
                      struct node_sample **rows, size_t *n, struct err *e)
{
    struct sample_rows r = {xcalloc((size_t)q->max + 1, sizeof *r.list), 0};
    int64_t node;
    int rc = by_name(f, HISTORY_NODE_ID, q->node, &node, e);
    if (rc == 1) {
        const int64_t range[5] = {node, q->level, q->from_s, q->to_s, q->max + 1};
        rc = each(f, range, add_row, &r, e);
    }
    *rows = r.list;
    *n = r.n;
    return rc;
}
