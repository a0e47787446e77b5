/* SPDX-License-Identifier: MIT */
#include "model/glob.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

TEST(patterns_match_as_the_service_says)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } rows[] = {
        {"a.txt", "a.txt", true},
        {"a.txt", "b/a.txt", false},
        {"abc*", "abc", true},
        {"abc*", "abcdef", true},
        {"abc*", "abc/d", false},
        {"*", ".hidden", false},
        {"*.gif", ".a.gif", false},
        {".*.gif", ".a.gif", true},
        {"?.txt", "a.txt", true},
        {"?.txt", ".txt", false},
        {"[ab].txt", "b.txt", true},
        {"[ab].txt", "c.txt", false},
        {"[a-c]x", "bx", true},
        {"[!abc]x", "bx", false},
        {"[!abc]x", "dx", true},
        {"abc[*]", "abc*", true},
        {"abc[*]", "abcd", false},
        {"a[]]b", "a]b", true},
        {"a[b", "a[b", true},
        {"**/*.txt", "a.txt", true},
        {"**/*.txt", "d/e/a.txt", true},
        {"**/*.txt", ".d/a.txt", false},
        {"**/*.txt", "d/.a.txt", false},
        {"d/**/z", "d/z", true},
        {"d/**/z", "d/x/y/z", true},
        {"d/**/z", "e/z", false},
        {"**", "a/b/c", true},
        {"d/**", "d/a/b", true},
        {"**/x/**/y", "a/x/b/x/c/y", true},
        {"**/x/**/y", "a/x/b", false},
        {"*/*", "a", false},
        {"*a*b*c*", "xxaxxbxxc", true},
        {"*a*b*c*", "xxbxxaxxc", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (glob_match(rows[i].pattern, rows[i].path) != rows[i].matches)
            fail_msg("%s and %s", rows[i].pattern, rows[i].path);
}

TEST(only_directories_that_may_hold_something_are_entered)
{
    assert_true(glob_may_hold("*.txt", ""));
    assert_false(glob_may_hold("*.txt", "d"));
    assert_true(glob_may_hold("d/*/x", "d"));
    assert_true(glob_may_hold("d/*/x", "d/e"));
    assert_false(glob_may_hold("d/*/x", "e"));
    assert_false(glob_may_hold("d/*/x", "d/e/x"));
    assert_true(glob_may_hold("**/x", "a/b/c"));
    assert_false(glob_may_hold("**/x", "a/.b"));
}

/* Each further star of a naive matcher doubles its time. */
TEST(a_hostile_pattern_takes_no_long)
{
    char text[200];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*ab", text));
    assert_false(
        glob_match("**/**/**/**/**/**/**/**/**/**/x", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/y"));
}

ARENA_TEST(places_stay_within_bounds)
{
    static const struct {
        const char *text, *below, *pattern;
    } rows[] = {
        {"out.txt", "w/t/wd", "out.txt"},
        {"../std*.txt", "w/t", "std*.txt"},
        {"./a//b/*.c", "w/t/wd/a/b", "*.c"},
        {"a/**/b", "w/t/wd/a", "**/b"},
        {"/n/batch/shared/x", "shared", "x"},
        {"/n/batch/*", "", "*"},
        {"/n/batch/a/../b", "", "b"},
        {"/etc/passwd", NULL, NULL},
        {"/n/batch", NULL, NULL},
        {"/n/batch/..", NULL, NULL},
        {"/n/batchx/a", NULL, NULL},
        {"../../../../x", NULL, NULL},
        {"*/../../../../../etc/passwd", NULL, NULL},
        {"/../etc", NULL, NULL},
    };
    struct err e;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct glob_place got;
        int rc = glob_place(a, "/n/batch", "/n/batch/w/t/wd", rows[i].text, &got, &e);
        if ((rc == 0) != (rows[i].below != NULL))
            fail_msg("%s", rows[i].text);
        if (rc < 0)
            continue;
        assert_string_equal(got.below, rows[i].below);
        assert_string_equal(got.pattern, rows[i].pattern);
        assert_int_equal(got.is_pattern, glob_is_pattern(rows[i].text));
    }
}
