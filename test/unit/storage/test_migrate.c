/* SPDX-License-Identifier: MIT
 *
 * Migrations: foreign keys are off while one runs, and hold before it is committed.
 */
#include <sqlite3.h>

#include "test/unit/storage/fixture.h"

static int64_t number(struct fx *f, const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(f->st->db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

/* Ends the turn, as migrations have transactions of their own. */
static int migrate(struct fx *f, const char *sql)
{
    const struct st_migration list[] = {
        {.version = ST_SCHEMA_BASE + 999, .name = "next", .sql = sql}};
    fx_flush(f);
    return st_migrate_by(f->st, list, 1, &f->e);
}

DB_TEST(test_a_table_made_anew_keeps_its_children)
{
    fx_add_job(f, "j");
    ok(f, migrate(f, "CREATE TABLE experiment_new (id INTEGER PRIMARY KEY AUTOINCREMENT, "
                     "workspace_id INTEGER NOT NULL REFERENCES workspace (id), name TEXT NOT NULL) "
                     "STRICT;"
                     "INSERT INTO experiment_new SELECT id, workspace_id, name FROM experiment;"
                     "DROP TABLE experiment;"
                     "ALTER TABLE experiment_new RENAME TO experiment;"));
    assert_int_equal(number(f, "SELECT count(*) FROM job"), 1);
    assert_int_equal(number(f, "PRAGMA user_version"), ST_SCHEMA_BASE + 999);
    assert_int_equal(number(f, "PRAGMA foreign_keys"), 1);
}

DB_TEST(test_one_that_leaves_a_row_pointing_nowhere_is_undone)
{
    fx_add_job(f, "j");
    int64_t version = number(f, "PRAGMA user_version");
    assert_int_equal(migrate(f, "DELETE FROM experiment; CREATE TABLE extra (x) "), -1);
    assert_int_equal(f->e.code, ERR_STORAGE);
    assert_says(f->e.msg, "migration next", "points to no experiment");
    assert_int_equal(number(f, "SELECT count(*) FROM experiment"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
    assert_int_equal(number(f, "PRAGMA user_version"), version);
    assert_int_equal(number(f, "PRAGMA foreign_keys"), 1);
    fx_add_job(f, "still works");
}

DB_TEST(test_one_that_fails_in_the_middle_is_undone)
{
    assert_int_equal(migrate(f, "CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1)"), -1);
    assert_int_equal(number(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
    assert_int_equal(number(f, "PRAGMA foreign_keys"), 1);
}

/* --- what a terminal is told ------------------------------------------------------------------ */

struct told_steps {
    int times, ends;
    const char *last; /* NULL: nothing goes on */
};

static void note(void *ctx, const char *doing)
{
    struct told_steps *t = ctx;
    t->times += doing != NULL;
    t->ends += doing == NULL;
    t->last = doing;
    if (doing)
        assert_string_equal(doing, "migrating the database");
}

#define LONG                                                                                       \
    "CREATE TABLE extra (x); INSERT INTO extra WITH RECURSIVE n (x) AS "                           \
    "(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10000) SELECT x FROM n;"

DB_TEST(test_a_long_one_is_told_while_it_lasts)
{
    struct told_steps told = {.last = "nothing"};
    f->st->told = &(struct st_opening){note, &told};
    ok(f, migrate(f, LONG));
    assert_true(told.times > 10);
    assert_int_equal(told.ends, 1);
    assert_null(told.last);
}

DB_TEST(test_one_that_fails_is_told_to_have_ended)
{
    struct told_steps told = {.last = "nothing"};
    f->st->told = &(struct st_opening){note, &told};
    assert_int_equal(migrate(f, LONG "INSERT INTO nowhere VALUES (1)"), -1);
    assert_true(told.times > 10);
    assert_int_equal(told.ends, 1);
    assert_null(told.last);
}

/* --- the file that the build made ------------------------------------------------------------- */

/* Each row of what SQL makes, as a line; caller frees. */
static char *lines_of(sqlite3 *db, const char *sql)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const unsigned char *cell = sqlite3_column_text(s, i);
            fprintf(out, "%s%c", cell ? (const char *)cell : "NULL",
                    i + 1 < sqlite3_column_count(s) ? '|' : '\n');
        }
    sqlite3_finalize(s);
    fclose(out);
    return text;
}

static void expect_same(sqlite3 *a, sqlite3 *b, const char *sql)
{
    FREED char *in_a = lines_of(a, sql), *in_b = lines_of(b, sql);
    assert_string_equal(in_a, in_b);
}

/* An empty file is not replaced, so that each migration is applied to it. */
static void open_migrated(struct fx *f)
{
    close(open(f->db, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    fx_open(f);
    fx_flush(f);
}

EMPTY_DB_TEST(test_a_new_file_is_what_all_migrations_make)
{
    sqlite3 *made;
    char copy[120];
    fx_open(f);
    snprintf(copy, sizeof copy, "%s/made.db", f->dir);
    fx_close(f);
    assert_int_equal(rename(f->db, copy), 0);
    assert_int_equal(unlink(f->key), 0);
    open_migrated(f);
    assert_int_equal(sqlite3_open(copy, &made), SQLITE_OK);
    static const char tables[] =
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    static const char *const same[] = {
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
        "SELECT name, seq FROM sqlite_sequence",
        "PRAGMA user_version",
        "PRAGMA application_id",
        "PRAGMA page_size",
        "PRAGMA encoding",
        "PRAGMA auto_vacuum",
        "PRAGMA journal_mode"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        expect_same(made, f->st->db, same[i]);
    char *names = lines_of(made, tables), *save;
    for (char *name = strtok_r(names, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
        char count[200];
        snprintf(count, sizeof count, "SELECT '%s', count(*) FROM \"%s\"", name, name);
        expect_same(made, f->st->db, count);
    }
    free(names);
    assert_int_equal(sqlite3_close(made), SQLITE_OK);
}
