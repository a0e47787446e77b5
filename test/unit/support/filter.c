/* SPDX-License-Identifier: MIT
 *
 * Linked into every unit test program: with UNIT_TEST=NAME in the environment it runs only the
 * tests whose names match (cmocka's wildcards * and ?).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose_tests(void)
{
    const char *name = getenv("UNIT_TEST");
    if (name)
        cmocka_set_test_filter(name);
}
