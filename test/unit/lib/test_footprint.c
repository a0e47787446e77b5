/* SPDX-License-Identifier: MIT
 *
 * What a start mapped is given back, and whatever is needed again comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/footprint.h"
#include "lib/strbuf.h"

/* KiB of files that are mapped and present. */
static long mapped_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "RssFile:", 8) == 0)
            kb = strtol(line + 8, NULL, 10);
    fclose(f);
    return kb;
}

static const char constant[] = "a constant that stays";

static void test_less_is_mapped_and_all_is_there(void **state)
{
    (void)state;
    static char variable[] = "a variable that stays";
    struct strbuf b = STRBUF_INIT;
    variable[0] = 'A';
    strbuf_puts(&b, "on the heap");
    long before = mapped_kb();
    footprint_after_start();
    long after = mapped_kb();
    assert_in_range(after, 1, before - 1);
    assert_string_equal(constant, "a constant that stays");
    assert_string_equal(variable, "A variable that stays");
    assert_string_equal(b.s, "on the heap");
    strbuf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_less_is_mapped_and_all_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
