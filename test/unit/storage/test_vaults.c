/* SPDX-License-Identifier: MIT
 *
 * Key Vaults and secrets: names, soft deletion, versions, sealed values.
 */
#include "test/unit/storage/fixture.h"

#define DAY INT64_C(86400000000)

static int64_t add_vault(struct fx *f, const char *name)
{
    const struct vault v = {.group_id = f->group,
                            .subscription = SUB,
                            .group = "Demo",
                            .name = name,
                            .location = "eastus",
                            .tags = "{\"a\":\"b\"}",
                            .doc = "{\"properties\":{}}",
                            .retention_us = 7 * DAY,
                            .created_us = T0,
                            .updated_us = T0,
                            .created_by = "me"};
    int64_t id;
    ok(f, st_vault_insert(f->st, &v, &id, &f->e));
    return id;
}

static struct vault vault_of(struct fx *f, const char *name)
{
    struct vault v;
    found(f, st_vault_get(f->st, &f->a, name, &v, &f->e));
    return v;
}

static int64_t add_secret(struct fx *f, int64_t vault, const char *name)
{
    const struct secret s = {.vault_id = vault, .name = name};
    int64_t id;
    ok(f, st_secret_insert(f->st, &s, &id, &f->e));
    return id;
}

static int64_t add_version(struct fx *f, int64_t secret, const char *version, const char *value)
{
    const struct secret_version x = {.secret_id = secret,
                                     .version = version,
                                     .enabled = true,
                                     .expires_s = INT64_C(4102444800),
                                     .created_us = T0,
                                     .updated_us = T0};
    int64_t id;
    ok(f, st_secret_version_insert(f->st, &x, value, &id, &f->e));
    return id;
}

static const char *value_of(struct fx *f, int64_t version)
{
    const char *value;
    found(f, st_secret_value(f->st, &f->a, version, &value, &f->e));
    return value;
}

DB_TEST(test_a_name_is_taken_until_it_is_purged)
{
    int64_t id = add_vault(f, "Safe");
    const struct vault again = {.group_id = f->group,
                                .subscription = "another",
                                .group = "Demo",
                                .name = "sAFE",
                                .location = "l",
                                .doc = "{}",
                                .retention_us = DAY};
    refused(f, st_vault_insert(f->st, &again, NULL, &f->e), ERR_CONFLICT);
    assert_int_equal(st_vault_purge(f->st, id, T0, &f->e), -1); /* not before it is soft-deleted */
    ok(f, st_vault_delete(f->st, id, T0 + 5, &f->e));
    assert_int_equal(st_vault_delete(f->st, id, T0 + 6, &f->e), -1);
    assert_int_equal(st_vault_insert(f->st, &again, NULL, &f->e), -1);
    struct vault v = vault_of(f, "SAFE");
    assert_int_equal(v.group_id, 0);
    assert_int_equal(v.deleted_us, T0 + 5);
    assert_int_equal(v.purge_us, T0 + 5 + 7 * DAY);
    ok(f, st_vault_recover(f->st, id, f->group, T0 + 7, &f->e));
    v = vault_of(f, "Safe");
    assert_int_equal(v.group_id, f->group);
    assert_int_equal(v.deleted_us + v.purge_us, 0);
    assert_int_equal(st_vault_recover(f->st, id, f->group, T0 + 7, &f->e), -1);
    ok(f, st_vault_delete(f->st, id, T0 + 8, &f->e));
    ok(f, st_vault_purge(f->st, id, T0 + 9, &f->e));
    ok(f, st_vault_insert(f->st, &again, NULL, &f->e));
}

