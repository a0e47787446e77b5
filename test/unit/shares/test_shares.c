/* SPDX-License-Identifier: MIT
 *
 * Shares as rows and folders: made, deleted, restored, purged, and each of it gone on with after a
 * start that follows a crash.
 */
#include "test/unit/storage/fixture.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "files/files.h"
#include "scheduler/wake/wake.h"
#include "shares/shares.h"

#define DAY_US (INT64_C(24) * 3600 * 1000000)

struct room {
    struct fx *f;
    char dir[128];
    struct files *files;
    struct wakes *wakes;
    struct shares *shares;
    int64_t account;
    bool strict;
};

/* --- a life of the room ----------------------------------------------------------------------- */

static void deletions(void *ctx, int64_t id)
{
    (void)ctx, (void)id;
}

static void begin(struct room *w, int64_t keep_us)
{
    struct fx *f = w->f;
    w->files = files_create(f->tools, &f->log);
    const struct wakes_config wc = {.loop = f->tools, .storage = f->st, .log = &f->log};
    w->wakes = wakes_create(&wc);
    wakes_handle(w->wakes, WAKE_DELETIONS, deletions, w);
    const struct shares_config c = {.storage = f->st,
                                    .files = w->files,
                                    .wakes = w->wakes,
                                    .log = &f->log,
                                    .storage_dir = w->dir,
                                    .keep_us = keep_us,
                                    .subscription = SUB,
                                    .principal = "somebody",
                                    .strict = w->strict};
    w->shares = shares_create(&c);
}

static void go_on(struct room *w)
{
    ok(w->f, shares_start(w->shares, &w->f->e));
}

static void turn(struct room *w)
{
    wakes_turn(w->wakes);
    st_turn_end(w->f->st);
    uv_run(&w->f->loop, UV_RUN_NOWAIT);
    usleep(500);
}

static void on_files_stopped(void *ctx, size_t left_behind)
{
    assert_int_equal(left_behind, 0);
    fx_set_true(ctx);
}

static void end(struct room *w)
{
    bool wakes_gone = false, files_gone = false;
    shares_end_requests(w->shares);
    wakes_stop(w->wakes, fx_set_true, &wakes_gone);
    files_stop(w->files, on_files_stopped, &files_gone);
    while (!wakes_gone || !files_gone) {
        st_turn_end(w->f->st);
        uv_run(&w->f->loop, UV_RUN_NOWAIT);
    }
    shares_free(w->shares);
    wakes_free(w->wakes);
}

static int start(void **state)
{
    fx_start(state);
    struct room *w = calloc(1, sizeof *w);
    w->f = *state;
    snprintf(w->dir, sizeof w->dir, "%s/storage", w->f->dir);
    assert_int_equal(mkdir(w->dir, 0755), 0);
    struct storage_account s = {.group_id = w->f->group,
                                .name = "acct",
                                .scope = {.location = "eastus"},
                                .sku = "Standard_LRS",
                                .kind = "StorageV2",
                                .doc = "{}",
                                .prov_state = PROV_SUCCEEDED,
                                .created_us = T0};
    struct account_keys keys;
    st_account_new_keys(&keys);
    ok(w->f, st_account_insert(w->f->st, &s, &keys, &w->account, &w->f->e));
    begin(w, DAY_US);
    *state = w;
    return 0;
}

static int stop(void **state)
{
    struct room *w = *state;
    struct fx *f = w->f;
    end(w);
    free(w);
    *state = f;
    return fx_end(state);
}

/* As after kill -9: what the worker did is lost track of, the rows are as they were. */
static void crash(struct room *w, int64_t keep_us)
{
    end(w);
    begin(w, keep_us);
}

/* --- asking ----------------------------------------------------------------------------------- */

struct answer {
    bool told;
    enum err_code code; /* ERR_NONE: done */
};

static void on_done(void *ctx, const struct err *why)
{
    struct answer *a = ctx;
    assert_false(a->told);
    a->told = true;
    a->code = why ? why->code : ERR_NONE;
}

static void wait_for(struct room *w, struct answer *a)
{
    for (int i = 0; i < 20000 && !a->told; i++)
        turn(w);
    assert_true(a->told);
}

static struct share named(struct room *w, const char *name)
{
    return (struct share){.account_id = w->account,
                          .account = "acct",
                          .name = name,
                          .kind = SHARE_FILES,
                          .metadata = "{\"k\":\"v\"}"};
}

