/* SPDX-License-Identifier: MIT
 *
 * What a start mapped is given back, and whatever is needed again comes back.
 */
#include "lib/footprint.h"
#include "lib/strbuf.h"
#include "test/unit/support/tests.h"

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

TEST(test_less_is_mapped_and_all_is_there)
{
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
