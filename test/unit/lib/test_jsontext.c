/* SPDX-License-Identifier: MIT */
#include "lib/jsontext.h"
#include "test/unit/support/tests.h"

/* What is read from this text is written as jansson writes it. */
static void same_as_jansson(const char *text)
{
    json_error_t je;
    json_auto_t *v = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &je);
    if (!v)
        fail_msg("%s: %s", text, je.text);
    FREED char *want = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    FREED char *got = jsontext(v);
    assert_string_equal(got, want);
}

TEST(values_as_jansson_writes_them)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-9223372036854775808",
        "9223372036854775807",
        "0.1",
        "1.0",
        "-1e300",
        "2.2250738585072014e-308",
        "[[],{},[{}],{\"a\":[]}]",
        "{\"b\":1,\"a\":{\"z\":null,\"y\":[1,2.5,\"3\",true]},\"\":[false]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        same_as_jansson(texts[i]);
}

TEST(strings_as_jansson_writes_them)
{
    same_as_jansson("\"\"");
    same_as_jansson("\"plain / slash\"");
    same_as_jansson("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"");
    same_as_jansson("\"a\\u0000b\\u001f\\u007f\"");
    same_as_jansson("\"\\u00e4\\u20ac\\ud83d\\ude00\"");
    same_as_jansson("{\"\\\"key\\n\\u0001\\u00e4\":\"\\\\\"}");
}

/* Each byte below 0x80 at the start, in the middle and at the end. */
TEST(every_ascii_byte)
{
    for (int c = 0; c < 0x80; c++) {
        char text[40];
        snprintf(text, sizeof text, "\"\\u%04xab\\u%04xcd\\u%04x\"", c, c, c);
        same_as_jansson(text);
    }
}

TEST(appends)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "x=");
    json_auto_t *v = json_pack("{s:i}", "n", 7);
    jsontext_add(&b, v);
    assert_string_equal(b.s, "x={\"n\":7}");
    strbuf_free(&b);
}

static void assert_text(const char *bytes, const char *want)
{
    json_auto_t *v = jsontext_string(bytes);
    assert_non_null(v);
    assert_string_equal(json_string_value(v), want);
}

TEST(bytes_that_are_no_text_are_replaced)
{
    assert_text("", "");
    assert_text("plain \xc3\xa4", "plain \xc3\xa4");
    assert_text("\xff", "\xef\xbf\xbd");
    assert_text("a\xc3", "a\xef\xbf\xbd");
    assert_text("\xc3(", "\xef\xbf\xbd(");
    assert_text("\xed\xa0\x80!", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!");
    assert_true(jsontext_is_utf8("a\xe2\x82\xac", 4));
    assert_false(jsontext_is_utf8("a\xe2\x82\xac", 3));
    assert_true(jsontext_is_utf8("", 0));
}

/* Each byte, at each place of texts of each length. */
TEST(plain_bytes_are_counted)
{
    for (size_t n = 0; n <= 20; n++)
        for (size_t at = 0; at < n; at++)
            for (int c = 0; c < 256; c++) {
                char text[21];
                memset(text, c % 2 ? 'a' : '\xff', sizeof text);
                text[at] = (char)c;
                if (at + 1 < n)
                    text[at + 1] = '"';
                bool plain = c >= 0x20 && c != '"' && c != '\\';
                assert_int_equal(jsontext_plain(text, n), plain ? at + 1 : at);
            }
}

static void assert_mended(const char *bytes, size_t size, const char *want)
{
    char text[64];
    size_t n = strlen(bytes) < size ? strlen(bytes) : size - 1;
    memcpy(text, bytes, n);
    text[n] = '\0';
    jsontext_mend(text, size);
    assert_string_equal(text, want);
}

TEST(texts_are_cut_between_characters)
{
    assert_int_equal(jsontext_cut("abc", 9), 3);
    assert_int_equal(jsontext_cut("abc", 2), 2);
    assert_int_equal(jsontext_cut("a\xc3\xa4", 2), 1);
    assert_int_equal(jsontext_cut("a\xc3\xa4", 3), 3);
    assert_int_equal(jsontext_cut("\xf0\x9f\x98\x80", 3), 0);
    assert_mended("plain \xc3\xa4", 64, "plain \xc3\xa4");
    assert_mended("a\xc3\xa4", 3, "a");
    assert_mended("a\xc3\xa4", 4, "a\xc3\xa4");
    assert_mended("a\xf0\x9f\x98\x80", 5, "a");
    assert_mended("\xff\xff\xff", 8, "\xef\xbf\xbd\xef\xbf\xbd");
    assert_mended("ends with \xe9", 64, "ends with \xef\xbf\xbd");
    assert_null(jsontext_optional(NULL));
}
