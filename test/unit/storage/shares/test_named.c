/* SPDX-License-Identifier: MIT
 *
 * Accounts and shares that exist by being named, or because there is a folder.
 */
#include "test/unit/storage/shares/room.h"

static struct share_name as_named(const char *account, const char *share)
{
    return (struct share_name){.account = account, .share = share, .kind = SHARE_BLOBS};
}

static int make_named(struct shares_room *w, const struct share_name *n)
{
    int rc = shares_check_named(w->shares, n, &w->f->e);
    return rc < 0 ? rc : shares_make_named(w->shares, n, "me", T0, &w->f->e);
}

ROOM_TEST(what_is_named_is_there)
{
    struct storage_account s;
    struct share c;
    const struct share_name n = as_named("NewOne", "box"), m = as_named("acct", "box");
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
    refused(w->f, make_named(w, &m), ERR_BEING_DELETED);
    until(w, c.id, SHARE_DELETED);
    ok(w->f, make_named(w, &m));
}

ROOM_TEST(nothing_is_named_where_that_is_strict)
{
    struct account_keys keys;
    char text[100];
    struct share_name n = as_named("newone", "box");
    w->strict = true;
    crash(w, DAY_US);
    refused_saying(w->f, make_named(w, &n), ERR_INVALID_PROPERTY,
                   "az storage account create -n newone");
    n.account = "acct";
    assert_int_equal(make_named(w, &n), -1);
    assert_says(w->f->e.msg, "az storage container create -n box --account-name acct");
    n = (struct share_name){.account = "ACCT", .share = "Data", .kind = SHARE_FILES};
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
    assert_says_not(w->f->e.msg, text);
    n.key = "";
    assert_int_equal(make_named(w, &n), -1);
}

/* Of somebody who may not list the keys: a new account has none that could be given. */
ROOM_TEST(who_needs_a_key_must_have_it)
{
    struct account_keys keys;
    char text[100];
    struct share_name n = {.account = "acct", .share = "s", .kind = SHARE_FILES, .needs_key = true};
    refused(w->f, make_named(w, &n), ERR_INVALID_PROPERTY);
    found(w->f, st_account_keys(w->f->st, w->account, &keys, &w->f->e));
    sodium_bin2base64(text, sizeof text, keys.key[1], ACCOUNT_KEY_BYTES,
                      sodium_base64_VARIANT_ORIGINAL);
    n.key = text;
    ok(w->f, make_named(w, &n));
    n.key = NULL;
    n.account = "fresh";
    ok(w->f, make_named(w, &n));
}

ROOM_TEST(folders_without_rows_get_rows)
{
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
    struct share_rows rows;
    ok(w->f, st_share_by_name(w->f->st, &w->f->a, s.id, SHARE_FILES, "one", &c, &w->f->e));
    until(w, c.id, SHARE_THERE);
    ok(w->f, st_share_by_name(w->f->st, &w->f->a, s.id, SHARE_FILES, "alias", &c, &w->f->e));
    until(w, c.id, SHARE_THERE);
    ok(w->f, st_share_list(w->f->st, &w->f->a, s.id, SHARE_FILES, "",
                           &(struct st_names){.after = "", .limit = 9}, &rows, &w->f->e));
    assert_int_equal(rows.n, 2);
    assert_int_equal(st_account_by_name(w->f->st, &w->f->a, "upper", &s, &w->f->e), 0);
    assert_int_equal(st_account_by_name(w->f->st, &w->f->a, "a.b", &s, &w->f->e), 0);
}