DB_TEST(test_lists_have_what_is_alive_or_what_is_not)
{
    struct vault_rows rows;
    int64_t a = add_vault(f, "a"), b = add_vault(f, "b"), c = add_vault(f, "c");
    ok(f, st_vault_delete(f->st, b, T0, &f->e));
    ok(f, st_vault_list(f->st, &f->a, IN(SUB, 0), PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 2);
    assert_int_equal(rows.items[1].id, c);
    ok(f, st_vault_list(f->st, &f->a, IN(SUB, f->group), PAGE_AFTER(a, 10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    ok(f, st_vault_list_deleted(f->st, &f->a, SUB, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_string_equal(rows.items[0].name, "b");
    assert_string_equal(rows.items[0].group, "Demo");
    ok(f, st_vault_list(f->st, &f->a, IN("another", 0), PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 0);
}

DB_TEST(test_a_deleted_group_leaves_its_vaults_soft_deleted)
{
    int64_t *ids;
    size_t n;
    int64_t group = fx_add_group(f, SUB, "other");
    struct vault v = {.group_id = group,
                      .subscription = SUB,
                      .group = "other",
                      .name = "kept",
                      .location = "l",
                      .doc = "{}",
                      .retention_us = 90 * DAY};
    add_vault(f, "elsewhere");
    ok(f, st_vault_insert(f->st, &v, NULL, &f->e));
    assert_int_equal(st_remove(f->st, RES_GROUP, group, T0, &f->e), -1); /* it holds something */
    assert_int_equal(f->e.code, ERR_CONFLICT);
    ok(f, st_mark_deleting(f->st, RES_GROUP, group, T0 + 1, &f->e));
    v = vault_of(f, "kept");
    assert_int_equal(v.group_id, 0);
    assert_int_equal(v.purge_us, T0 + 1 + 90 * DAY);
    ok(f, st_mark_deleting(f->st, RES_GROUP, group, T0 + 2, &f->e));
    assert_int_equal(vault_of(f, "kept").deleted_us, T0 + 1);
    assert_int_equal(vault_of(f, "elsewhere").group_id, f->group);
    ok(f, st_removable_ids(f->st, &f->a, RES_GROUP, &ids, &n, &f->e));
    assert_int_equal(n, 1);
    ok(f, st_remove(f->st, RES_GROUP, group, T0 + 3, &f->e));
    assert_string_equal(vault_of(f, "kept").group, "other");
}

DB_TEST(test_the_newest_version_counts)
{
    struct secret_version_rows rows;
    struct secret_version x;
    int64_t vault = add_vault(f, "v"), s = add_secret(f, vault, "Key");
    int64_t first = add_version(f, s, "0a", "one"), second = add_version(f, s, "0b", "");
    assert_int_equal(
        st_secret_insert(f->st, &(struct secret){.vault_id = vault, .name = "kEY"}, NULL, &f->e),
        -1);
    found(f, st_secret_version_get(f->st, &f->a, vault, "KEY", NULL, &x, &f->e));
    assert_int_equal(x.id, second);
    assert_string_equal(x.name, "Key");
    assert_int_equal(x.expires_s, INT64_C(4102444800));
    assert_int_equal(x.not_before_s, 0);
    assert_string_equal(value_of(f, second), "");
    found(f, st_secret_version_get(f->st, &f->a, vault, "Key", "0A", &x, &f->e));
    assert_string_equal(value_of(f, x.id), "one");
    x.enabled = false;
    x.expires_s = 0;
    x.content_type = "text/plain";
    ok(f, st_secret_version_update(f->st, &x, &f->e));
    ok(f, st_secret_version_list(f->st, &f->a, s, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 2);
    assert_int_equal(rows.items[0].id, first);
    assert_false(rows.items[0].enabled);
    assert_int_equal(rows.items[0].expires_s, 0);
    assert_string_equal(rows.items[0].content_type, "text/plain");
    assert_int_equal(st_secret_version_get(f->st, &f->a, vault, "Key", "0c", &x, &f->e), 0);
    ok(f, st_secret_list(f->st, &f->a, vault, false, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.items[0].id, second);
}

DB_TEST(test_a_secret_is_soft_deleted_recovered_and_purged)
{
    struct secret_version_rows rows;
    struct secret s;
    int64_t vault = add_vault(f, "v"), id = add_secret(f, vault, "k");
    add_version(f, id, "0a", "x");
    assert_int_equal(st_secret_purge(f->st, id, &f->e), -1);
    ok(f, st_secret_delete(f->st, id, T0, T0 + DAY, &f->e));
    ok(f, st_secret_list(f->st, &f->a, vault, false, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 0);
    ok(f, st_secret_list(f->st, &f->a, vault, true, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.items[0].purge_us, T0 + DAY);
    ok(f, st_secret_recover(f->st, id, &f->e));
    found(f, st_secret_get(f->st, &f->a, vault, "K", &s, &f->e));
    assert_int_equal(s.deleted_us, 0);
    ok(f, st_secret_delete(f->st, id, T0, T0 + DAY, &f->e));
    ok(f, st_secret_purge(f->st, id, &f->e));
    assert_int_equal(st_secret_get(f->st, &f->a, vault, "k", &s, &f->e), 0);
}

DB_TEST(test_what_nobody_recovers_is_purged_at_its_time)
{
    struct vault v;
    struct secret s;
    int gone;
    int64_t old = add_vault(f, "old"), vault = add_vault(f, "v"), id = add_secret(f, vault, "k");
    add_version(f, add_secret(f, old, "inside"), "0a", "x");
    ok(f, st_vault_delete(f->st, old, T0, &f->e));
    ok(f, st_secret_delete(f->st, id, T0, T0 + DAY, &f->e));
    ok(f, st_vault_expire(f->st, T0 + DAY, 10, &gone, &f->e));
    assert_int_equal(gone, 0);
    ok(f, st_vault_expire(f->st, T0 + 7 * DAY + 1, 10, &gone, &f->e));
    assert_int_equal(gone, 3);
    assert_int_equal(st_vault_get(f->st, &f->a, "old", &v, &f->e), 0);
    assert_int_equal(st_secret_get(f->st, &f->a, vault, "k", &s, &f->e), 0);
    found(f, st_vault_get(f->st, &f->a, "v", &v, &f->e));
}

static int64_t add_vault_of_25(struct fx *f)
{
    int64_t id = add_vault(f, "v");
    for (int i = 0; i < 25; i++)
        add_version(f, add_secret(f, id, arena_printf(&f->a, "s%d", i)), "0a", "x");
    return id;
}

DB_TEST(test_a_purged_vault_leaves_its_secrets_to_later_steps)
{
    struct vault_rows rows;
    struct vault v;
    struct secret s;
    int gone;
    int64_t id = add_vault_of_25(f);
    ok(f, st_vault_delete(f->st, id, T0, &f->e));
    ok(f, st_vault_purge(f->st, id, T0 + 1, &f->e));
    assert_int_equal(st_vault_get(f->st, &f->a, "v", &v, &f->e), 0);
    ok(f, st_vault_list_deleted(f->st, &f->a, SUB, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 0);
    found(f, st_secret_get(f->st, &f->a, id, "s24", &s, &f->e));
    ok(f, st_vault_expire(f->st, T0 + 2, 100, &gone, &f->e));
    assert_int_equal(gone, 26);
    assert_int_equal(st_secret_get(f->st, &f->a, id, "s24", &s, &f->e), 0);
}

DB_TEST(test_a_vault_with_many_secrets_is_purged_in_several_steps)
{
    struct vault v;
    int gone, steps = 0;
    int64_t id = add_vault_of_25(f);
    ok(f, st_vault_delete(f->st, id, T0, &f->e));
    do {
        ok(f, st_vault_expire(f->st, T0 + 7 * DAY + 1, 10, &gone, &f->e));
        steps++;
    } while (gone == 10);
    assert_int_equal(gone, 6); /* five secrets, and the vault */
    assert_int_equal(steps, 3);
    assert_int_equal(st_vault_get(f->st, &f->a, "v", &v, &f->e), 0);
}

static bool file_has(const char *path, const char *text)
{
    char *data;
    size_t n;
    struct err e;
    if (fs_read(path, 1 << 24, &data, &n, &e) < 0)
        fail_msg("%s", e.msg);
    bool has = memmem(data, n, text, strlen(text)) != NULL;
    free(data);
    return has;
}

DB_TEST(test_a_value_is_not_in_the_file)
{
    char wal[128];
    int64_t id = add_secret(f, add_vault(f, "v"), "k");
    int64_t version = add_version(f, id, "0123456789abcdef0123456789abcdef", "under-the-mattress");
    fx_flush(f);
    snprintf(wal, sizeof wal, "%s-wal", f->db);
    assert_true(file_has(wal, "0123456789abcdef0123456789abcdef"));
    assert_false(file_has(wal, "under-the-mattress"));
    fx_reopen(f);
    assert_true(file_has(f->db, "0123456789abcdef0123456789abcdef"));
    assert_false(file_has(f->db, "under-the-mattress"));
    assert_string_equal(value_of(f, version), "under-the-mattress");
}

DB_TEST(test_what_is_wrapped_opens_with_this_key_alone)
{
    const char *plain;
    FREED char *wrapped = st_wrap(f->st, "kept elsewhere");
    assert_says_not(wrapped, "kept");
    assert_int_equal(
        strspn(wrapped, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
        strlen(wrapped));
    ok(f, st_unwrap(f->st, &f->a, wrapped, &plain, &f->e));
    assert_string_equal(plain, "kept elsewhere");
    for (size_t i = 0; i < strlen(wrapped); i++) {
        char was = wrapped[i];
        wrapped[i] = was == 'A' ? 'B' : 'A';
        /* Of the last letter not all bits count. */
        if (i + 1 < strlen(wrapped))
            assert_int_equal(st_unwrap(f->st, &f->a, wrapped, &plain, &f->e), -1);
        wrapped[i] = was;
    }
    f->st->key[0] ^= 1;
    refused(f, st_unwrap(f->st, &f->a, wrapped, &plain, &f->e), ERR_INVALID_CONTENT);
    f->st->key[0] ^= 1;
    for (size_t n = 0; n < 60; n++) {
        wrapped[n] = '\0';
        assert_int_equal(st_unwrap(f->st, &f->a, wrapped, &plain, &f->e), -1);
        wrapped[n] = 'A';
    }
}
