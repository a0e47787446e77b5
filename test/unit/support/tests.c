/* SPDX-License-Identifier: MIT
 *
 * The list of the tests of a unit test program, and the main() of programs that have none.
 */
#include "test/unit/support/tests.h"

#include <errno.h>
#include <stdlib.h>

#define TESTS_MAX 256

static struct {
    int number;
    struct CMUnitTest test;
} entered[TESTS_MAX];

static size_t n_entered;

/* The order in which constructors run is not defined. */
void enter_test(int number, const struct CMUnitTest *test)
{
    size_t at = n_entered++;
    if (n_entered > TESTS_MAX)
        abort();
    for (; at > 0 && entered[at - 1].number > number; at--)
        entered[at] = entered[at - 1];
    entered[at].number = number;
    entered[at].test = *test;
}

int run_all_tests(CMFixtureFunction group_setup, CMFixtureFunction group_teardown)
{
    static struct CMUnitTest tests[TESTS_MAX];
    for (size_t i = 0; i < n_entered; i++)
        tests[i] = entered[i].test;
    return _cmocka_run_group_tests(program_invocation_short_name, tests, n_entered, group_setup,
                                   group_teardown);
}

__attribute__((weak)) int main(void)
{
    return run_all_tests(NULL, NULL);
}
