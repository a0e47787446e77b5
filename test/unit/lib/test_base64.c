/* SPDX-License-Identifier: MIT
 *
 * Base64: the vectors of RFC 4648, every byte, and what is refused.
 */
#include "lib/base64.h"
#include "test/unit/support/tests.h"

TEST(test_vectors)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char *text = base64_encode(pairs[i][0], strlen(pairs[i][0])), *back;
        size_t n;
        assert_string_equal(text, pairs[i][1]);
        assert_int_equal(base64_decode(text, strlen(text), &back, &n), 0);
        assert_int_equal(n, strlen(pairs[i][0]));
        assert_memory_equal(back, pairs[i][0], n);
        free(back);
        free(text);
    }
}

TEST(test_every_length_and_byte_comes_back)
{
    unsigned char bytes[512];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        char *text = base64_encode(bytes, n), *back;
        size_t m;
        assert_int_equal(base64_decode(text, strlen(text), &back, &m), 0);
        assert_int_equal(m, n);
        assert_memory_equal(back, bytes, n);
        free(back);
        free(text);
    }
}

TEST(test_what_is_not_base64_is_refused)
{
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "====", "Z===", "Zg==Zg==", "Zh==", "Zm9=", "Zm9\n", "Z-9v", "=Zm9"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *back;
        size_t n;
        if (base64_decode(bad[i], strlen(bad[i]), &back, &n) == 0)
            fail_msg("'%s' was taken", bad[i]);
    }
}
