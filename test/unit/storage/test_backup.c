/* SPDX-License-Identifier: MIT
 *
 * A copy of a database of several pieces, while another process writes to it.
 */
#include <sqlite3.h>

#include "test/unit/storage/fixture.h"

#define ROWS 32 /* of 1 MiB each */

struct telling {
    struct sqlite3 *db; /* of the other process */
    int64_t done, all;
    int times;
};

static int64_t count(struct sqlite3 *db)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM big", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

static void run(struct sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void tell(void *ctx, int64_t done, int64_t all)
{
    struct telling *t = ctx;
    assert_true(done > t->done && done <= all);
    t->done = done;
    t->all = all;
    t->times++;
    run(t->db, "INSERT INTO big VALUES (zeroblob(1 << 20))");
}

DB_TEST(test_a_copy_is_of_the_instant_when_it_began_whatever_is_written_meanwhile)
{
    struct telling t = {.db = NULL};
    struct sqlite3 *made;
    char copy[120];
    snprintf(copy, sizeof copy, "%s/copy.db", f->dir);
    fx_flush(f);
    assert_int_equal(sqlite3_open(f->db, &t.db), SQLITE_OK);
    run(t.db, "CREATE TABLE big (b BLOB)");
    for (int i = 0; i < ROWS; i++)
        run(t.db, "INSERT INTO big VALUES (zeroblob(1 << 20))");
    ok(f, st_backup(f->db, copy, &(struct st_copying){tell, &t}, &f->e));
    assert_true(t.times >= 2);
    assert_true(t.all >= ROWS << 20);
    assert_int_equal(count(t.db), ROWS + t.times);
    assert_int_equal(sqlite3_open(copy, &made), SQLITE_OK);
    assert_int_equal(count(made), ROWS);
    sqlite3_close(made);
    sqlite3_close(t.db);
}

/* A second backup to the same file, which begins while the first is being written. */
struct second {
    struct fx *f;
    const char *copy;
    int times;
};

static void back_up_too(void *ctx, int64_t done, int64_t all)
{
    struct second *s = ctx;
    struct err e = {0};
    (void)done;
    (void)all;
    s->times++;
    assert_int_equal(st_backup(s->f->db, s->copy, NULL, &e), -1);
    assert_non_null(strstr(e.msg, "another backup is writing"));
}

DB_TEST(test_a_second_backup_to_the_same_file_leaves_the_first_alone)
{
    struct sqlite3 *db;
    char copy[120];
    snprintf(copy, sizeof copy, "%s/copy.db", f->dir);
    struct second second = {.f = f, .copy = copy};
    fx_flush(f);
    assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
    run(db, "CREATE TABLE big (b BLOB)");
    for (int i = 0; i < ROWS; i++)
        run(db, "INSERT INTO big VALUES (zeroblob(1 << 20))");
    sqlite3_close(db);
    ok(f, st_backup(f->db, copy, &(struct st_copying){back_up_too, &second}, &f->e));
    assert_true(second.times >= 2);
    assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK);
    assert_int_equal(count(db), ROWS);
    sqlite3_close(db);
}
