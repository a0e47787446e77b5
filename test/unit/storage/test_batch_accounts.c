/* SPDX-License-Identifier: MIT
 *
 * Accounts of Azure Batch with their keys, and how they go.
 */
#include "test/unit/storage/fixture.h"

#define OTHER "99999999-2222-3333-4444-555555555555"

DB_TEST(a_name_is_unique_over_all_subscriptions)
{
    struct account_keys keys;
    int64_t id = fx_add_batch_account(f, f->group, "acct");
    struct batch_account b = fx_batch_account(fx_add_group(f, OTHER, "Demo"), "acct");
    st_account_new_keys(&keys);
    refused(f, st_batch_account_insert(f->st, &b, &keys, NULL, &f->e), ERR_CONFLICT);
    found(f, st_batch_account_by_name(f->st, &f->a, "ACCT", &b, &f->e));
    assert_int_equal(b.id, id);
    assert_string_equal(b.scope.subscription, SUB);
    assert_string_equal(b.scope.group, "Demo");
    assert_string_equal(b.scope.location, "eastus");
    assert_string_equal(b.doc, "{\"properties\":{}}");
    assert_string_equal(b.created_by, "me");
    assert_null(b.tags);
    assert_int_equal(st_batch_account_by_name(f->st, &f->a, "acc", &b, &f->e), 0);
    found(f, st_batch_account_by_id(f->st, &f->a, id, &b, &f->e));
    assert_string_equal(b.name, "acct");
}

static void must_have(struct fx *f, int64_t id, const struct account_keys *keys)
{
    struct account_keys now;
    for (int i = 0; i < 2; i++) { /* read, and known */
        memset(&now, 0, sizeof now);
        found(f, st_batch_account_keys(f->st, id, &now, &f->e));
        assert_memory_equal(&now, keys, sizeof now);
    }
}

DB_TEST(keys_stay_and_one_is_replaced)
{
    struct account_keys keys, other;
    const struct batch_account b = fx_batch_account(f->group, "acct");
    int64_t id = 0;
    st_account_new_keys(&keys);
    st_account_new_keys(&other);
    ok(f, st_batch_account_insert(f->st, &b, &keys, &id, &f->e));
    must_have(f, id, &keys);
    memcpy(keys.key[1], other.key[1], ACCOUNT_KEY_BYTES);
    ok(f, st_batch_account_set_key(f->st, id, 1, keys.key[1], &f->e));
    must_have(f, id, &keys);
    fx_reopen(f);
    must_have(f, id, &keys);
    assert_int_equal(st_batch_account_keys(f->st, 4711, &other, &f->e), 0);
    refused(f, st_batch_account_set_key(f->st, 4711, 0, keys.key[0], &f->e),
            ERR_RESOURCE_NOT_FOUND);
}

/* Ids of both tables begin with 1, and keys of both are kept for those who ask again. */
DB_TEST(a_storage_account_with_the_same_id_has_its_own_keys)
{
    const struct storage_account s = fx_storage_account(f->group, "acct");
    struct account_keys batch, store, now;
    int64_t store_id = 0, batch_id = fx_add_batch_account(f, f->group, "acct");
    st_account_new_keys(&store);
    ok(f, st_account_insert(f->st, &s, &store, &store_id, &f->e));
    assert_int_equal(batch_id, store_id);
    found(f, st_batch_account_keys(f->st, batch_id, &batch, &f->e));
    for (int i = 0; i < 2; i++) {
        found(f, st_account_keys(f->st, store_id, &now, &f->e));
        assert_memory_equal(&now, &store, sizeof now);
        found(f, st_batch_account_keys(f->st, batch_id, &now, &f->e));
        assert_memory_equal(&now, &batch, sizeof now);
    }
}

