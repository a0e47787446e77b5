/* SPDX-License-Identifier: MIT
 *
 * How a unit test is written:
 *
 *     TEST(test_what_is_expected)
 *     {
 *         assert_int_equal(1 + 1, 2);
 *     }
 *
 * Each test enters itself in the list of its program before main() starts. A program runs its
 * tests in the order in which they stand in its file. tests.c has the main() of all programs; a
 * program that needs a set-up for all its tests has its own main(), which calls run_all_tests().
 */
#ifndef TEST_UNIT_SUPPORT_TESTS_H
#define TEST_UNIT_SUPPORT_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* `number`: tests run in the order of these numbers. Copies `test`. */
void enter_test(int number, const struct CMUnitTest *test);

/* Runs all tests that were entered; either function may be NULL. Returns how many failed. */
int run_all_tests(CMFixtureFunction group_setup, CMFixtureFunction group_teardown);

#define ENTER_TEST(name, function, setup, teardown)                                                \
    __attribute__((constructor)) static void enter_##name(void)                                    \
    {                                                                                              \
        enter_test(__COUNTER__,                                                                    \
                   &(const struct CMUnitTest){#name, function, setup, teardown, NULL});            \
    }

/* The test may use `state`, which `setup` fills. */
#define TEST_SETUP(name, setup, teardown)                                                          \
    static void name(void **state);                                                                \
    ENTER_TEST(name, name, setup, teardown)                                                        \
    static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_SETUP(name, NULL, NULL)

/* The test gets what `begin` returns, as the parameter `type` `arg`; after it, end(arg) is called.
 */
#define TEST_WITH(name, type, arg, begin, end)                                                     \
    static void name(type arg);                                                                    \
    static void run_##name(__attribute__((unused)) void **state)                                   \
    {                                                                                              \
        type arg = begin;                                                                          \
        name(arg);                                                                                 \
        end(arg);                                                                                  \
    }                                                                                              \
    ENTER_TEST(name, run_##name, NULL, NULL)                                                       \
    static void name(type arg)

/* The same for a fixture that `setup` makes and `teardown` removes, also after a test that failed.
 * `arg` is made of cmocka's `state`. */
#define TEST_IN(name, parameter, arg, setup, teardown)                                             \
    static void name(parameter);                                                                   \
    static void run_##name(void **state)                                                           \
    {                                                                                              \
        name(arg);                                                                                 \
    }                                                                                              \
    ENTER_TEST(name, run_##name, setup, teardown)                                                  \
    static void name(__attribute__((unused)) parameter)

/* FREED char *text = ...: freed at the end of its block. */
static inline void free_pointed(void *pointer)
{
    free(*(void **)pointer);
}
#define FREED __attribute__((cleanup(free_pointed)))

#endif
