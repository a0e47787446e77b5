/* SPDX-License-Identifier: MIT
 *
 * Storage accounts with their keys, and shares by their names.
 */
#include <sodium.h>

#include "lib/strbuf.h"
#include "test/unit/storage/fixture.h"

#define OTHER "99999999-2222-3333-4444-555555555555"

static struct share a_share(int64_t account, enum share_kind kind, const char *name)
{
    return (struct share){.account_id = account,
                          .account = "acct",
                          .name = name,
                          .kind = kind,
                          .state = SHARE_THERE,
                          .quota = 5120,
                          .metadata = "{\"Key\":\"v\"}",
                          .public_access = PUBLIC_NONE,
                          .lease_state = LEASE_AVAILABLE,
                          .etag = st_next_etag(0, T0),
                          .created_us = T0,
                          .updated_us = T0};
}

static int64_t add_share(struct fx *f, int64_t account, enum share_kind kind, const char *name)
{
    const struct share s = a_share(account, kind, name);
    int64_t id = 0;
    ok(f, st_share_insert(f->st, &s, &id, &f->e));
    return id;
}

/* --- accounts --------------------------------------------------------------------------------- */

DB_TEST(a_name_is_unique_over_all_subscriptions)
{
    struct storage_account s;
    struct account_keys keys;
    int64_t id = fx_add_storage_account(f, f->group, "acct");
    st_account_new_keys(&keys);
    s = fx_storage_account(fx_add_group(f, OTHER, "Demo"), "acct");
    refused(f, st_account_insert(f->st, &s, &keys, NULL, &f->e), ERR_CONFLICT);
    found(f, st_account_by_name(f->st, &f->a, "ACCT", &s, &f->e));
    assert_int_equal(s.id, id);
    assert_string_equal(s.scope.subscription, SUB);
    assert_string_equal(s.scope.group, "Demo");
    assert_string_equal(s.scope.location, "eastus");
    assert_string_equal(s.sku, "Standard_LRS");
    assert_int_equal(st_account_by_name(f->st, &f->a, "acc", &s, &f->e), 0);
}

static void must_have(struct fx *f, int64_t id, const struct account_keys *keys)
{
    struct account_keys now;
    for (int i = 0; i < 2; i++) { /* read, and known */
        memset(&now, 0, sizeof now);
        found(f, st_account_keys(f->st, id, &now, &f->e));
        assert_memory_equal(&now, keys, sizeof now);
    }
}

DB_TEST(a_text_is_a_key_of_the_account_or_not)
{
    struct storage_account s = fx_storage_account(f->group, "acct");
    struct account_keys keys;
    int64_t id;
    char text[128];
    st_account_new_keys(&keys);
    ok(f, st_account_insert(f->st, &s, &keys, &id, &f->e));
    for (size_t i = 0; i < 2; i++) {
        sodium_bin2base64(text, sizeof text, keys.key[i], ACCOUNT_KEY_BYTES,
                          sodium_base64_VARIANT_ORIGINAL);
        assert_int_equal(st_account_has_key(f->st, id, text, &f->e), 1);
    }
    text[0] = text[0] == 'A' ? 'B' : 'A';
    assert_int_equal(st_account_has_key(f->st, id, text, &f->e), 0);
    assert_int_equal(st_account_has_key(f->st, id, text + 4, &f->e), 0);
    assert_int_equal(st_account_has_key(f->st, id, "not base64!", &f->e), 0);
    assert_int_equal(st_account_has_key(f->st, id, "", &f->e), 0);
    assert_int_equal(st_account_has_key(f->st, id, NULL, &f->e), 0);
}

DB_TEST(keys_stay_and_one_is_replaced)
{
    struct storage_account s = fx_storage_account(f->group, "acct");
    struct account_keys keys, other;
    int64_t id, beside = fx_add_storage_account(f, f->group, "beside");
    st_account_new_keys(&keys);
    st_account_new_keys(&other);
    assert_memory_not_equal(keys.key[0], keys.key[1], ACCOUNT_KEY_BYTES);
    ok(f, st_account_insert(f->st, &s, &keys, &id, &f->e));
    must_have(f, id, &keys);
    memcpy(keys.key[1], other.key[1], ACCOUNT_KEY_BYTES);
    ok(f, st_account_set_key(f->st, id, 1, keys.key[1], T0 + 5, &f->e));
    must_have(f, id, &keys);
    fx_reopen(f);
    must_have(f, id, &keys);
    found(f, st_account_by_id(f->st, &f->a, id, &s, &f->e));
    assert_int_equal(s.key1_us, T0);
    assert_int_equal(s.key2_us, T0 + 5);
    found(f, st_account_keys(f->st, beside, &other, &f->e));
    assert_memory_not_equal(&other, &keys, sizeof keys);
    assert_int_equal(st_account_keys(f->st, 4711, &other, &f->e), 0);
    assert_int_equal(st_account_set_key(f->st, 4711, 0, keys.key[0], T0, &f->e), -1);
}

