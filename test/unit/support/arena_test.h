/* SPDX-License-Identifier: MIT
 *
 * ARENA_TEST(name): a test that gets an empty arena, its parameter `a`, which is freed after it.
 */
#ifndef TEST_UNIT_SUPPORT_ARENA_TEST_H
#define TEST_UNIT_SUPPORT_ARENA_TEST_H

#include <stdlib.h>

#include "lib/arena.h"
#include "test/unit/support/tests.h"

static inline struct arena *new_test_arena(void)
{
    struct arena *a = malloc(sizeof *a);
    assert_non_null(a);
    arena_init(a);
    return a;
}

static inline void free_test_arena(struct arena *a)
{
    arena_free(a);
    free(a);
}

#define ARENA_TEST(name) TEST_WITH(name, struct arena *, a, new_test_arena(), free_test_arena)

#endif
