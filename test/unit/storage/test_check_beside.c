/* SPDX-License-Identifier: MIT
 *
 * The check of a large database after a crash goes on beside the daemon's work. "Large" is anything
 * here.
 */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"
#include "test/unit/support/says.h"

static int start_large(void **state)
{
    fx_start_empty(state);
    struct fx *f = *state;
    f->large_bytes = 1;
    fx_fill_and_close(f);
    return 0;
}

static int mark_of(struct fx *f)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT clean_close FROM meta", -1, &s, NULL);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int mark = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return mark;
}

/* As a daemon leaves it that was killed. */
static void set_mark(struct fx *f, enum close_mark mark)
{
    sqlite3 *db;
    char sql[64];
    snprintf(sql, sizeof sql, "UPDATE meta SET clean_close = %d", (int)mark);
    assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

#define LARGE_DB_TEST(name) TEST_IN(name, struct fx *f, *state, start_large, fx_end)

LARGE_DB_TEST(test_a_whole_one_is_used_and_checked_meanwhile)
{
    set_mark(f, CLOSE_NONE);
    fx_open(f);
    assert_non_null(f->st->beside);
    fx_add_job(f, "meanwhile");
    assert_false(fx_flush(f).failed);
    while (f->st->beside)
        uv_run(&f->loop, UV_RUN_ONCE);
    fx_flush(f);
    assert_int_equal(mark_of(f), CLOSE_NONE);
    fx_close(f);
    assert_int_equal(mark_of(f), CLOSE_IN_ORDER);
    fx_open(f);
    assert_null(f->st->beside); /* it was closed in order */
}

LARGE_DB_TEST(test_a_check_that_was_cut_off_is_done_before_it_is_used)
{
    set_mark(f, CLOSE_NONE);
    fx_open(f);
    fx_close(f);
    assert_int_equal(mark_of(f), CLOSE_UNCHECKED);
    fx_damage_page(f);
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_says(f->e.msg, "quick_check");
}

LARGE_DB_TEST(test_a_copy_is_checked_at_once)
{
    set_mark(f, CLOSE_NONE);
    fx_damage_page(f);
    assert_int_equal(st_check_copy(f->db, f->key, &f->e), -1);
}

/* Of the size that is large by default, because its file ends in a hole. */
LARGE_DB_TEST(test_a_large_copy_is_checked_although_it_was_closed_in_order)
{
    fx_damage_page(f);
    assert_int_equal(truncate(f->db, 300LL << 20), 0);
    assert_int_equal(mark_of(f), CLOSE_IN_ORDER);
    assert_int_equal(st_check_copy(f->db, f->key, &f->e), -1);
    assert_says(f->e.msg, "quick_check");
}

/* In a child: opens the damaged database, and writes until it is ended. */
static void child(struct fx *f)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    fx_loop_open(f); /* a loop does not survive a fork */
    if (fx_try_open(f) < 0)
        _exit(3);
    fx_flush(f);
    while (f->st->beside)
        uv_run(&f->loop, UV_RUN_ONCE);
    _exit(4);
}

LARGE_DB_TEST(test_damage_ends_the_process_and_is_refused_from_then_on)
{
    int status;
    set_mark(f, CLOSE_NONE);
    fx_damage_page(f);
    fx_loop_close(f);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(f);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    fx_loop_open(f);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_int_equal(fx_try_open(f), -1);
    f->st = NULL;
    assert_says(f->e.msg, "damaged");
}