static int replace_and_fail(struct storage *st, void *ctx, struct err *e)
{
    struct fx *f = ctx;
    struct account_keys keys;
    unsigned char zeros[ACCOUNT_KEY_BYTES] = {0};
    ok(f, st_account_set_key(st, 1, 0, zeros, T0, e));
    found(f, st_account_keys(st, 1, &keys, e));
    assert_memory_equal(keys.key[0], zeros, sizeof zeros);
    return err_set(e, ERR_INTERNAL, NULL, "no");
}

DB_TEST(a_key_that_was_taken_back_is_not_known)
{
    struct account_keys keys, now;
    assert_int_equal(fx_add_storage_account(f, f->group, "acct"), 1);
    found(f, st_account_keys(f->st, 1, &keys, &f->e));
    assert_int_equal(st_tx(f->st, "part", replace_and_fail, f, &f->e), -1);
    found(f, st_account_keys(f->st, 1, &now, &f->e));
    assert_memory_equal(&now, &keys, sizeof now);
}

/* The database with them is no use without the key file. */
DB_TEST(keys_are_sealed)
{
    struct storage_account s = fx_storage_account(f->group, "acct");
    struct account_keys keys;
    memset(&keys, 'A', sizeof keys); /* QUFB in base64 */
    ok(f, st_account_insert(f->st, &s, &keys, NULL, &f->e));
    int64_t plain = 1;
    ok(f,
       st_query_int(f->st, "SELECT instr(keys, 'QUFB') + instr(keys, 'AAAA') FROM storage_account",
                    "keys", &plain, &f->e));
    assert_int_equal(plain, 0);
    ok(f, st_turn_begin(f->st, &f->e));
    ok(f, st_exec(f->st, "UPDATE storage_account SET keys = zeroblob(100)", "damage", &f->e));
    assert_int_equal(st_account_keys(f->st, 1, &keys, &f->e), -1);
    assert_says(f->e.msg, "damaged");
}

