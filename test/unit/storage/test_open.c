/* SPDX-License-Identifier: MIT
 *
 * Opening: what is made, what is refused (and left alone), and secrets at rest.
 */
#include <fcntl.h>
#include <sqlite3.h>

#include "test/unit/storage/fixture.h"

#include <dirent.h>
#include <sys/stat.h>

/* --- helpers --------------------------------------------------------------------------------- */

static char *slurp(struct fx *f, const char *path, size_t *len)
{
    char *data;
    ok(f, fs_read(path, 64 << 20, &data, len, &f->e));
    return data;
}

/* Names, sizes, times and bytes of every file beside the database, as one text. */
static char *snapshot(struct fx *f)
{
    struct dirent **names;
    int n = scandir(f->dir, &names, NULL, alphasort);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < n; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", f->dir, names[i]->d_name);
        struct stat s;
        stat(path, &s);
        if (S_ISREG(s.st_mode) && strcmp(names[i]->d_name, "log") != 0) {
            size_t len;
            FREED char *data = slurp(f, path, &len);
            unsigned char hash[crypto_generichash_BYTES];
            crypto_generichash(hash, sizeof hash, (unsigned char *)data, len, NULL, 0);
            fprintf(out, "%s %zu %ld.%09ld ", names[i]->d_name, len, (long)s.st_mtim.tv_sec,
                    s.st_mtim.tv_nsec);
            for (size_t k = 0; k < sizeof hash; k++)
                fprintf(out, "%02x", hash[k]);
            fputc('\n', out);
        }
        free(names[i]);
    }
    free(names);
    fclose(out);
    return text;
}

static void exec_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *msg = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &msg) != SQLITE_OK)
        fail_msg("%s: %s", sql, msg);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void expect_refused_untouched(struct fx *f, enum err_code code, const char *says)
{
    FREED char *before = snapshot(f);
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_int_equal(f->e.code, code);
    assert_says(f->e.msg, says);
    FREED char *after = snapshot(f);
    assert_string_equal(before, after);
}

/* --- a new one ------------------------------------------------------------------------------- */

