/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "api/storage/range.h"
#include "api/url.h"

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

static void decoding_refuses_what_is_malformed(void **state)
{
    (void)state;
    static const char *const bad[] = {"%", "%4", "a%zz", "%00", "x%2"};
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(url_decode(&a, bad[i], strlen(bad[i])));
    assert_string_equal(url_decode(&a, "a%2Fb%41", 8), "a/bA");
    assert_string_equal(url_decode(&a, "", 0), "");
    arena_free(&a);
}

static void encoding_and_decoding_are_inverse(void **state)
{
    (void)state;
    const char *text = "a b/c%+&=?\xc3\xa4~.-_";
    struct arena a;
    arena_init(&a);
    struct strbuf b = STRBUF_INIT;
    url_encode(&b, text, 1);
    assert_null(strpbrk(b.s, " +&=?"));
    assert_string_equal(url_decode(&a, b.s, b.len), text);
    strbuf_free(&b);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read_as_the_rfc_says),
        cmocka_unit_test(decoding_refuses_what_is_malformed),
        cmocka_unit_test(encoding_and_decoding_are_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
