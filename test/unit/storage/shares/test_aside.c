/* SPDX-License-Identifier: MIT
 *
 * Files in `.aside` that no row names go after a week, and no other file does.
 */
#include "storage/shares/shares_priv.h"

#include "lib/loop_uv.h"
#include "model/spec.h"
#include "test/unit/storage/shares/room.h"

#define LONG_AGO INT64_C(1)
#define TOMORROW (wakes_wall(w->wakes) + DAY_US)
#define LIMIT    20000 /* turns */

/* As rows have it. */
static const char *aside(struct shares_room *w, const char *file)
{
    struct share s;
    assert_true(find(w, "box", &s));
    return arena_printf(&w->f->a, SHARE_ASIDE "/%lld/%s", (long long)s.id, file);
}

/* Below the storage directory. */
static const char *below(struct shares_room *w, const char *file)
{
    return arena_concat(&w->f->a, "acct/", aside(w, file));
}

static void make_box(struct shares_room *w)
{
    assert_int_equal(make(w, "box"), ERR_NONE);
    assert_int_equal(mkdir(path(w, "acct/.aside"), 0755), 0);
    assert_int_equal(mkdir(path(w, below(w, "")), 0755), 0);
}

static struct share_item item(struct shares_room *w, const char *file)
{
    struct share s;
    assert_true(find(w, "box", &s));
    return (struct share_item){.share_id = s.id,
                               .path = file,
                               .aside = file ? aside(w, file) : NULL,
                               .type = BLOB_BLOCK,
                               .lease_state = LEASE_AVAILABLE,
                               .created_us = T0};
}

static bool is_marked(struct shares_room *w, const char *file)
{
    struct stat st;
    return lstat(path(w, below(w, file)), &st) == 0 && (st.st_mode & S_ISVTX);
}

static bool is_idle(const struct shares_room *w)
{
    const struct storage *st = w->f->st;
    return !loop_uv_has_work(w->f->tools) && st->turn.n + st->waiting.n + st->synced.n == 0;
}

static void wait_idle(struct shares_room *w)
{
    int turns = 0;
    do
        turn(w);
    while (!is_idle(w) && ++turns < LIMIT);
    assert_true(is_idle(w));
}

/* What was marked before is old. */
static void sweep(struct shares_room *w, int64_t before_us)
{
    shares_sweep_aside(w->shares, before_us);
    wait_idle(w);
}

ROOM_TEST(test_a_file_without_a_row_is_marked_and_goes_a_week_later)
{
    struct stat was, is;
    make_box(w);
    write_file(w, below(w, "lost"));
    assert_int_equal(stat(path(w, below(w, "lost")), &was), 0);
    sweep(w, TOMORROW);
    assert_true(is_marked(w, "lost"));
    assert_int_equal(stat(path(w, below(w, "lost")), &is), 0);
    assert_memory_equal(&was.st_mtim, &is.st_mtim, sizeof was.st_mtim);
    sweep(w, LONG_AGO);
    assert_true(is_marked(w, "lost"));
    sweep(w, TOMORROW);
    assert_false(there(w, below(w, "lost")));
}

ROOM_TEST(test_each_kind_of_row_keeps_its_file)
{
    static const char *const files[] = {"blob", "snapshot", "placed", "before", "kept"};
    struct fx *f = w->f;
    make_box(w);
    const struct share_item blob = item(w, "blob");
    const struct blob_snapshot snapshot = {.taken_us = T0, .item = item(w, "snapshot")};
    const struct item_change change = {
        .id = 1, .kind = CHANGE_REPLACES, .place = aside(w, "placed"), .was = item(w, "before")};
    const struct kept_put put = {.id = 2,
                                 .share_id = blob.share_id,
                                 .path = "kept",
                                 .aside = aside(w, "kept"),
                                 .boot = "",
                                 .bytes = "x",
                                 .n = 1};
    ok(f, st_item_put(f->st, &blob, &f->e));
    ok(f, st_snapshot_put(f->st, &snapshot, &f->e));
    ok(f, st_item_change_add(f->st, &change, &f->e));
    ok(f, st_kept_put_add(f->st, &put, &f->e));
    write_file(w, below(w, "lost"));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        write_file(w, below(w, files[i]));
    sweep(w, TOMORROW);
    sweep(w, TOMORROW);
    assert_false(there(w, below(w, "lost")));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_true(there(w, below(w, files[i])) && !is_marked(w, files[i]));
}

