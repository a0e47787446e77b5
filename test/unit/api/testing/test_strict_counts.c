/* SPDX-License-Identifier: MIT
 *
 * Counts of requests: each of its limit and scope, over when its time is, and no more kept than
 * there is room for.
 */
#include <stdio.h>
#include <string.h>

#include "api/testing/strict_counts.h"
#include "test/unit/support/tests.h"

#define SECOND INT64_C(1000000)
#define NOON   (INT64_C(1700000000) * SECOND)

static int setup(void **state)
{
    *state = strict_counts_new();
    return 0;
}

static int teardown(void **state)
{
    strict_counts_free(*state);
    return 0;
}

static int get(const struct strict_counts *c, enum strict_limit limit, const char *of, int64_t at)
{
    int64_t left;
    return strict_counts_get(c, limit, of, at, &left);
}

#define COUNTS_TEST(name) TEST_IN(name, struct strict_counts *c, *state, setup, teardown)

COUNTS_TEST(each_limit_and_scope_counts_by_itself)
{
    for (int i = 0; i < 3; i++)
        strict_counts_add(c, LIMIT_READS, "one", "one", NOON);
    strict_counts_add(c, LIMIT_READS, "other", "other", NOON);
    strict_counts_add(c, LIMIT_WRITES, "one", "one", NOON);
    assert_int_equal(get(c, LIMIT_READS, "ONE", NOON), 3); /* in any case of letters */
    assert_int_equal(get(c, LIMIT_READS, "other", NOON), 1);
    assert_int_equal(get(c, LIMIT_WRITES, "one", NOON), 1);
    assert_int_equal(get(c, LIMIT_DELETES, "one", NOON), 0);
    assert_int_equal(strict_counts_kept(c), 3);
}

COUNTS_TEST(time_counts_from_the_first)
{
    int64_t left;
    strict_counts_add(c, LIMIT_WRITES, "one", "one", NOON);
    strict_counts_add(c, LIMIT_WRITES, "one", "one", NOON + 3599 * SECOND);
    assert_int_equal(strict_counts_get(c, LIMIT_WRITES, "one", NOON + 3599 * SECOND, &left), 2);
    assert_int_equal(left, SECOND);
    assert_int_equal(strict_counts_get(c, LIMIT_WRITES, "one", NOON + 3600 * SECOND, &left), 0);
    assert_int_equal(left, 0);
    strict_counts_add(c, LIMIT_WRITES, "one", "one", NOON + 3600 * SECOND);
    assert_int_equal(get(c, LIMIT_WRITES, "one", NOON + 3600 * SECOND), 1);
}

COUNTS_TEST(what_is_over_goes_as_others_are_counted)
{
    char of[16];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(of, sizeof of, "account%d", i);
        strict_counts_add(c, LIMIT_STORAGE, of, "mine", NOON);
    }
    strict_counts_add(c, LIMIT_READS, "mine", "mine", NOON);
    assert_int_equal(strict_counts_kept(c), 1001);
    strict_counts_add(c, LIMIT_STORAGE, "another", "mine", NOON + SECOND);
    assert_int_equal(strict_counts_kept(c), 2); /* and the reads, of which the hour is not over */
    assert_int_equal(get(c, LIMIT_READS, "mine", NOON + SECOND), 1);
}

COUNTS_TEST(a_clock_that_is_set_back_begins_anew)
{
    strict_counts_add(c, LIMIT_READS, "first", "first", NOON);
    strict_counts_add(c, LIMIT_READS, "later", "later", NOON + 60 * SECOND);
    assert_int_equal(get(c, LIMIT_READS, "later", NOON + 30 * SECOND), 0);
    strict_counts_add(c, LIMIT_READS, "later", "later", NOON + 30 * SECOND);
    assert_int_equal(get(c, LIMIT_READS, "later", NOON + 30 * SECOND), 1);
    assert_int_equal(get(c, LIMIT_READS, "first", NOON + 30 * SECOND), 1);
    strict_counts_add(c, LIMIT_READS, "one", "one", NOON - 3600 * SECOND);
    assert_int_equal(strict_counts_kept(c), 1);
}

COUNTS_TEST(there_is_a_bound)
{
    char of[STRICT_SCOPE_BYTES + 1];
    for (int i = 0; i < STRICT_COUNTS_MAX + 5; i++) {
        (void)snprintf(of, sizeof of, "account%d", i);
        strict_counts_add(c, LIMIT_STORAGE, of, "mine", NOON);
    }
    assert_int_equal(strict_counts_kept(c), STRICT_COUNTS_MAX);
    assert_int_equal(get(c, LIMIT_STORAGE, "account0", NOON), 1);
    assert_int_equal(get(c, LIMIT_STORAGE, of, NOON), 0);
    strict_counts_add(c, LIMIT_STORAGE, "account0", "mine", NOON); /* those that are kept go on */
    assert_int_equal(get(c, LIMIT_STORAGE, "account0", NOON), 2);
    strict_counts_forget(c, NULL);
    memset(of, 'x', STRICT_SCOPE_BYTES);
    of[STRICT_SCOPE_BYTES] = 0;
    strict_counts_add(c, LIMIT_FORMULAS, of, "mine", NOON);
    assert_int_equal(strict_counts_kept(c), 0);
    strict_counts_add(c, LIMIT_FORMULAS, of + 1, "mine", NOON);
    assert_int_equal(strict_counts_kept(c), 1);
}

COUNTS_TEST(a_subscriptions_are_forgotten_together)
{
    strict_counts_add(c, LIMIT_STORAGE, "store", "mine", NOON);
    strict_counts_add(c, LIMIT_READS, "mine", "mine", NOON);
    strict_counts_add(c, LIMIT_READS, "theirs", "theirs", NOON);
    strict_counts_add(c, LIMIT_TENANT_READS, "tenant", "", NOON);
    strict_counts_forget(c, "MINE");
    assert_int_equal(strict_counts_kept(c), 2);
    assert_int_equal(get(c, LIMIT_READS, "mine", NOON), 0);
    assert_int_equal(get(c, LIMIT_READS, "theirs", NOON), 1);
    strict_counts_forget(c, NULL);
    assert_int_equal(strict_counts_kept(c), 0);
}
