/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "api/http/disposition.h"
#include "test/unit/support/arena_test.h"

ARENA_TEST(any_name_becomes_one_header)
{
    static const struct {
        const char *name, *ascii, *whole;
    } cases[] = {
        {"a.txt", "a.txt", "a.txt"},
        {"a b.txt", "a b.txt", "a%20b.txt"},
        {"\"; filename=x\\", "_; filename=x_", "_%3B%20filename%3Dx_"},
        {"\xc3\xa4.txt", "_.txt", "%C3%A4.txt"},
        {"caf\xe9.txt", "caf_.txt", "caf_.txt"},
        {"two\r\nSet-Cookie: x", "two__Set-Cookie: x", "two__Set-Cookie%3A%20x"},
        {"evil\xe2\x80\xaegpj.exe", "evil_gpj.exe", "evil_gpj.exe"},
        {"a\xe2\x80\x8b\xe2\x81\xa6\xef\xbb\xbf\xc2\x85z", "a____z", "a____z"},
        {"a\xd8\x9c\xe1\xa0\x8e\xc2\xad\xef\xbf\xbaz", "a____z", "a____z"},
        {"../../etc/passwd", ".._.._etc_passwd", ".._.._etc_passwd"},
        {"", "_", "_"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(disposition_attachment(a, cases[i].name),
                            arena_concat(a, "attachment; filename=\"", cases[i].ascii,
                                         "\"; filename*=UTF-8''", cases[i].whole));
}

ARENA_TEST(a_long_name_is_cut_at_a_character)
{
    char name[1000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name + 199, "\xe2\x82\xac", 3);
    const char *text = disposition_attachment(a, name);
    assert_null(strstr(text, "%E2"));
    assert_true(strlen(text) < 500);
}
