/* SPDX-License-Identifier: MIT
 *
 * A cache keeps what was used last, within its bounds, and frees what values own once.
 */
#include "lib/arena.h"
#include "lib/cache.h"
#include "test/unit/support/tests.h"

struct value {
    int n;
    char *text; /* owned */
};

static int dropped;

static void drop(void *value)
{
    dropped++;
    free(((struct value *)value)->text);
}

static void put(struct cache *c, const char *key, int n)
{
    struct value *v = cache_add(c, key, strlen(key), 8);
    assert_non_null(v);
    assert_int_equal(v->n, 0);
    *v = (struct value){n, xstrdup("1234567")};
}

static int get(struct cache *c, const char *key)
{
    const struct value *v = cache_find(c, key, strlen(key));
    return v ? v->n : 0;
}

TEST(a_value_is_found_by_all_bytes_of_its_key)
{
    static const struct cache_kind kind = {.value_size = sizeof(struct value), .drop = drop};
    struct cache *c = cache_new(&kind);
    dropped = 0;
    put(c, "one", 1);
    put(c, "on", 2);
    put(c, "", 3);
    assert_int_equal(get(c, "one"), 1);
    assert_int_equal(get(c, "on"), 2);
    assert_int_equal(get(c, ""), 3);
    assert_null(cache_find(c, "one\0", 4));
    put(c, "one", 4);
    assert_int_equal(dropped, 1);
    assert_int_equal(get(c, "one"), 4);
    cache_remove(c, "on", 2);
    cache_remove(c, "on", 2);
    assert_int_equal(get(c, "on"), 0);
    assert_int_equal(cache_entries(c), 2);
    cache_free(c);
    assert_int_equal(dropped, 4);
    cache_free(NULL);
}

TEST(the_least_used_goes_first)
{
    static const struct cache_kind kind = {sizeof(struct value), .max_entries = 3, .drop = drop};
    struct cache *c = cache_new(&kind);
    put(c, "a", 1);
    put(c, "b", 2);
    put(c, "c", 3);
    assert_int_equal(get(c, "a"), 1);
    put(c, "d", 4); /* in the place of b */
    assert_int_equal(get(c, "b"), 0);
    assert_int_equal(get(c, "a"), 1);
    put(c, "a", 5); /* in its own place */
    assert_int_equal(get(c, "c"), 3);
    assert_int_equal(cache_entries(c), 3);
    cache_free(c);
}

TEST(its_bytes_have_a_bound)
{
    static const struct cache_kind kind = {sizeof(struct value), .max_bytes = 4096, .drop = drop};
    struct cache *c = cache_new(&kind);
    char key[16];
    for (int i = 1; i <= 1000; i++) {
        snprintf(key, sizeof key, "%d", i);
        put(c, key, i);
        assert_true(cache_bytes(c) <= 4096);
        assert_int_equal(get(c, key), i);
    }
    assert_true(cache_entries(c) > 8);
    size_t before = cache_entries(c);
    assert_null(cache_add(c, "large", 5, 600)); /* more than an eighth */
    assert_int_equal(cache_entries(c), before);
    cache_clear(c);
    assert_int_equal(cache_bytes(c), 0);
    cache_free(c);
}

TEST(it_grows_and_still_finds_everything)
{
    static const struct cache_kind kind = {.value_size = sizeof(int64_t)};
    struct cache *c = cache_new(&kind);
    for (int64_t i = 0; i < 5000; i++)
        *(int64_t *)cache_add(c, &i, sizeof i, 0) = i * i;
    for (int64_t i = 0; i < 5000; i++)
        assert_int_equal(*(int64_t *)cache_find(c, &i, sizeof i), i * i);
    assert_int_equal(cache_entries(c), 5000);
    cache_free(c);
}

static bool is_odd(const void *value, const void *ctx)
{
    (void)ctx;
    return ((const struct value *)value)->n % 2;
}

TEST(its_owner_says_what_is_out_of_date)
{
    static const struct cache_kind kind = {.value_size = sizeof(struct value), .drop = drop};
    struct cache *c = cache_new(&kind);
    cache_stamp(c, 1);
    put(c, "a", 1);
    put(c, "b", 2);
    put(c, "c", 3);
    cache_drop_if(c, is_odd, NULL);
    assert_int_equal(get(c, "a"), 0);
    assert_int_equal(get(c, "b"), 2);
    cache_stamp(c, 1);
    assert_int_equal(get(c, "b"), 2);
    cache_stamp(c, 2);
    assert_int_equal(cache_entries(c), 0);
    cache_free(c);
}
