/* SPDX-License-Identifier: MIT */
#include "lib/wildcard.h"
#include "test/unit/support/tests.h"

TEST(stars_and_question_marks)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"", "", true},           {"", "a", false},
        {"*", "", true},          {"*", "abc", true},
        {"a*c", "abbc", true},    {"a*c", "abcd", false},
        {"a*b*c", "abxbc", true}, {"*bc", "abcbc", true},
        {"a?c", "abc", true},     {"a?c", "ac", false},
        {"?", "", false},         {"?*", "a", true},
        {"**a**", "a", true},     {"a", "ab", false},
        {"ab", "a", false},       {"/x/*/y", "/x//y", true},
        {"*.txt", ".txt", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (wildcard_match(cases[i].pattern, cases[i].text, WILDCARD_EXACT) != cases[i].fits)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
}

TEST(all_else_is_itself)
{
    assert_true(wildcard_match("*[ -f x ]*", "sh -c [ -f x ] && y", WILDCARD_EXACT));
    assert_false(wildcard_match("[a-c]", "b", WILDCARD_EXACT));
    assert_true(wildcard_match("a\\b*", "a\\bc", WILDCARD_EXACT));
}

TEST(letters)
{
    assert_true(wildcard_match("Train-*", "tRAIN-7", WILDCARD_ANY_CASE));
    assert_false(wildcard_match("Train-*", "train-7", WILDCARD_EXACT));
    assert_true(wildcard_match("a?c",
                               "a\xc3\xa4"
                               "c",
                               WILDCARD_EXACT)); /* one character, two bytes */
    assert_false(wildcard_match("a??c",
                                "a\xc3\xa4"
                                "c",
                                WILDCARD_EXACT));
    assert_true(wildcard_match("*\xff", "\xfe\xff", WILDCARD_EXACT)); /* no UTF-8 */
}

TEST(many_stars_end_soon)
{
    enum { N = 4000 };
    char text[N + 1], pattern[2 * 100 + 2] = "";
    memset(text, 'a', N);
    text[N] = '\0';
    for (int i = 0; i < 100; i++)
        memcpy(pattern + 2 * i, "*a", 2);
    memcpy(pattern + 200, "b", 2);
    assert_false(wildcard_match(pattern, text, WILDCARD_EXACT));
}