DB_TEST(an_account_changes_its_group)
{
    struct storage_account_rows rows;
    struct storage_account s;
    int64_t n_all = 0, other = fx_add_group(f, SUB, "Other"),
            id = fx_add_storage_account(f, f->group, "acct");
    fx_add_storage_account(f, f->group, "second");
    found(f, st_account_by_name(f->st, &f->a, "acct", &s, &f->e));
    s.group_id = other;
    s.tags = "{\"a\":\"b\"}";
    s.implicit = true;
    ok(f, st_account_update(f->st, &s, &f->e));
    found(f, st_account_by_name(f->st, &f->a, "acct", &s, &f->e));
    assert_string_equal(s.scope.group, "Other");
    assert_string_equal(s.tags, "{\"a\":\"b\"}");
    assert_true(s.implicit);
    ok(f, st_account_list(f->st, &f->a, IN(SUB, other), PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    ok(f, st_account_list(f->st, &f->a, IN(SUB, 0), PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 2);
    ok(f, st_account_list(f->st, &f->a, IN(SUB, 0), PAGE_AFTER(id, 10), &rows, &f->e));
    assert_string_equal(rows.items[0].name, "second");
    ok(f, st_account_count(f->st, SUB, &n_all, &f->e));
    assert_int_equal(n_all, 2);
}

/* --- shares ----------------------------------------------------------------------------------- */

DB_TEST(names_are_per_account_and_kind)
{
    struct share s, twin;
    int64_t one = fx_add_storage_account(f, f->group, "one"),
            two = fx_add_storage_account(f, f->group, "two");
    int64_t files = add_share(f, one, SHARE_FILES, "data");
    int64_t blobs = add_share(f, one, SHARE_BLOBS, "data");
    int64_t other = add_share(f, two, SHARE_FILES, "data");
    twin = a_share(one, SHARE_FILES, "data");
    refused(f, st_share_insert(f->st, &twin, NULL, &f->e), ERR_CONFLICT);
    for (int i = 0; i < 2; i++) {
        found(f, st_share_by_name(f->st, &f->a, one, SHARE_FILES, "data", &s, &f->e));
        assert_int_equal(s.id, files);
        assert_string_equal(s.metadata, "{\"Key\":\"v\"}");
        found(f, st_share_by_name(f->st, &f->a, one, SHARE_BLOBS, "data", &s, &f->e));
        assert_int_equal(s.id, blobs);
        found(f, st_share_by_name(f->st, &f->a, two, SHARE_FILES, "data", &s, &f->e));
        assert_int_equal(s.id, other);
    }
    assert_int_equal(st_share_by_name(f->st, &f->a, one, SHARE_FILES, "Data", &s, &f->e), 0);
    assert_int_equal(st_share_by_name(f->st, &f->a, two, SHARE_BLOBS, "data", &s, &f->e), 0);
}

static const char *listed(struct fx *f, int64_t account, const char *after, const char *prefix,
                          int limit)
{
    struct share_rows rows;
    char *text = arena_alloc(&f->a, 200);
    *text = '\0';
    ok(f, st_share_list(f->st, &f->a, account, SHARE_BLOBS, prefix,
                        &(struct st_names){.after = after, .limit = limit}, &rows, &f->e));
    for (size_t i = 0; i < rows.n; i++)
        strncat(strncat(text, i ? " " : "", 2), rows.items[i].name, 20);
    return text;
}

DB_TEST(lists_are_in_the_order_of_bytes)
{
    int64_t id = fx_add_storage_account(f, f->group, "acct");
    static const char *const names[] = {"b", "a-b", "a", "ab", "$root", "\xc3\xa4", "a1", "%_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add_share(f, id, SHARE_BLOBS, names[i]);
    add_share(f, id, SHARE_FILES, "a2");
    assert_string_equal(listed(f, id, "", "", 100), "$root %_ a a-b a1 ab b \xc3\xa4");
    assert_string_equal(listed(f, id, "", "a", 100), "a a-b a1 ab");
    assert_string_equal(listed(f, id, "a-b", "a", 1), "a1");
    assert_string_equal(listed(f, id, "b", "", 9), "\xc3\xa4");
    assert_string_equal(listed(f, id, "", "%", 9), "%_");
    assert_string_equal(listed(f, id, "zz", "a", 9), "");
}

DB_TEST(an_update_may_ask_for_what_was_read)
{
    struct share s, now;
    int64_t id = fx_add_storage_account(f, f->group, "acct");
    add_share(f, id, SHARE_BLOBS, "c");
    found(f, st_share_by_name(f->st, &f->a, id, SHARE_BLOBS, "c", &s, &f->e));
    int64_t was = s.etag;
    s.metadata = NULL;
    s.public_access = PUBLIC_CONTAINER;
    s.lease_state = LEASE_LEASED;
    s.lease_id = "abc";
    s.lease_duration_s = LEASE_INFINITE;
    s.etag = st_next_etag(was, T0);
    assert_int_equal(s.etag, was + 1); /* in the same instant */
    ok(f, st_share_update(f->st, &s, was, &f->e));
    found(f, st_share_by_name(f->st, &f->a, id, SHARE_BLOBS, "c", &now, &f->e));
    assert_null(now.metadata);
    assert_int_equal(now.public_access, PUBLIC_CONTAINER);
    assert_int_equal(now.lease_duration_s, LEASE_INFINITE);
    assert_string_equal(now.lease_id, "abc");
    s.quota = 7;
    refused(f, st_share_update(f->st, &s, was, &f->e), ERR_CONFLICT);
    ok(f, st_share_update(f->st, &s, 0, &f->e));
}

static void move(struct fx *f, const struct share *s, enum share_state from, enum share_state to,
                 int64_t deleted_us)
{
    const struct st_share_move m = {s->id, from, to, s->account_id, deleted_us};
    ok(f, st_share_move(f->st, &m, &f->e));
}

static void unsettled(struct fx *f, size_t expected)
{
    int64_t *ids;
    size_t n;
    ok(f, st_share_unsettled_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, expected);
}

DB_TEST(a_deleted_share_leaves_its_name)
{
    struct share_rows rows;
    struct share s;
    int64_t id = fx_add_storage_account(f, f->group, "acct"),
            first = add_share(f, id, SHARE_FILES, "s");
    found(f, st_share_by_id(f->st, &f->a, first, &s, &f->e));
    move(f, &s, SHARE_THERE, SHARE_DELETING, T0 + 1);
    unsettled(f, 1);
    assert_int_equal(st_share_update(f->st, &s, 0, &f->e), -1);
    struct share twin = a_share(id, SHARE_FILES, "s");
    assert_int_equal(st_share_insert(f->st, &twin, NULL, &f->e), -1);
    move(f, &s, SHARE_DELETING, SHARE_DELETED, T0 + 1);
    unsettled(f, 0);
    assert_int_equal(st_share_by_name(f->st, &f->a, id, SHARE_FILES, "s", &s, &f->e), 0);
    int64_t second = add_share(f, id, SHARE_FILES, "s");
    found(f, st_share_by_name(f->st, &f->a, id, SHARE_FILES, "s", &s, &f->e));
    assert_int_equal(s.id, second);
    ok(f, st_share_deleted(f->st, &f->a, T0 + 2, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.items[0].id, first);
    assert_int_equal(rows.items[0].account_id, 0);
    ok(f, st_share_deleted(f->st, &f->a, T0 + 1, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 0);
    const struct st_share_move wrong = {first, SHARE_DELETING, SHARE_DELETED, 0, T0};
    refused(f, st_share_move(f->st, &wrong, &f->e), ERR_CONFLICT);
    ok(f, st_share_remove(f->st, first, &f->e));
    assert_int_equal(st_share_by_id(f->st, &f->a, first, &s, &f->e), 0);
}

DB_TEST(all_of_an_account_goes)
{
    struct share s;
    int64_t one = fx_add_storage_account(f, f->group, "one"),
            two = fx_add_storage_account(f, f->group, "two");
    add_share(f, one, SHARE_FILES, "a");
    add_share(f, one, SHARE_BLOBS, "b");
    add_share(f, two, SHARE_BLOBS, "b");
    ok(f, st_mark_deleting(f->st, RES_STORAGE_ACCOUNT, one, T0 + 9, &f->e));
    unsettled(f, 2);
    assert_string_equal(listed(f, one, "", "", 9), "");
    assert_string_equal(listed(f, two, "", "", 9), "b");
    found(f, st_share_by_name(f->st, &f->a, one, SHARE_BLOBS, "b", &s, &f->e));
    assert_int_equal(s.state, SHARE_DELETING);
    assert_int_equal(s.deleted_us, T0 + 9);
}

DB_TEST(a_share_that_is_known_is_read_once)
{
    struct storage_account acct;
    struct share s;
    struct account_keys keys;
    int64_t id = fx_add_storage_account(f, f->group, "acct");
    add_share(f, id, SHARE_FILES, "s");
    int64_t before = 0;
    for (int i = 0; i < 2; i++) {
        before = st_counters(f->st)->statements;
        found(f, st_account_by_name(f->st, &f->a, "acct", &acct, &f->e));
        found(f, st_account_keys(f->st, id, &keys, &f->e));
        found(f, st_share_by_name(f->st, &f->a, id, SHARE_FILES, "s", &s, &f->e));
    }
#ifdef __SANITIZE_ADDRESS__
    before += 2; /* compared with what is there */
#endif
    assert_int_equal(st_counters(f->st)->statements, before);
}

DB_TEST(a_number_that_cannot_be_is_refused)
{
    static const struct {
        const char *sql, *names;
    } damages[] = {{"UPDATE share SET kind = 3", "share.kind"},
                   {"UPDATE share SET state = 0", "share.state"},
                   {"UPDATE share SET quota = -1", "share.quota"},
                   {"UPDATE share SET public_access = 9", "share.public_access"},
                   {"UPDATE share SET lease_state = 6", "share.lease_state"},
                   {"UPDATE share SET lease_duration_s = 61", "share.lease_duration_s"},
                   {"UPDATE share SET etag = -1", "share.etag"}};
    struct share s;
    int64_t id = fx_add_storage_account(f, f->group, "acct"),
            share = add_share(f, id, SHARE_FILES, "s");
    fx_flush(f);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        ok(f, st_turn_begin(f->st, &f->e));
        ok(f, st_exec(f->st, damages[i].sql, "damage", &f->e));
        assert_int_equal(st_share_by_id(f->st, &f->a, share, &s, &f->e), -1);
        assert_says(f->e.msg, damages[i].names);
        f->st->turn_doomed = true;
        assert_true(fx_flush(f).failed);
    }
    found(f, st_share_by_id(f->st, &f->a, share, &s, &f->e));
}

/* --- what is in shares ------------------------------------------------------------------------ */

static void put_item(struct fx *f, int64_t share, const char *path, const char *aside)
{
    const struct share_item item = {.share_id = share,
                                    .path = path,
                                    .aside = aside,
                                    .lease_state = LEASE_AVAILABLE,
                                    .metadata = "{\"a\":\"b\"}",
                                    .created_us = T0};
    ok(f, st_item_put(f->st, &item, &f->e));
}

/* The paths that are found by the tag k, with values from one on, before another. */
static void finds(struct fx *f, int64_t share, const char *from, const char *to, const char *paths)
{
    struct share_item_rows rows;
    struct strbuf got = STRBUF_INIT;
    ok(f, st_item_list_tagged(f->st, &f->a, share, "k", from, to,
                              &(struct st_paths){.from = "", .to = "", .limit = 10}, &rows, &f->e));
    strbuf_puts(&got, "");
    for (size_t i = 0; i < rows.n; i++)
        strbuf_concat(&got, rows.items[i].path, " ");
    assert_string_equal(got.s, paths);
    strbuf_free(&got);
}

static void put_tagged(struct fx *f, int64_t share, const char *path, const char *tags)
{
    const struct share_item item = {
        .share_id = share, .path = path, .tags = tags, .lease_state = LEASE_AVAILABLE};
    ok(f, st_item_put(f->st, &item, &f->e));
}

DB_TEST(items_are_found_by_the_tags_that_they_have_now)
{
    int64_t account = fx_add_storage_account(f, f->group, "acct");
    int64_t box = add_share(f, account, SHARE_BLOBS, "box");
    int64_t other = add_share(f, account, SHARE_BLOBS, "other");
    int gone;
    put_tagged(f, box, "b", "{\"k\":\"2\",\"m\":\"1\"}");
    put_tagged(f, box, "a", "{\"k\":\"2\"}");
    put_tagged(f, box, "c", "{\"k\":\"1\"}");
    put_tagged(f, other, "d", "{\"k\":\"2\"}");
    finds(f, box, "", "\xff", "c a b ");
    finds(f, box, "2", "3", "a b ");
    put_tagged(f, box, "a", "{\"k\":\"0\"}");
    put_tagged(f, box, "b", NULL);
    finds(f, box, "", "\xff", "a c ");
    ok(f, st_item_remove(f->st, box, "c", &f->e));
    finds(f, box, "", "\xff", "a ");
    ok(f, st_share_empty(f->st, box, 10, &gone, &f->e));
    finds(f, box, "", "\xff", "");
    finds(f, other, "", "\xff", "d ");
}

static bool has_item(struct fx *f, int64_t share, const char *path)
{
    struct share_item got;
    int rc = st_item_get(f->st, &f->a, share, path, &got, &f->e);
    ok(f, rc < 0 ? -1 : 0);
    return rc == 1;
}

DB_TEST(items_move_and_go_with_what_is_below)
{
    int64_t share = add_share(f, fx_add_storage_account(f, f->group, "acct"), SHARE_FILES, "s");
    static const char *const paths[] = {"a", "a/b", "a/b/c", "a-b", "a0", "ab"};
    struct share_item got;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        put_item(f, share, paths[i], NULL);
    ok(f, st_item_move_tree(f->st, share, "a", "n/a", &f->e));
    assert_true(has_item(f, share, "n/a") && has_item(f, share, "n/a/b/c"));
    assert_true(has_item(f, share, "a-b") && has_item(f, share, "a0") && has_item(f, share, "ab"));
    assert_false(has_item(f, share, "a") || has_item(f, share, "a/b"));
    put_item(f, share, "m/b/c", NULL); /* as soon as the directory had its new name */
    ok(f, st_exec(f->st, "UPDATE share_item SET metadata = 'new' WHERE path = 'm/b/c'", "note",
                  &f->e));
    ok(f, st_item_move_tree(f->st, share, "n/a", "m", &f->e));
    ok(f, st_item_get(f->st, &f->a, share, "m/b/c", &got, &f->e));
    assert_string_equal(got.metadata, "new");
    assert_false(has_item(f, share, "n/a/b/c"));
    ok(f, st_item_move_tree(f->st, share, "m", "n/a", &f->e));
    ok(f, st_item_remove_tree(f->st, share, "n/a", &f->e));
    assert_false(has_item(f, share, "n/a") || has_item(f, share, "n/a/b"));
    assert_true(has_item(f, share, "ab"));
}

static void put_snapshot(struct fx *f, int64_t share, const char *path, int64_t taken_us)
{
    const struct blob_snapshot s = {.taken_us = taken_us,
                                    .item = {.share_id = share,
                                             .path = path,
                                             .aside = "0001",
                                             .type = BLOB_BLOCK,
                                             .created_us = T0}};
    ok(f, st_snapshot_put(f->st, &s, &f->e));
}

DB_TEST(snapshots_are_listed_by_name_and_time)
{
    int64_t share = add_share(f, fx_add_storage_account(f, f->group, "acct"), SHARE_BLOBS, "c"),
            newest = 0;
    struct blob_snapshot_rows rows;
    struct blob_snapshot one;
    int gone;
    put_snapshot(f, share, "b", T0);
    put_snapshot(f, share, "a", T0 + 2);
    put_snapshot(f, share, "a", T0 + 1);
    put_snapshot(f, share, "a/b", T0);
    found(f, st_snapshot_newest(f->st, share, "a", &newest, &f->e));
    assert_int_equal(newest, T0 + 2);
    ok(f, st_snapshot_list(f->st, &f->a, share, -1,
                           &(struct st_paths){.from = "a", .to = "b", .limit = 10}, &rows, &f->e));
    assert_int_equal(rows.n, 3);
    assert_int_equal(rows.items[0].taken_us, T0 + 1);
    assert_string_equal(rows.items[2].item.path, "a/b");
    ok(f,
       st_snapshot_list(f->st, &f->a, share, T0 + 1,
                        &(struct st_paths){.from = "a", .to = "\xff", .limit = 2}, &rows, &f->e));
    assert_int_equal(rows.n, 2);
    assert_int_equal(rows.items[0].taken_us, T0 + 2);
    found(f, st_snapshot_get(f->st, &f->a, share, "a", T0 + 1, &one, &f->e));
    assert_string_equal(one.item.aside, "0001");
    ok(f, st_snapshot_remove(f->st, share, "a", T0 + 1, &f->e));
    assert_int_equal(st_snapshot_get(f->st, &f->a, share, "a", T0 + 1, &one, &f->e), 0);
    put_item(f, share, "b", NULL);
    ok(f, st_share_empty(f->st, share, 3, &gone, &f->e));
    assert_int_equal(gone, 3);
    ok(f, st_share_empty(f->st, share, 3, &gone, &f->e));
    assert_int_equal(gone, 1);
}

DB_TEST(items_are_listed_by_their_bytes)
{
    int64_t share = add_share(f, fx_add_storage_account(f, f->group, "acct"), SHARE_BLOBS, "c");
    struct share_item_rows rows;
    put_item(f, share, "b", NULL);
    put_item(f, share, "b", NULL); /* replaces it */
    put_item(f, share, "a//b", "0001");
    put_item(f, share, "B", NULL);
    ok(f, st_item_list(f->st, &f->a, share, false,
                       &(struct st_paths){.from = "", .to = "\xff", .limit = 10}, &rows, &f->e));
    assert_int_equal(rows.n, 3);
    assert_string_equal(rows.items[0].path, "B");
    assert_string_equal(rows.items[1].path, "a//b");
    ok(f, st_item_list(f->st, &f->a, share, true,
                       &(struct st_paths){.from = "", .to = "\xff", .limit = 10}, &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_string_equal(rows.items[0].aside, "0001");
    ok(f, st_item_list(f->st, &f->a, share, false,
                       &(struct st_paths){.from = "a", .to = "b", .limit = 10}, &rows, &f->e));
    assert_int_equal(rows.n, 1);
}