static enum err_code make(struct room *w, const char *name)
{
    struct answer a = {0};
    const struct share s = named(w, name);
    if (shares_make(w->shares, &s, T0, on_done, &a, &w->f->e) < 0)
        return w->f->e.code;
    wait_for(w, &a);
    return a.code;
}

static bool find(struct room *w, const char *name, struct share *s)
{
    int rc = st_share_by_name(w->f->st, &w->f->a, w->account, SHARE_FILES, name, s, &w->f->e);
    ok(w->f, rc);
    return rc == 1;
}

static enum err_code delete_it(struct room *w, const char *name, int64_t now_us)
{
    struct answer a = {0};
    struct share s;
    assert_true(find(w, name, &s));
    if (shares_delete(w->shares, &s, now_us, on_done, &a, &w->f->e) < 0)
        return w->f->e.code;
    wait_for(w, &a);
    return a.code;
}

static enum err_code restore(struct room *w, int64_t id)
{
    struct answer a = {0};
    if (shares_restore(w->shares, id, on_done, &a, &w->f->e) < 0)
        return w->f->e.code;
    wait_for(w, &a);
    return a.code;
}

static const char *path(struct room *w, const char *below)
{
    return arena_printf(&w->f->a, "%s/%s", w->dir, below);
}

static void write_file(struct room *w, const char *below)
{
    int fd = open(path(w, below), O_CREAT | O_WRONLY | O_EXCL, 0644);
    assert_true(fd >= 0);
    close(fd);
}

static bool there(struct room *w, const char *below)
{
    struct stat st;
    return lstat(path(w, below), &st) == 0;
}

static int64_t deleted_id(struct room *w, size_t expected)
{
    struct share *rows;
    size_t n;
    ok(w->f, st_share_deleted(w->f->st, &w->f->a, INT64_MAX, 0, 10, &rows, &n, &w->f->e));
    assert_int_equal(n, expected);
    return n ? rows[n - 1].id : 0;
}

static enum share_state state_of(struct room *w, int64_t id)
{
    struct share s;
    int rc = st_share_by_id(w->f->st, &w->f->a, id, &s, &w->f->e);
    ok(w->f, rc);
    return rc == 1 ? s.state : (enum share_state)0;
}