DB_TEST(keys_are_sealed)
{
    const struct batch_account b = fx_batch_account(f->group, "acct");
    struct account_keys keys;
    int64_t plain = 1;
    memset(&keys, 'A', sizeof keys); /* QUFB in base64 */
    ok(f, st_batch_account_insert(f->st, &b, &keys, NULL, &f->e));
    ok(f, st_query_int(f->st, "SELECT instr(keys, 'QUFB') + instr(keys, 'AAAA') FROM batch_account",
                       "keys", &plain, &f->e));
    assert_int_equal(plain, 0);
    ok(f, st_turn_begin(f->st, &f->e));
    ok(f, st_exec(f->st, "UPDATE batch_account SET keys = zeroblob(100)", "damage", &f->e));
    assert_int_equal(st_batch_account_keys(f->st, 1, &keys, &f->e), -1);
    assert_says(f->e.msg, "damaged");
}

DB_TEST(an_account_is_changed_and_listed)
{
    struct batch_account_rows rows;
    struct batch_account b;
    int64_t n_all = 0, other = fx_add_group(f, SUB, "Other"),
            id = fx_add_batch_account(f, f->group, "acct");
    fx_add_batch_account(f, other, "second");
    fx_add_batch_account(f, fx_add_group(f, OTHER, "Third"), "third");
    found(f, st_batch_account_by_name(f->st, &f->a, "acct", &b, &f->e));
    b.tags = "{\"a\":\"b\"}";
    b.doc = "{}";
    b.updated_us = T0 + 7;
    ok(f, st_batch_account_update(f->st, &b, &f->e));
    found(f, st_batch_account_by_name(f->st, &f->a, "acct", &b, &f->e));
    assert_string_equal(b.tags, "{\"a\":\"b\"}");
    assert_string_equal(b.doc, "{}");
    assert_int_equal(b.updated_us, T0 + 7);
    ok(f, st_batch_account_list(f->st, &f->a, IN(SUB, other), PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_string_equal(rows.items[0].name, "second");
    ok(f, st_batch_account_list(f->st, &f->a, IN(SUB, 0), PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 2);
    ok(f, st_batch_account_list(f->st, &f->a, IN(SUB, 0), PAGE_AFTER(id, 10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    ok(f, st_batch_account_count(f->st, SUB, &n_all, &f->e));
    assert_int_equal(n_all, 2);
}

static void removable(struct fx *f, enum resource_kind kind, size_t expected)
{
    int64_t *ids;
    size_t n;
    ok(f, st_removable_ids(f->st, &f->a, kind, &ids, &n, &f->e));
    assert_int_equal(n, expected);
}

DB_TEST(an_account_goes_before_its_group)
{
    struct batch_account b;
    int64_t group = fx_add_group(f, SUB, "Other"), one = fx_add_batch_account(f, group, "one");
    fx_add_batch_account(f, f->group, "two");
    ok(f, st_mark_deleting(f->st, RES_GROUP, group, T0 + 9, &f->e));
    found(f, st_batch_account_by_id(f->st, &f->a, one, &b, &f->e));
    assert_int_equal(b.prov_state, PROV_DELETING);
    assert_int_equal(st_batch_account_update(f->st, &b, &f->e), -1);
    removable(f, RES_GROUP, 0);
    removable(f, RES_BATCH_ACCOUNT, 1);
    assert_int_equal(st_remove(f->st, RES_GROUP, group, T0, &f->e), -1);
    ok(f, st_remove(f->st, RES_BATCH_ACCOUNT, one, T0, &f->e));
    assert_int_equal(st_batch_account_by_name(f->st, &f->a, "one", &b, &f->e), 0);
    removable(f, RES_GROUP, 1);
    found(f, st_batch_account_by_name(f->st, &f->a, "two", &b, &f->e));
    assert_int_equal(b.prov_state, PROV_SUCCEEDED);
    ok(f, st_mark_deleting(f->st, RES_BATCH_ACCOUNT, b.id, T0 + 9, &f->e));
    removable(f, RES_BATCH_ACCOUNT, 1);
    refused(f, st_mark_deleting(f->st, RES_BATCH_ACCOUNT, 4711, T0, &f->e), ERR_RESOURCE_NOT_FOUND);
}