EMPTY_DB_TEST(test_fresh)
{
    fx_open(f);
    fx_flush(f);
    struct st_peek p;
    ok(f, st_peek(f->db, &p, &f->e));
    assert_true(p.exists);
    assert_int_equal(p.application_id, ST_APPLICATION_ID);
    assert_int_equal(p.user_version, st_schema_version());
    struct stat s;
    assert_int_equal(stat(f->key, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_int_equal(s.st_size, 32);
    assert_int_equal(stat(f->db, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    fx_reopen(f);
    char wal[128];
    fx_close(f);
    snprintf(wal, sizeof wal, "%s-wal", f->db);
    assert_int_not_equal(access(wal, F_OK), 0); /* everything is in the one file */
    fx_open(f);
}

EMPTY_DB_TEST(test_no_directory)
{
    snprintf(f->db, sizeof f->db, "%s/none/state.db", f->dir);
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_int_equal(f->e.code, ERR_STORAGE);
    assert_says(f->e.msg, f->db);
}

/* --- newer and foreign databases -------------------------------------------------------------- */

EMPTY_DB_TEST(test_newer_is_refused_untouched)
{
    fx_open(f);
    fx_close(f);
    exec_sql(f->db, "PRAGMA user_version = 7777");
    expect_refused_untouched(f, ERR_SCHEMA_TOO_NEW, "7777");
}

/* After a crash the newer version number may stand in the WAL alone. */
EMPTY_DB_TEST(test_newer_in_the_wal_is_refused_untouched)
{
    fx_open(f);
    fx_close(f);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 7777;"
                                  "CREATE TABLE future (x)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    /* What a crash leaves: copies of the files as they are while the other one is open. */
    char from[128], to[128], *data;
    static const char *const ends[] = {"", "-wal"};
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof from, "%s%s", f->db, ends[i]);
        snprintf(to, sizeof to, "%s/crashed.db%s", f->dir, ends[i]);
        size_t len;
        data = slurp(f, from, &len);
        ok(f, fs_write_atomic(to, data, len, 0600, &f->e));
        free(data);
    }
    sqlite3_close(db);
    snprintf(f->db, sizeof f->db, "%s/crashed.db", f->dir);
    struct st_peek p;
    ok(f, st_peek(f->db, &p, &f->e));
    assert_int_equal(p.user_version, 7777);
    expect_refused_untouched(f, ERR_SCHEMA_TOO_NEW, "7777");
    /* A WAL cut inside its last commit no longer says so: SQLite would not read it either. */
    char wal[160];
    snprintf(wal, sizeof wal, "%s-wal", f->db);
    assert_int_equal(truncate(wal, 32 + 24 + 100), 0);
    ok(f, st_peek(f->db, &p, &f->e));
    assert_int_equal(p.user_version, st_schema_version());
}

EMPTY_DB_TEST(test_foreign_is_refused_untouched)
{
    exec_sql(f->db, "PRAGMA application_id = 99; CREATE TABLE t (x)");
    expect_refused_untouched(f, ERR_CONFIG, "another program");
}

/* --- an older one ---------------------------------------------------------------------------- */

/* Versions before 1.0.0 numbered their schemas from 1 to 50. */
EMPTY_DB_TEST(test_older_than_1_0_0_is_refused_untouched)
{
    static const char *const marks[] = {"PRAGMA user_version = 1", "PRAGMA user_version = 50"};
    static const char *const says[] = {"before 1.0.0 (schema 1)", "before 1.0.0 (schema 50)"};
    fx_open(f);
    fx_close(f);
    for (int i = 0; i < 2; i++) {
        exec_sql(f->db, marks[i]);
        expect_refused_untouched(f, ERR_SCHEMA_TOO_OLD, says[i]);
    }
}

/* An empty file is somebody's, and becomes a database of the first schema. */
EMPTY_DB_TEST(test_schemas_count_from_1_0_0)
{
    struct st_peek p;
    close(open(f->db, O_WRONLY | O_CREAT | O_EXCL, 0600));
    fx_open(f);
    fx_flush(f);
    ok(f, st_peek(f->db, &p, &f->e));
    assert_true(p.user_version > ST_SCHEMA_BASE);
    assert_int_equal(p.user_version, st_schema_version());
}

/* --- damage ---------------------------------------------------------------------------------- */

static void expect_damaged(struct fx *f, const char *says)
{
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_int_equal(f->e.code, ERR_STORAGE);
    assert_says(f->e.msg, "damaged", says);
}

EMPTY_DB_TEST(test_damaged_header)
{
    fx_fill_and_close(f);
    fx_overwrite(f, 0, "garbage garbage garbage", 23);
    expect_damaged(f, "its first bytes are wrong");
}

EMPTY_DB_TEST(test_damaged_page)
{
    fx_fill_and_close(f);
    fx_damage_page(f);
    expect_damaged(f, "quick_check");
}

EMPTY_DB_TEST(test_dangling_rows)
{
    fx_fill_and_close(f);
    exec_sql(f->db, "PRAGMA foreign_keys = OFF; DELETE FROM experiment");
    expect_damaged(f, "job row");
    assert_says(f->e.msg, "experiment");
}

/* Of a table without row ids, by the first of its keys. */
EMPTY_DB_TEST(test_dangling_allocations)
{
    fx_fill_and_close(f);
    exec_sql(f->db,
             "PRAGMA foreign_keys = OFF; INSERT INTO allocation (run_id, attempt, rank, node_name, "
             "slots, gpus, cores, memory, state, kept, term, task_prefix, created_us, released_us) "
             "VALUES (999, 1, 0, 'n', 1, 0, 0, 0, 3, 0, 0, 'p', 0, 0)");
    expect_damaged(f, "allocation row ? points to no run");
}

EMPTY_DB_TEST(test_cut_short)
{
    fx_fill_and_close(f);
    struct stat s;
    stat(f->db, &s);
    assert_int_equal(truncate(f->db, s.st_size / 2 / 4096 * 4096), 0);
    expect_damaged(f, "");
}

EMPTY_DB_TEST(test_not_a_database)
{
    ok(f, fs_write_atomic(f->db, "hello", 5, 0600, &f->e));
    expect_refused_untouched(f, ERR_STORAGE, "not a database");
}

/* --- secrets and their key -------------------------------------------------------------------- */

#define PLAIN "correct horse battery staple 4711"

static void expect_nowhere(struct fx *f, const char *end)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s", f->db, end);
    if (access(path, F_OK) != 0)
        return;
    size_t len;
    FREED char *data = slurp(f, path, &len);
    if (memmem(data, len, PLAIN, strlen(PLAIN)))
        fail_msg("the secret stands in %s", path);
}

EMPTY_DB_TEST(test_secrets_are_sealed)
{
    fx_open(f);
    f->group = fx_add_group(f, SUB, "g");
    f->workspace = fx_add_workspace(f, f->group, "w");
    f->experiment = fx_add_experiment(f, f->workspace, "x");
    struct cluster c = fx_cluster(f->workspace, "c");
    ok(f, st_cluster_insert(f->st, &c, "{\"a\":\"" PLAIN "\"}", &f->cluster, &f->e));
    struct job j = fx_job(f, "j");
    int64_t id;
    ok(f, st_job_insert(f->st, &j, "{\"b\":\"" PLAIN "\"}", &id, &f->e));
    j.name = "k";
    j.doc = "{\"seen\":\"marker 0815\"}";
    ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    fx_flush(f);
    expect_nowhere(f, "");
    expect_nowhere(f, "-wal");
    char wal[128];
    size_t len;
    snprintf(wal, sizeof wal, "%s-wal", f->db);
    char *data = slurp(f, wal, &len); /* the search does find what is not sealed */
    assert_non_null(memmem(data, len, "marker 0815", 11));
    free(data);
    fx_close(f);
    expect_nowhere(f, "");
    snprintf(wal, sizeof wal, "%s/log", f->dir);
    data = slurp(f, wal, &len);
    assert_null(memmem(data, len, PLAIN, strlen(PLAIN)));
    free(data);
}

EMPTY_DB_TEST(test_wrong_key)
{
    fx_fill_and_close(f);
    char other[32] = "this is another key of 32 bytes";
    ok(f, fs_write_atomic(f->key, other, 32, 0600, &f->e));
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_int_equal(f->e.code, ERR_CONFIG);
    assert_says(f->e.msg, f->key, "does not belong");
    ok(f, fs_write_atomic(f->key, other, 31, 0600, &f->e));
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_says(f->e.msg, "31 bytes");
}

EMPTY_DB_TEST(test_lost_key)
{
    fx_fill_and_close(f);
    unlink(f->key);
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_int_equal(f->e.code, ERR_CONFIG);
    assert_says(f->e.msg, "missing");
    assert_int_not_equal(access(f->key, F_OK), 0); /* and none was made in its place */
}

/* --- a large database ------------------------------------------------------------------------- */

EMPTY_DB_TEST(test_clean_close_is_marked)
{
    fx_fill_and_close(f);
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT clean_close FROM meta", -1, &s, NULL);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(s, 0), 1);
    sqlite3_finalize(s);
    sqlite3_close(db);
    fx_open(f);
    fx_flush(f);
    sqlite3_prepare_v2(f->st->db, "SELECT clean_close FROM meta", -1, &s, NULL);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(s, 0), 0);
    sqlite3_finalize(s);
}

static void on_durable(void *ctx, const struct err *why)
{
    assert_null(why);
    ++*(int *)ctx;
}

/* Of a database that goes with the daemon nothing waits for a disk, or for another thread. */
EMPTY_DB_TEST(test_without_sync_a_turn_is_durable_at_its_end)
{
    int times = 0;
    f->without_sync = true;
    fx_open(f);
    st_turn_end(f->st);
    ok(f, st_touch(f->st, &f->e));
    st_when_durable(f->st, on_durable, &times);
    assert_int_equal(times, 0);
    st_turn_end(f->st);
    assert_int_equal(times, 1);
    assert_false(st_has_pending(f->st));
    char wal[112];
    snprintf(wal, sizeof wal, "%s-wal", f->db);
    assert_int_not_equal(access(wal, F_OK), 0);
}