static void until(struct room *w, int64_t id, int state)
{
    for (int i = 0; i < 20000 && (int)state_of(w, id) != state; i++)
        turn(w);
    assert_int_equal(state_of(w, id), state);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void a_folder_is_open_to_all(void **state)
{
    struct room *w = *state;
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

static void a_folder_that_is_there_is_taken(void **state)
{
    struct room *w = *state;
    struct err e;
    struct stat st;
    assert_int_equal(fs_mkdirs(path(w, "acct/files/old"), 0700, &e), 0);
    write_file(w, "acct/files/old/kept");
    assert_int_equal(make(w, "old"), ERR_NONE);
    assert_true(there(w, "acct/files/old/kept"));
    assert_int_equal(stat(path(w, "acct/files/old"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700); /* its owner said so */
}

static void one_that_cannot_be_made_is_not_there(void **state)
{
    struct room *w = *state;
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

static void what_is_deleted_is_restored(void **state)
{
    struct room *w = *state;
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

static void a_link_is_moved_as_a_link(void **state)
{
    struct room *w = *state;
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

static void what_is_mounted_is_only_detached(void **state)
{
    struct room *w = *state;
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

static void what_was_deleted_long_ago_is_purged(void **state)
{
    struct room *w = *state;
    char name[16];
    for (int i = 0; i < 45; i++) {
        snprintf(name, sizeof name, "s%d", i);
        assert_int_equal(make(w, name), ERR_NONE);
        if (i < 3)
            write_file(w, arena_printf(&w->f->a, "acct/files/%s/f", name));
        assert_int_equal(delete_it(w, name, T0 + i), ERR_NONE);
    }
    assert_int_equal(make(w, "young"), ERR_NONE);
    int64_t now = wakes_wall(w->wakes);
    assert_int_equal(delete_it(w, "young", now), ERR_NONE);
    crash(w, DAY_US);
    go_on(w);
    struct share *rows;
    size_t n = 0;
    for (int i = 0; i < 20000 && n != 1; i++) {
        turn(w);
        ok(w->f, st_share_deleted(w->f->st, &w->f->a, INT64_MAX, 0, 100, &rows, &n, &w->f->e));
    }
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].name, "young");
    char away[64];
    snprintf(away, sizeof away, ".deleted/acct.files.young.%lld", (long long)now);
    assert_true(there(w, away));
    assert_false(there(w, arena_printf(&w->f->a, ".deleted/acct.files.s0.%lld", (long long)T0)));
}

/* The rows as a crash leaves them, with each folder that there may be beside them. */
static void a_start_goes_on(void **state)
{
    struct room *w = *state;
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

static void an_account_goes_with_all_it_has(void **state)
{
    struct room *w = *state;
    struct answer a = {0};
    struct share s;
    struct storage_account acct;
    assert_int_equal(make(w, "one"), ERR_NONE);
    assert_int_equal(make(w, "two"), ERR_NONE);
    assert_int_equal(delete_it(w, "two", T0 + 1), ERR_NONE);
    ok(w->f, shares_delete_account(w->shares, w->account, T0 + 2, on_done, &a, &w->f->e));
    s = named(w, "one");
    assert_int_equal(shares_make(w->shares, &s, T0, NULL, NULL, &w->f->e), -1);
    assert_int_equal(w->f->e.code, ERR_BEING_DELETED);
    wait_for(w, &a);
    assert_int_equal(a.code, ERR_NONE);
    assert_int_equal(st_account_by_name(w->f->st, &w->f->a, "acct", &acct, &w->f->e), 0);
    assert_false(there(w, "acct/files/one"));
    int64_t id = deleted_id(w, 2);
    assert_int_equal(restore(w, id), ERR_RESOURCE_NOT_FOUND);
    assert_int_equal(shares_delete_account(w->shares, w->account, T0, on_done, &a, &w->f->e), -1);
}

static struct share_name as_named(const char *account, const char *share)
{
    return (struct share_name){account, share, SHARE_BLOBS, NULL};
}

static int make_named(struct room *w, const struct share_name *n)
{
    int rc = shares_check_named(w->shares, n, &w->f->e);
    return rc < 0 ? rc : shares_make_named(w->shares, n, "me", T0, &w->f->e);
}

static void what_is_named_is_there(void **state)
{
    struct room *w = *state;
    struct storage_account s;
    struct share c;
    const struct share_name n = as_named("NewOne", "Box"), m = as_named("acct", "box");
    for (int i = 0; i < 2; i++) {
        ok(w->f, make_named(w, &n));
        ok(w->f, make_named(w, &m));
    }
    found(w->f, st_account_by_name(w->f->st, &w->f->a, "newone", &s, &w->f->e));
    assert_true(s.implicit);
    assert_string_equal(s.scope.group, IMPLICIT_GROUP);
    assert_string_equal(s.created_by, "me");
    found(w->f, st_share_by_name(w->f->st, &w->f->a, s.id, SHARE_BLOBS, "box", &c, &w->f->e));
    until(w, c.id, SHARE_THERE);
    assert_true(there(w, "newone/blobs/box"));
    found(w->f, st_share_by_name(w->f->st, &w->f->a, w->account, SHARE_BLOBS, "box", &c, &w->f->e));
    until(w, c.id, SHARE_THERE);
    ok(w->f, shares_delete(w->shares, &c, T0, NULL, NULL, &w->f->e));
    assert_int_equal(make_named(w, &m), -1);
    assert_int_equal(w->f->e.code, ERR_BEING_DELETED);
    until(w, c.id, SHARE_DELETED);
    ok(w->f, make_named(w, &m));
}

static void nothing_is_named_where_that_is_strict(void **state)
{
    struct room *w = *state;
    struct account_keys keys;
    char text[100];
    struct share_name n = as_named("newone", "box");
    w->strict = true;
    crash(w, DAY_US);
    assert_int_equal(make_named(w, &n), -1);
    assert_int_equal(w->f->e.code, ERR_INVALID_PROPERTY);
    assert_non_null(strstr(w->f->e.msg, "az storage account create -n newone"));
    n.account = "acct";
    assert_int_equal(make_named(w, &n), -1);
    assert_non_null(strstr(w->f->e.msg, "az storage container create -n box --account-name acct"));
    n = (struct share_name){"ACCT", "Data", SHARE_FILES, NULL};
    assert_int_equal(make(w, "data"), ERR_NONE);
    ok(w->f, make_named(w, &n));
    found(w->f, st_account_keys(w->f->st, w->account, &keys, &w->f->e));
    for (int i = 0; i < 2; i++) {
        sodium_bin2base64(text, sizeof text, keys.key[i], ACCOUNT_KEY_BYTES,
                          sodium_base64_VARIANT_ORIGINAL);
        n.key = text;
        ok(w->f, make_named(w, &n));
    }
    text[5] ^= 1;
    assert_int_equal(make_named(w, &n), -1);
    assert_null(strstr(w->f->e.msg, text));
    n.key = "";
    assert_int_equal(make_named(w, &n), -1);
}

static void folders_without_rows_get_rows(void **state)
{
    struct room *w = *state;
    struct storage_account s;
    struct share c;
    struct err e;
    static const char *const folders[] = {
        "old/files/one", "old/blobs/two", "acct/files/three", "Upper/files/x", "old/other/x",
        "a.b/files/x",   "old/files/x y", ".hidden/files/x",  "old/files/.x",  "acct/files/link2"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        assert_int_equal(fs_mkdirs(path(w, folders[i]), 0755, &e), 0);
    write_file(w, "old/files/plain");
    assert_int_equal(symlink("one", path(w, "old/files/alias")), 0);
    assert_int_equal(make(w, "made"), ERR_NONE);
    crash(w, DAY_US);
    go_on(w);
    for (int i = 0; i < 20000 && !find(w, "three", &c); i++)
        turn(w);
    found(w->f, st_account_by_name(w->f->st, &w->f->a, "old", &s, &w->f->e));
    struct share *rows;
    size_t n;
    ok(w->f, st_share_by_name(w->f->st, &w->f->a, s.id, SHARE_FILES, "one", &c, &w->f->e));
    until(w, c.id, SHARE_THERE);
    ok(w->f, st_share_by_name(w->f->st, &w->f->a, s.id, SHARE_FILES, "alias", &c, &w->f->e));
    until(w, c.id, SHARE_THERE);
    ok(w->f, st_share_list(w->f->st, &w->f->a, s.id, SHARE_FILES, "", "", 9, &rows, &n, &w->f->e));
    assert_int_equal(n, 2);
    assert_int_equal(st_account_by_name(w->f->st, &w->f->a, "upper", &s, &w->f->e), 0);
    assert_int_equal(st_account_by_name(w->f->st, &w->f->a, "a.b", &s, &w->f->e), 0);
}

static void what_is_rolled_back_is_said(void **state)
{
    struct room *w = *state;
    struct answer a = {0}, b = {0}, c = {0};
    struct share s;
    assert_int_equal(make(w, "there"), ERR_NONE);
    assert_true(find(w, "there", &s));
    fx_flush(w->f);
    ok(w->f, shares_delete(w->shares, &s, T0, on_done, &a, &w->f->e));
    s = named(w, "new");
    ok(w->f, shares_make(w->shares, &s, T0, on_done, &b, &w->f->e));
    ok(w->f, shares_delete_account(w->shares, w->account, T0, on_done, &c, &w->f->e));
    w->f->st->turn_doomed = true; /* as by a disk that is full */
    st_turn_end(w->f->st);
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

static void a_server_that_stops_tells_who_waits(void **state)
{
    struct room *w = *state;
    struct answer a = {0};
    const struct share s = named(w, "late");
    ok(w->f, shares_make(w->shares, &s, T0, on_done, &a, &w->f->e));
    shares_end_requests(w->shares);
    assert_true(a.told);
    assert_int_equal(a.code, ERR_UNAVAILABLE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {T(a_folder_is_open_to_all),
                                       T(a_folder_that_is_there_is_taken),
                                       T(one_that_cannot_be_made_is_not_there),
                                       T(what_is_deleted_is_restored),
                                       T(a_link_is_moved_as_a_link),
                                       T(what_is_mounted_is_only_detached),
                                       T(what_was_deleted_long_ago_is_purged),
                                       T(a_start_goes_on),
                                       T(an_account_goes_with_all_it_has),
                                       T(what_is_named_is_there),
                                       T(nothing_is_named_where_that_is_strict),
                                       T(folders_without_rows_get_rows),
                                       T(what_is_rolled_back_is_said),
                                       T(a_server_that_stops_tells_who_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
