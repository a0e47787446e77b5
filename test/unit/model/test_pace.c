/* SPDX-License-Identifier: MIT
 *
 * How long things take: where nobody asks for any time, nothing does.
 */
#include "model/pace.h"
#include "test/unit/support/tests.h"

static bool is_on(const void *ctx, const char *subscription)
{
    return !subscription || strcmp(subscription, ctx) == 0;
}

static int64_t takes_us(const void *ctx, const char *subscription, enum pace_step step)
{
    (void)ctx, (void)subscription;
    return 1000 + (int64_t)step;
}

static const struct pace slow = {is_on, takes_us, "mine"};

TEST(test_a_step_takes_what_its_subscription_asks_for)
{
    assert_int_equal(pace_us(&slow, "mine", PACE_ALLOCATION), 1000 + PACE_ALLOCATION);
    assert_int_equal(pace_us(&slow, "other", PACE_ALLOCATION), 0);
    assert_int_equal(pace_us(&slow, NULL, PACE_ALLOCATION), 0);
    assert_int_equal(pace_us(&slow, "mine", PACE_NONE), 0);
    assert_true(pace_is_on(&slow, NULL) && !pace_is_on(&slow, "other"));
}

TEST(test_without_anybody_who_asks_nothing_is_held_up)
{
    assert_int_equal(pace_us(NULL, "mine", PACE_ALLOCATION), 0);
    assert_false(pace_is_on(NULL, NULL));
}

TEST(test_operations_have_the_steps_of_their_resources)
{
    assert_int_equal(pace_of_operation(RES_CLUSTER, false), PACE_CLUSTER_CREATION);
    assert_int_equal(pace_of_operation(RES_CLUSTER, true), PACE_CLUSTER_DELETION);
    assert_int_equal(pace_of_operation(RES_BATCH_ACCOUNT, true), PACE_BATCH_DELETION);
    assert_int_equal(pace_of_operation(RES_STORAGE_ACCOUNT, true), PACE_NONE);
    assert_int_equal(pace_of_operation(RES_WORKSPACE, false), PACE_NONE);
    assert_int_equal(pace_of_operation(RES_NODE, true), PACE_NONE);
}
