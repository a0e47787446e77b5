/* SPDX-License-Identifier: MIT */
#include "api/plane/storage/errors.h"
#include "api/plane/storage/range.h"
#include "test/unit/support/tests.h"

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

TEST(ranges_are_read_as_the_rfc_says)
{
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

static const struct {
    const char *text;
    uint64_t offset, len; /* 0: it is none */
} exact[] = {
    {"bytes=0-511", 0, 512},
    {"BYTES=7-7", 7, 1},
    {"bytes=9223372036854775806-9223372036854775806", INT64_MAX - 1, 1},
    {"bytes=9223372036854775807-9223372036854775807", 0, 0},
    {"bytes=0-18446744073709551615", 0, 0},
    {"bytes=0-99999999999999999999", 0, 0},
    {"bytes=5-4", 0, 0},
    {"bytes=5-", 0, 0},
    {"bytes=-5", 0, 0},
    {"bytes=+1-5", 0, 0},
    {"bytes=1-5 ", 0, 0},
    {"lines=1-5", 0, 0},
    {"", 0, 0},
};

TEST(a_range_to_write_has_both_ends)
{
    struct file_range r;
    struct err e;
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        int rc = range_exact("x-ms-range", exact[i].text, &r, &e);
        assert_int_equal(rc == 0, exact[i].len > 0);
        if (rc == 0) {
            assert_int_equal(r.offset, exact[i].offset);
            assert_int_equal(r.len, exact[i].len);
        } else {
            assert_int_equal(e.code, AZSTORAGE_HEADER);
        }
    }
    assert_int_equal(range_exact("x-ms-range", NULL, &r, &e), -1);
    assert_int_equal(e.code, AZSTORAGE_HEADER_MISSING);
}

TEST(a_range_to_read_may_lack_its_end)
{
    struct file_range r;
    struct err e;
    assert_int_equal(range_or_rest("x-ms-range", "bytes=0-511", &r, &e), 0);
    assert_int_equal(r.len, 512);
    assert_int_equal(range_or_rest("x-ms-range", "bytes=5-", &r, &e), 0);
    assert_int_equal(r.offset, 5);
    assert_int_equal(r.offset + r.len, INT64_MAX);
    assert_int_equal(range_or_rest("x-ms-range", "bytes=-5", &r, &e), -1);
    assert_int_equal(range_or_rest("x-ms-range", "bytes=9223372036854775807-", &r, &e), -1);
    assert_int_equal(e.code, AZSTORAGE_HEADER);
}
