/* SPDX-License-Identifier: MIT
 *
 * err, arena, strbuf, guid, sm: the small things.
 */
#include <errno.h>
#include <stdalign.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/guid.h"
#include "lib/jsontext.h"
#include "lib/sm.h"
#include "lib/strbuf.h"
#include "test/unit/support/says.h"
#include "test/unit/support/tests.h"

TEST(err_fills_and_fails)
{
    struct err e;
    err_clear(&e);
    assert_int_equal(e.code, ERR_NONE);
    assert_int_equal(err_set(&e, ERR_JOB_NOT_FOUND, "name", "no job %s", "j"), -1);
    assert_int_equal(e.code, ERR_JOB_NOT_FOUND);
    assert_string_equal(e.target, "name");
    assert_string_equal(e.msg, "no job j");
    assert_int_equal(err_prefix(&e, "workspace %s", "w"), -1);
    assert_string_equal(e.msg, "workspace w: no job j");
    assert_string_equal(e.target, "name");
    assert_int_equal(err_set(&e, ERR_IO, NULL, "x"), -1);
    assert_string_equal(e.target, "");
    assert_int_equal(err_set(NULL, ERR_IO, NULL, "nobody cares"), -1);
    assert_int_equal(err_prefix(NULL, "nobody"), -1);
}

TEST(err_keeps_errno)
{
    struct err e;
    errno = ENOENT;
    assert_int_equal(err_errno(&e, ERR_IO, "open %s", "f"), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(e.msg, "open f: No such file or directory");
    assert_int_equal(err_errno(NULL, ERR_IO, "x"), -1);
}

TEST(err_cuts)
{
    struct err e;
    char big[5000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    err_set(&e, ERR_IO, big, "%s", big);
    assert_int_equal(strlen(e.target), sizeof e.target - 1);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    err_prefix(&e, "%s", big);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    errno = EIO;
    err_errno(&e, ERR_IO, "%s", big);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
}

/* What a program printed, a file name, a text that is cut inside a character. */
TEST(err_is_text)
{
    struct err e;
    char big[2000] = "x";
    err_set(&e, ERR_IO, "\xff", "d\xe9sol\xe9");
    assert_string_equal(e.msg, "d\xef\xbf\xbdsol\xef\xbf\xbd");
    assert_string_equal(e.target, "\xef\xbf\xbd");
    for (size_t i = 1; i + 2 < sizeof big; i += 2) {
        big[i] = '\xc3'; /* a letter of two bytes */
        big[i + 1] = '\xa4';
    }
    err_set(&e, ERR_IO, big, "%s", big);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    err_set(&e, ERR_IO, big, "%s", big + 1);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 2);
    assert_true(jsontext_is_utf8(e.msg, strlen(e.msg)));
    assert_true(jsontext_is_utf8(e.target, strlen(e.target)));
    for (int i = 0; i < 4; i++) {
        err_prefix(&e, "%.*s", i, "abc");
        assert_says_not(e.msg, "\xef\xbf\xbd");
    }
    errno = EIO;
    err_errno(&e, ERR_IO, "cannot open \xc3\xa4\xc3");
    assert_string_equal(e.msg, "cannot open \xc3\xa4\xef\xbf\xbd: Input/output error");
}

TEST(every_code_has_a_name)
{
    for (int c = 0; c < ERR_CODES; c++)
        assert_true(strlen(err_code_name(c)) > 1);
    assert_string_equal(err_code_name(ERR_CLUSTER_NOT_FOUND), "ERR_CLUSTER_NOT_FOUND");
    assert_string_equal(err_code_name(ERR_OWN), "a service's own");
}

TEST(arena_hands_out)
{
    struct arena a;
    arena_init(&a);
    for (size_t size = 0; size < 9000; size += 37) {
        unsigned char *p = arena_alloc(&a, size);
        assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size); /* the sanitizers watch the edges */
    }
    assert_null(arena_strdup(&a, NULL));
    assert_string_equal(arena_strdup(&a, "abc"), "abc");
    assert_string_equal(arena_strndup(&a, "abc", 2), "ab");
    assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    char *big = arena_printf(&a, "%5000d", 1);
    assert_int_equal(strlen(big), 5000);
    arena_free(&a);
    assert_null(a.head);
    assert_string_equal(arena_strdup(&a, "again"), "again");
    arena_free(&a);
    arena_free(&a);
}

