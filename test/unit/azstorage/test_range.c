/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/azstorage/range.h"

static const struct {
    const char *header;
    uint64_t size;
    enum range_result want;
    uint64_t first, last;
} ranges[] = {
    {NULL, 10, RANGE_NONE, 0, 0},
    {"bytes=0-", 10, RANGE_PART, 0, 9},
    {"bytes=3-5", 10, RANGE_PART, 3, 5},
    {"bytes=3-500", 10, RANGE_PART, 3, 9},
    {"BYTES=9-9", 10, RANGE_PART, 9, 9},
    {"bytes=-4", 10, RANGE_PART, 6, 9},
    {"bytes=-40", 10, RANGE_PART, 0, 9},
    {"bytes=-0", 10, RANGE_UNSATISFIABLE, 0, 0},
    {"bytes=10-", 10, RANGE_UNSATISFIABLE, 0, 0},
    {"bytes=11-20", 10, RANGE_UNSATISFIABLE, 0, 0},
    {"bytes=0-", 0, RANGE_UNSATISFIABLE, 0, 0},
    {"bytes=-1", 0, RANGE_UNSATISFIABLE, 0, 0},
    {"bytes=5-3", 10, RANGE_NONE, 0, 0},
    {"bytes=a-b", 10, RANGE_NONE, 0, 0},
    {"bytes=1-2,4-5", 10, RANGE_NONE, 0, 0},
    {"bytes=99999999999999999999-", 10, RANGE_UNSATISFIABLE, 0, 0},
    {"bytes=3-99999999999999999999", 10, RANGE_PART, 3, 9},
    {"lines=1-2", 10, RANGE_NONE, 0, 0},
};

static void ranges_are_read_as_the_rfc_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        uint64_t first = 0, last = 0;
        assert_int_equal(range_parse(ranges[i].header, ranges[i].size, &first, &last),
                         ranges[i].want);
        if (ranges[i].want != RANGE_PART)
            continue;
        assert_int_equal(first, ranges[i].first);
        assert_int_equal(last, ranges[i].last);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read_as_the_rfc_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