ROOM_TEST(test_more_files_than_one_step_lists)
{
    enum { FILES = 1203 };
    struct fx *f = w->f;
    make_box(w);
    for (int i = 0; i < FILES; i++) {
        const char *name = arena_printf(&f->a, "f%d", i);
        const struct share_item blob = item(w, name);
        write_file(w, below(w, name));
        if (i % 2)
            ok(f, st_item_put(f->st, &blob, &f->e));
    }
    sweep(w, TOMORROW);
    sweep(w, TOMORROW);
    for (int i = 0; i < FILES; i++)
        assert_int_equal(there(w, below(w, arena_printf(&f->a, "f%d", i))), i % 2);
}

/* What a turn removes is there again if the turn is lost. */
ROOM_TEST(test_a_row_whose_removal_is_lost_keeps_its_file)
{
    struct fx *f = w->f;
    make_box(w);
    const struct share_item blob = item(w, "blob");
    write_file(w, below(w, "blob"));
    sweep(w, TOMORROW);
    assert_true(is_marked(w, "blob"));
    ok(f, st_item_put(f->st, &blob, &f->e));
    turn(w);
    ok(f, st_item_remove(f->st, blob.share_id, blob.path, &f->e));
    size_t n = f->st->turn.n;
    shares_sweep_aside(w->shares, TOMORROW);
    for (int i = 0; i < LIMIT && f->st->turn.n == n; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        usleep(500);
    }
    assert_int_equal(f->st->turn.n, n + 1);
    lose_turn(w);
    wait_idle(w);
    assert_true(there(w, below(w, "blob")));
}

/* As a backup of the database that comes and goes. */
ROOM_TEST(test_a_week_begins_anew_where_a_row_named_the_file_meanwhile)
{
    struct fx *f = w->f;
    make_box(w);
    const struct share_item blob = item(w, "blob");
    write_file(w, below(w, "blob"));
    sweep(w, TOMORROW);
    assert_true(is_marked(w, "blob"));
    ok(f, st_item_put(f->st, &blob, &f->e));
    sweep(w, TOMORROW);
    assert_true(there(w, below(w, "blob")) && !is_marked(w, "blob"));
    ok(f, st_item_remove(f->st, blob.share_id, blob.path, &f->e));
    sweep(w, TOMORROW);
    assert_true(is_marked(w, "blob"));
}

ROOM_TEST(test_an_unfinished_file_without_a_writer_goes_at_once)
{
    make_box(w);
    write_file(w, below(w, ".batchaid-unfinished-0123456789abcdef"));
    sweep(w, LONG_AGO);
    assert_false(there(w, below(w, ".batchaid-unfinished-0123456789abcdef")));
}

ROOM_TEST(test_what_is_no_file_of_an_account_stays)
{
    make_box(w);
    assert_int_equal(mkdir(path(w, below(w, "folder")), 0755), 0);
    assert_int_equal(mkdir(path(w, ".deleted"), 0755), 0);
    assert_int_equal(mkdir(path(w, ".deleted/.aside"), 0755), 0);
    assert_int_equal(mkdir(path(w, ".deleted/.aside/1"), 0755), 0);
    write_file(w, ".deleted/.aside/1/file");
    write_file(w, "acct/.aside/file");
    sweep(w, TOMORROW);
    sweep(w, TOMORROW);
    assert_true(there(w, below(w, "folder")));
    assert_true(there(w, ".deleted/.aside/1/file"));
    assert_true(there(w, "acct/.aside/file"));
}
