/* SPDX-License-Identifier: MIT
 *
 * The steps of runs and slots: each pair of states is one that may or may not be.
 */
#include <string.h>

#include "scheduler/run/run_priv.h"
#include "test/unit/support/tests.h"

/* Rows: from; columns: to; in the order of the enums. */
static const char *const runs_go[] = {
    /*             A  S  K  V  E  W  C; V: saving */
    /* active   */ ".ss...s",
    /* stopping */ "..sss.s",
    /* killing  */ "...ss.s",
    /* saving   */ "....s.s",
    /* ending   */ ".....s.",
    /* ended    */ "....s.s",
    /* cleaning */ "....s..",
};
static const char *const slots_go[] = {
    /* waiting  */ ".ss.s",
    /* started  */ "s.s.s",
    /* cleaning */ "s..ss",
    /* clean    */ "....s",
    /* gone     */ ".....",
};

TEST(test_steps_of_a_run)
{
    for (int from = RUN_ACTIVE; from <= RUN_CLEANING; from++)
        for (int to = RUN_ACTIVE; to <= RUN_CLEANING; to++)
            assert_int_equal(run_may_go(from, to), runs_go[from][to] == 's');
}

TEST(test_steps_of_a_slot)
{
    for (int from = SLOT_WAITING; from <= SLOT_GONE; from++)
        for (int to = SLOT_WAITING; to <= SLOT_GONE; to++)
            assert_int_equal(slot_may_go(from, to), slots_go[from][to] == 's');
}