TEST(strbuf_grows)
{
    struct strbuf b = STRBUF_INIT;
    for (int i = 0; i < 1000; i++)
        strbuf_printf(&b, "%d,", i % 10);
    assert_int_equal(b.len, 2000);
    assert_int_equal(strlen(b.s), 2000);
    strbuf_reset(&b);
    assert_string_equal(b.s, "");
    strbuf_puts(&b, "ab");
    strbuf_putc(&b, 'c');
    strbuf_add(&b, "d\0e", 3);
    strbuf_add(&b, NULL, 0);
    assert_int_equal(b.len, 6);
    assert_memory_equal(b.s, "abcd\0e", 7);
    char *text = strbuf_take(&b);
    assert_string_equal(text, "abcd");
    free(text);
    assert_null(b.s);
    text = strbuf_take(&b);
    assert_string_equal(text, "");
    free(text);
    strbuf_reset(&b);
    strbuf_free(&b);
    strbuf_free(&b);
}

TEST(strbuf_adds_texts_and_numbers)
{
    static const struct {
        int64_t v;
        const char *text;
    } numbers[] = {
        {0, "0"},
        {7, "7"},
        {-10, "-10"},
        {1234567890123, "1234567890123"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        strbuf_reset(&b);
        strbuf_concat(&b, "a", "", "bc=");
        strbuf_int(&b, numbers[i].v);
        assert_memory_equal(b.s, "abc=", 4);
        assert_string_equal(b.s + 4, numbers[i].text);
        assert_int_equal(b.len, strlen(b.s));
    }
    strbuf_free(&b);
}

TEST(guids)
{
    char a[GUID_SIZE], b[GUID_SIZE];
    guid_new(a);
    guid_new(b);
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
    assert_int_equal(strspn(a, "0123456789abcdef-"), 36);
    assert_true(guid_valid(a));
    assert_true(guid_valid("00000000-0000-0000-0000-00000000ABCD"));
    assert_false(guid_valid(""));
    assert_false(guid_valid("000000000-000-0000-0000-00000000ABCD"));
    assert_false(guid_valid("00000000-0000-0000-0000-00000000ABCD "));
    assert_false(guid_valid("00000000-0000-0000-0000-0000000-ABCD"));
    assert_false(guid_valid("00000000-0000-0000-0000-00000000000"));
    assert_false(guid_valid("00000000-0000-0000-0000-00000000000g"));
    assert_false(guid_valid("0000000000000000000000000000000000000"));
}

TEST(guids_of_later_sort_behind)
{
    char a[GUID_SIZE], b[GUID_SIZE], twin[GUID_SIZE];
    struct guid_source source = {0};
    guid_next_at(&source, 1700000000000000, a);
    guid_next_at(&source, 1700000000000000, twin);
    guid_next_at(&source, 1700000000001000, b);
    assert_true(guid_valid(a));
    assert_int_equal(a[14], '7');
    assert_non_null(strchr("89ab", a[19]));
    assert_memory_equal(a, "018bcfe5-6800", 13);
    assert_memory_equal(a, twin, 13);
    assert_string_not_equal(a, twin);
    assert_true(strcmp(a, b) < 0 && strcmp(twin, b) < 0);
}

TEST(machines_step)
{
    static const struct sm_edge edges[2 * 2] = {
        [0 * 2 + 1] = {.legal = 1, .next = 1},
    };
    static const char *const names[] = {"a", "b"};
    static const struct sm m = {"m", 2, 2, names, names, edges};
    assert_null(sm_step(&m, 0, 0));
    assert_null(sm_step(&m, 1, 1));
    assert_int_equal(sm_step(&m, 0, 1)->next, 1);
}
