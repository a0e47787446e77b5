/* SPDX-License-Identifier: MIT
 *
 * Operations that ended are forgotten after a day, at the start and from then on.
 */
#include "world.h"

#define HOUR_US (3600LL * 1000000)

static void add_operation(struct world *w, const char *guid, enum op_status status, int64_t end_us)
{
    struct err e = {0};
    const struct operation op = {.guid = guid,
                                 .subscription = "sub",
                                 .location = "here",
                                 .resource_key = "S$rg$ws$c",
                                 .api_version = "2018-05-01",
                                 .kind = RES_CLUSTER,
                                 .resource_id = 1,
                                 .status = status,
                                 .start_us = 1,
                                 .end_us = end_us};
    ok(st_op_insert(w->st, &op, &e), &e);
}

static bool known(struct world *w, const char *guid)
{
    struct err e = {0};
    struct operation op;
    int rc = st_op_get(w->st, &w->a, guid, &op, &e);
    ok(rc, &e);
    return rc == 1;
}

WORLD_TEST(test_operations_are_forgotten, world_new(0))
{
    int64_t now = time_now_us();
    add_operation(w, "old", OP_FAILED, now - 25 * HOUR_US);
    add_operation(w, "young", OP_SUCCEEDED, now - 23 * HOUR_US);
    add_operation(w, "open", OP_IN_PROGRESS, 0);
    for (int i = 0; i < 1100; i++) /* more than go at once */
        add_operation(w, arena_printf(&w->a, "bulk%d", i), OP_SUCCEEDED, now - 30 * HOUR_US + i);
    restart(w);
    WAIT(w, !known(w, "old"));
    assert_false(known(w, "bulk0"));
    assert_false(known(w, "bulk1099"));
    assert_true(known(w, "young"));
    assert_true(known(w, "open"));
    w->ahead_us = 2 * HOUR_US;
    WAIT(w, !known(w, "young"));
    assert_true(known(w, "open"));
}
