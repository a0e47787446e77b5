/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "api/http/url.h"
#include "test/unit/support/arena_test.h"

ARENA_TEST(decoding_refuses_what_is_malformed)
{
    static const char *const bad[] = {"%", "%4", "a%zz", "%00", "x%2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(url_decode(a, bad[i], strlen(bad[i])));
    assert_string_equal(url_decode(a, "a%2Fb%41", 8), "a/bA");
    assert_string_equal(url_decode(a, "", 0), "");
}

ARENA_TEST(encoding_and_decoding_are_inverse)
{
    const char *text = "a b/c%+&=?\xc3\xa4~.-_";
    struct strbuf b = STRBUF_INIT;
    url_encode(&b, text, 1);
    assert_null(strpbrk(b.s, " +&=?"));
    assert_string_equal(url_decode(a, b.s, b.len), text);
    strbuf_free(&b);
}
