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
    const struct st_migration list[] = {{.version = 999, .name = "next", .sql = sql}};
    fx_flush(f);
    return st_migrate_by(f->st, list, 1, &f->e);
}

static void test_a_table_made_anew_keeps_its_children(void **state)
{
    struct fx *f = *state;
    fx_add_job(f, "j");
    ok(f, migrate(f, "CREATE TABLE experiment_new (id INTEGER PRIMARY KEY AUTOINCREMENT, "
                     "workspace_id INTEGER NOT NULL REFERENCES workspace (id), name TEXT NOT NULL) "
                     "STRICT;"
                     "INSERT INTO experiment_new SELECT id, workspace_id, name FROM experiment;"
                     "DROP TABLE experiment;"
                     "ALTER TABLE experiment_new RENAME TO experiment;"));
    assert_int_equal(number(f, "SELECT count(*) FROM job"), 1);
    assert_int_equal(number(f, "PRAGMA user_version"), 999);
    assert_int_equal(number(f, "PRAGMA foreign_keys"), 1);
}

static void test_one_that_leaves_a_row_pointing_nowhere_is_undone(void **state)
{
    struct fx *f = *state;
    fx_add_job(f, "j");
    int64_t version = number(f, "PRAGMA user_version");
    assert_int_equal(migrate(f, "DELETE FROM experiment; CREATE TABLE extra (x) "), -1);
    assert_int_equal(f->e.code, ERR_STORAGE);
    assert_non_null(strstr(f->e.msg, "migration next"));
    assert_non_null(strstr(f->e.msg, "points to no experiment"));
    assert_int_equal(number(f, "SELECT count(*) FROM experiment"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
    assert_int_equal(number(f, "PRAGMA user_version"), version);
    assert_int_equal(number(f, "PRAGMA foreign_keys"), 1);
    fx_add_job(f, "still works");
}

static void test_one_that_fails_in_the_middle_is_undone(void **state)
{
    struct fx *f = *state;
    assert_int_equal(migrate(f, "CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1)"), -1);
    assert_int_equal(number(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
    assert_int_equal(number(f, "PRAGMA foreign_keys"), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fx_start, fx_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_table_made_anew_keeps_its_children),
        T(test_one_that_leaves_a_row_pointing_nowhere_is_undone),
        T(test_one_that_fails_in_the_middle_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
