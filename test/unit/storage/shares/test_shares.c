/* SPDX-License-Identifier: MIT
 *
 * Shares as rows and folders: made, deleted, restored, purged, and each of it gone on with after a
 * start that follows a crash.
 */
#include "model/spec.h"
#include "storage/detachment.h"
#include "test/unit/storage/shares/room.h"

ROOM_TEST(a_folder_is_open_to_all)
{
    struct stat st;
    struct share s;
    mode_t usual = umask(0077);
    assert_int_equal(make(w, "data"), ERR_NONE);
    umask(usual);
    assert_int_equal(stat(path(w, "acct/files/data"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0777);
    assert_int_equal(stat(path(w, "acct"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_true(find(w, "data", &s));
    assert_int_equal(s.state, SHARE_THERE);
    assert_string_equal(s.metadata, "{\"k\":\"v\"}");
    assert_int_equal(make(w, "data"), ERR_CONFLICT);
}

ROOM_TEST(a_folder_that_is_there_is_taken)
{
    struct err e;
    struct stat st;
    assert_int_equal(fs_mkdirs(path(w, "acct/files/old"), 0700, &e), 0);
    write_file(w, "acct/files/old/kept");
    assert_int_equal(make(w, "old"), ERR_NONE);
    assert_true(there(w, "acct/files/old/kept"));
    assert_int_equal(stat(path(w, "acct/files/old"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700); /* its owner said so */
}

ROOM_TEST(one_that_cannot_be_made_is_not_there)
{
    struct err e;
    struct share s;
    assert_int_equal(fs_mkdirs(path(w, "acct/files"), 0755, &e), 0);
    write_file(w, "acct/files/plain");
    assert_int_equal(symlink("nowhere", path(w, "acct/files/broken")), 0);
    assert_int_equal(make(w, "plain"), ERR_IO);
    assert_int_equal(make(w, "broken"), ERR_IO);
    assert_false(find(w, "plain", &s));
    assert_false(find(w, "broken", &s));
}

/* The log of what fails is for who runs the daemon: nobody waits for a share of a group that a
 * reset has detached, whose folder was renamed under the worker. */
ROOM_TEST(one_whose_account_is_detached_meanwhile_fails_in_silence)
{
    struct answer a = {0};
    struct share s = named(w, "plain");
    struct err e;
    char *log;
    assert_int_equal(fs_mkdirs(path(w, "acct/files"), 0755, &e), 0);
    write_file(w, "acct/files/plain");
    ok(w->f, shares_make(w->shares, &s, T0, on_done, &a, &w->f->e));
    while (wakes_woken(w->wakes, &woken_share) == 0) {
        st_turn_end(w->f->st);
        uv_run(&w->f->loop, UV_RUN_NOWAIT);
    }
    wakes_turn(w->wakes); /* the worker has it, and what it says comes with the next uv_run() */
    ok(w->f, st_group_detach(w->f->st, w->f->group, T0, &w->f->e));
    wait_for(w, &a);
    assert_int_equal(a.code, ERR_IO);
    ok(w->f, fs_read(arena_printf(&w->f->a, "%s/log", w->f->dir), 1 << 20, &log, NULL, &e));
    assert_says(log, "debug share.folder_failed");
    assert_says_not(log, "warn");
    free(log);
}

ROOM_TEST(what_is_deleted_is_restored)
{
    struct share s;
    assert_int_equal(make(w, "data"), ERR_NONE);
    write_file(w, "acct/files/data/kept");
    assert_int_equal(delete_it(w, "data", T0 + 1), ERR_NONE);
    assert_false(there(w, "acct/files/data"));
    assert_false(find(w, "data", &s));
    int64_t id = deleted_id(w, 1);
    assert_int_equal(make(w, "data"), ERR_NONE);
    assert_false(there(w, "acct/files/data/kept"));
    assert_int_equal(restore(w, id), ERR_CONFLICT);
    assert_int_equal(delete_it(w, "data", T0 + 2), ERR_NONE);
    assert_int_equal(restore(w, id), ERR_NONE);
    assert_true(there(w, "acct/files/data/kept"));
    assert_true(find(w, "data", &s));
    assert_int_equal(s.id, id);
    assert_int_equal(s.deleted_us, 0);
    assert_string_equal(s.metadata, "{\"k\":\"v\"}");
    assert_int_equal(restore(w, id), ERR_RESOURCE_NOT_FOUND);
    assert_int_equal(restore(w, 4711), ERR_RESOURCE_NOT_FOUND);
}

/* A clock may stand. */
ROOM_TEST(one_after_the_other_is_deleted_at_one_instant)
{
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(make(w, "data"), ERR_NONE);
        write_file(w, arena_printf(&w->f->a, "acct/files/data/f%zu", i));
        assert_int_equal(delete_it(w, "data", T0 + 1), ERR_NONE);
    }
    int64_t last = deleted_id(w, 3);
    assert_int_equal(restore(w, last), ERR_NONE);
    assert_true(there(w, "acct/files/data/f3"));
    assert_false(there(w, "acct/files/data/f1"));
}

ROOM_TEST(what_an_earlier_daemon_put_aside_is_restored)
{
    assert_int_equal(make(w, "data"), ERR_NONE);
    write_file(w, "acct/files/data/kept");
    assert_int_equal(delete_it(w, "data", T0 + 1), ERR_NONE);
    const char *by_time =
        arena_printf(&w->f->a, ".deleted/acct.files.data.%lld", (long long)(T0 + 1));
    const char *away = arena_printf(&w->f->a, "%s.1", by_time);
    assert_int_equal(rename(path(w, away), path(w, by_time)), 0);
    assert_int_equal(restore(w, 1), ERR_NONE);
    assert_true(there(w, "acct/files/data/kept"));
    assert_false(there(w, by_time));
}

ROOM_TEST(a_link_is_moved_as_a_link)
{
    struct err e;
    assert_int_equal(fs_mkdirs(path(w, "elsewhere"), 0755, &e), 0);
    assert_int_equal(fs_mkdirs(path(w, "acct/files"), 0755, &e), 0);
    write_file(w, "elsewhere/precious");
    assert_int_equal(symlink(path(w, "elsewhere"), path(w, "acct/files/link")), 0);
    assert_int_equal(make(w, "link"), ERR_NONE);
    assert_int_equal(delete_it(w, "link", T0 + 1), ERR_NONE);
    assert_false(there(w, "acct/files/link"));
    assert_true(there(w, "elsewhere/precious"));
    int64_t id = deleted_id(w, 1);
    assert_int_equal(restore(w, id), ERR_NONE);
    assert_true(there(w, "acct/files/link/precious"));
    assert_int_equal(delete_it(w, "link", T0 + 2), ERR_NONE);
    crash(w, 0);
    go_on(w);
    until(w, id, 0);
    assert_true(there(w, "elsewhere/precious"));
}

ROOM_TEST(what_is_mounted_is_only_detached)
{
    assert_int_equal(make(w, "nas"), ERR_NONE);
    const char *at = path(w, "acct/files/nas");
    if (mount("none", at, "tmpfs", 0, NULL) < 0)
        skip(); /* needs root, and a kernel that lets it */
    write_file(w, "acct/files/nas/precious");
    assert_int_equal(delete_it(w, "nas", T0 + 1), ERR_NONE);
    int64_t id = deleted_id(w, 1);
    crash(w, 0);
    go_on(w);
    for (int i = 0; i < 100; i++)
        turn(w);
    bool stays = there(w, "acct/files/nas/precious");
    assert_int_equal(umount(at), 0);
    assert_true(stays);
    assert_int_equal(deleted_id(w, 1), id); /* so that the folder does not become a share again */
}

/* A blob that no file can be called, and a block that waits. */
static const char *add_hidden(struct shares_room *w, const char *share, const char *which)
{
    struct share s;
    struct arena *a = &w->f->a;
    assert_true(find(w, share, &s));
    const char *above = arena_printf(a, "acct/%s", which);
    const char *dir = arena_printf(a, "%s/%lld", above, (long long)s.id);
    mkdir(path(w, above), 0755);
    assert_int_equal(mkdir(path(w, dir), 0755), 0);
    write_file(w, arena_printf(a, "%s/f", dir));
    return dir;
}

ROOM_TEST(what_was_deleted_long_ago_is_purged)
{
    char name[16];
    const char *aside = NULL, *blocks = NULL, *kept = NULL;
    for (int i = 0; i < 45; i++) {
        snprintf(name, sizeof name, "s%d", i);
        assert_int_equal(make(w, name), ERR_NONE);
        if (i < 3)
            write_file(w, arena_printf(&w->f->a, "acct/files/%s/f", name));
        if (i == 0) {
            aside = add_hidden(w, name, SHARE_ASIDE);
            blocks = add_hidden(w, name, SHARE_BLOCKS);
        }
        assert_int_equal(delete_it(w, name, T0 + i), ERR_NONE);
    }
    assert_int_equal(make(w, "young"), ERR_NONE);
    kept = add_hidden(w, "young", SHARE_ASIDE);
    int64_t now = wakes_wall(w->wakes);
    assert_int_equal(delete_it(w, "young", now), ERR_NONE);
    crash(w, DAY_US);
    go_on(w);
    struct share_rows rows = {.n = 0};
    for (int i = 0; i < 20000 && rows.n != 1; i++) {
        turn(w);
        ok(w->f, st_share_deleted(w->f->st, &w->f->a, INT64_MAX, PAGE(100), &rows, &w->f->e));
    }
    assert_int_equal(rows.n, 1);
    assert_string_equal(rows.items[0].name, "young");
    char away[64];
    snprintf(away, sizeof away, ".deleted/acct.files.young.%lld.%lld", (long long)now,
             (long long)rows.items[0].id);
    assert_true(there(w, away) && there(w, kept));
    assert_false(there(w, aside) || there(w, blocks));
    assert_false(there(w, arena_printf(&w->f->a, ".deleted/acct.files.s0.%lld.1", (long long)T0)));
}

/* As after a crash that came before its row was removed: its folder is gone, and another share has
 * its name. */
ROOM_TEST(a_row_that_was_left_goes_though_its_name_is_taken)
{
    struct share s;
    assert_int_equal(make(w, "data"), ERR_NONE);
    assert_int_equal(delete_it(w, "data", T0), ERR_NONE);
    int64_t id = deleted_id(w, 1);
    ok(w->f, fs_remove_tree(path(w, ".deleted"), &w->f->e));
    assert_int_equal(make(w, "data"), ERR_NONE);
    write_file(w, "acct/files/data/kept");
    ok(w->f, st_turn_begin(w->f->st, &w->f->e));
    ok(w->f,
       st_exec(w->f->st,
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) "
               "INSERT INTO share_item SELECT i, 1, 'p' || i, NULL, 0, 0, 0, 0, 1, NULL, "
               "NULL, NULL, NULL, NULL, NULL, 1, NULL, 0, 0, 1 FROM n",
               "items", &w->f->e));
    assert_int_equal(id, 1);
    crash(w, 0);
    go_on(w);
    until(w, id, 0);
    int64_t left = 1;
    ok(w->f, st_query_int(w->f->st, "SELECT count(*) FROM share_item", "items", &left, &w->f->e));
    assert_int_equal(left, 0);
    assert_true(there(w, "acct/files/data/kept"));
    assert_true(find(w, "data", &s));
}

/* The rows as a crash leaves them, with each folder that there may be beside them. */
ROOM_TEST(a_start_goes_on)
{
    struct err e;
    int64_t made, unmade, moved, unmoved, half;
    struct share s = named(w, "made");
    s.public_access = PUBLIC_NONE;
    s.lease_state = LEASE_AVAILABLE;
    s.state = SHARE_MAKING;
    ok(w->f, st_share_insert(w->f->st, &s, &unmade, &w->f->e));
    s.name = "made2";
    ok(w->f, st_share_insert(w->f->st, &s, &made, &w->f->e));
    assert_int_equal(fs_mkdirs(path(w, "acct/files/made2"), 0755, &e), 0);
    s.name = "moved";
    s.state = SHARE_DELETING;
    s.deleted_us = T0;
    ok(w->f, st_share_insert(w->f->st, &s, &moved, &w->f->e));
    assert_int_equal(
        fs_mkdirs(path(w, arena_printf(&w->f->a, ".deleted/acct.files.moved.%lld", (long long)T0)),
                  0700, &e),
        0);
    s.name = "unmoved";
    ok(w->f, st_share_insert(w->f->st, &s, &unmoved, &w->f->e));
    assert_int_equal(fs_mkdirs(path(w, "acct/files/unmoved"), 0755, &e), 0);
    s.name = "half"; /* restored: its folder is back, or not */
    s.state = SHARE_MAKING;
    ok(w->f, st_share_insert(w->f->st, &s, &half, &w->f->e));
    assert_int_equal(
        fs_mkdirs(path(w, arena_printf(&w->f->a, ".deleted/acct.files.half.%lld/x", (long long)T0)),
                  0700, &e),
        0);
    crash(w, INT64_MAX / 2);
    go_on(w);
    until(w, made, SHARE_THERE);
    until(w, unmade, SHARE_THERE);
    until(w, moved, SHARE_DELETED);
    until(w, unmoved, SHARE_DELETED);
    until(w, half, SHARE_THERE);
    assert_true(there(w, "acct/files/made"));
    assert_true(there(w, "acct/files/half/x"));
    assert_false(there(w, "acct/files/unmoved"));
}

ROOM_TEST(an_account_goes_with_all_it_has)
{
    struct answer a = {0};
    struct share s;
    struct storage_account acct;
    assert_int_equal(make(w, "one"), ERR_NONE);
    assert_int_equal(make(w, "two"), ERR_NONE);
    assert_int_equal(delete_it(w, "two", T0 + 1), ERR_NONE);
    ok(w->f, shares_delete_account(w->shares, w->account, T0 + 2, on_done, &a, &w->f->e));
    s = named(w, "one");
    refused(w->f, shares_make(w->shares, &s, T0, NULL, NULL, &w->f->e), ERR_BEING_DELETED);
    wait_for(w, &a);
    assert_int_equal(a.code, ERR_NONE);
    assert_int_equal(st_account_by_name(w->f->st, &w->f->a, "acct", &acct, &w->f->e), 0);
    assert_false(there(w, "acct/files/one"));
    int64_t id = deleted_id(w, 2);
    assert_int_equal(restore(w, id), ERR_RESOURCE_NOT_FOUND);
    assert_int_equal(shares_delete_account(w->shares, w->account, T0, on_done, &a, &w->f->e), -1);
}

ROOM_TEST(an_account_that_goes_gets_no_new_share)
{
    struct answer a = {0};
    struct storage_account acct;
    assert_int_equal(make(w, "one"), ERR_NONE);
    ok(w->f, shares_delete_account(w->shares, w->account, T0 + 1, on_done, &a, &w->f->e));
    assert_int_equal(make(w, "late"), ERR_BEING_DELETED);
    wait_for(w, &a);
    assert_int_equal(a.code, ERR_NONE);
    assert_int_equal(make(w, "late"), ERR_RESOURCE_NOT_FOUND);
    assert_int_equal(st_account_by_name(w->f->st, &w->f->a, "acct", &acct, &w->f->e), 0);
}

/* Its folder is not there yet, or a worker is making it. */
ROOM_TEST(a_share_is_not_made_in_an_account_that_goes_meanwhile)
{
    for (int turns = 0; turns < 4; turns++) {
        struct answer made = {0}, gone = {0};
        const struct share s = named(w, "data");
        ok(w->f, shares_make(w->shares, &s, T0, on_done, &made, &w->f->e));
        for (int i = 0; i < turns && !made.told; i++) {
            wakes_turn(w->wakes);
            st_turn_end(w->f->st);
            uv_run(&w->f->loop, UV_RUN_NOWAIT);
        }
        bool was_made = made.told;
        ok(w->f, shares_delete_account(w->shares, w->account, T0 + 1, on_done, &gone, &w->f->e));
        wait_for(w, &made);
        wait_for(w, &gone);
        assert_int_equal(made.code, was_made ? ERR_NONE : ERR_BEING_DELETED);
        assert_int_equal(gone.code, ERR_NONE);
        assert_false(there(w, "acct/files/data"));
        w->account = fx_add_storage_account(w->f, w->f->group, "acct");
    }
}

/* An earlier daemon made shares in an account after the account was marked. */
ROOM_TEST(an_account_goes_though_a_share_came_after_the_mark)
{
    struct storage_account acct;
    int rc = 1;
    assert_int_equal(make(w, "one"), ERR_NONE);
    ok(w->f, st_turn_begin(w->f->st, &w->f->e));
    ok(w->f, st_exec(w->f->st, "UPDATE storage_account SET prov_state = 5 WHERE name = 'acct'",
                     "mark", &w->f->e));
    crash(w, DAY_US);
    go_on(w);
    wake(w->wakes, &woken_account, w->account);
    for (int i = 0; i < 20000 && rc == 1; i++) {
        turn(w);
        rc = st_account_by_name(w->f->st, &w->f->a, "acct", &acct, &w->f->e);
    }
    assert_int_equal(rc, 0);
    assert_false(there(w, "acct/files/one"));
}

ROOM_TEST(what_is_rolled_back_is_said)
{
    struct answer a = {0}, b = {0}, c = {0};
    struct share s;
    assert_int_equal(make(w, "there"), ERR_NONE);
    assert_true(find(w, "there", &s));
    fx_flush(w->f);
    ok(w->f, shares_delete(w->shares, &s, T0, on_done, &a, &w->f->e));
    s = named(w, "new");
    ok(w->f, shares_make(w->shares, &s, T0, on_done, &b, &w->f->e));
    ok(w->f, shares_delete_account(w->shares, w->account, T0, on_done, &c, &w->f->e));
    lose_turn(w);
    wait_for(w, &a);
    wait_for(w, &b);
    wait_for(w, &c);
    assert_int_equal(a.code, ERR_STORAGE);
    assert_int_equal(b.code, ERR_STORAGE);
    assert_int_equal(c.code, ERR_STORAGE);
    assert_true(find(w, "there", &s));
    assert_int_equal(s.state, SHARE_THERE);
    assert_true(there(w, "acct/files/there"));
}

/* The next share gets the id of the lost one. */
ROOM_TEST(another_share_does_not_answer_for_a_lost_one)
{
    struct answer lost = {0}, made = {0};
    struct share s = named(w, "lost");
    fx_flush(w->f);
    ok(w->f, shares_make(w->shares, &s, T0, on_done, &lost, &w->f->e));
    lose_turn(w);
    s = named(w, "made");
    ok(w->f, shares_make(w->shares, &s, T0, on_done, &made, &w->f->e));
    wait_for(w, &made);
    wait_for(w, &lost);
    assert_int_equal(made.code, ERR_NONE);
    assert_int_equal(lost.code, ERR_STORAGE);
    assert_false(find(w, "lost", &s));
    assert_true(there(w, "acct/files/made"));
}

ROOM_TEST(a_server_that_stops_tells_who_waits)
{
    struct answer a = {0};
    const struct share s = named(w, "late");
    ok(w->f, shares_make(w->shares, &s, T0, on_done, &a, &w->f->e));
    shares_end_requests(w->shares);
    assert_true(a.told);
    assert_int_equal(a.code, ERR_UNAVAILABLE);
}

static int64_t wall_that_is_set(void *ctx)
{
    return time_now_us() + *(const int64_t *)ctx;
}

/* Puts a block of a blob `days` ago. Its directory. */
static const char *stage_block(struct shares_room *w, const char *blob, int days)
{
    struct err e;
    const char *dir = arena_printf(&w->f->a, "acct/" SHARE_BLOCKS "/1/%s", blob);
    const char *block = arena_printf(&w->f->a, "%s/b", dir);
    assert_int_equal(fs_mkdirs(path(w, dir), 0755, &e), 0);
    write_file(w, block);
    const struct timespec at = {.tv_sec = (time_now_us() - days * DAY_US) / 1000000};
    const struct timespec times[] = {at, at};
    assert_int_equal(utimensat(AT_FDCWD, path(w, block), times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, path(w, dir), times, 0), 0);
    return dir;
}

ROOM_TEST(blocks_of_today_stay_when_the_clock_is_set_forward)
{
    int64_t ahead_us = 0;
    struct loop *usual = w->f->tools;
    const struct clock clock = {wall_that_is_set, &ahead_us};
    const char *old = stage_block(w, "old", 8), *young = stage_block(w, "young", 0);
    end(w);
    w->f->tools = loop_uv_create(&w->f->loop, &clock, NULL);
    begin(w, DAY_US);
    ahead_us = 8 * DAY_US;
    go_on(w);
    for (int i = 0; i < 20000 && there(w, old); i++)
        turn(w);
    end(w);
    loop_uv_destroy(w->f->tools);
    w->f->tools = usual;
    begin(w, DAY_US);
    assert_false(there(w, old));
    assert_true(there(w, young));
}

static void note_uncommitted(struct shares_room *w, int64_t share_id, const char *blob, int days)
{
    ok(w->f, st_uncommitted_add(w->f->st, share_id, blob, time_now_us() - days * DAY_US, &w->f->e));
}

static size_t uncommitted(struct shares_room *w, int64_t share_id, struct share_item_rows *rows)
{
    ok(w->f, st_uncommitted_list(w->f->st, &w->f->a, share_id,
                                 &(struct st_paths){.from = "", .to = "z", .limit = 3000}, rows,
                                 &w->f->e));
    return rows->n;
}

ROOM_TEST(blobs_whose_blocks_were_dropped_are_forgotten)
{
    struct share s;
    struct share_item_rows rows;
    assert_int_equal(make(w, "data"), ERR_NONE);
    assert_true(find(w, "data", &s));
    note_uncommitted(w, s.id, "gone on", 12);
    for (int i = 0; i < 2500; i++) /* more than one pass removes */
        note_uncommitted(w, s.id, arena_printf(&w->f->a, "old-%d", i), 11);
    note_uncommitted(w, s.id, "gone on", 7);
    note_uncommitted(w, s.id, "gone on", 7);
    note_uncommitted(w, s.id, "young", 8);
    assert_int_equal(uncommitted(w, s.id, &rows), 2502);
    end(w);
    begin(w, DAY_US);
    go_on(w);
    for (int i = 0; i < 20000 && uncommitted(w, s.id, &rows) > 2; i++)
        turn(w);
    assert_int_equal(uncommitted(w, s.id, &rows), 2);
    assert_string_equal(rows.items[0].path, "gone on");
    assert_string_equal(rows.items[1].path, "young");
}
