/* SPDX-License-Identifier: MIT */
#include "lib/jsonread.h"
#include "lib/strbuf.h"
#include "test/unit/support/tests.h"

/* Either both read the same, in the same order, or both say the same of it. */
static void same_with(const char *text, size_t n, size_t flags)
{
    json_error_t why = {0}, expected = {0};
    json_auto_t *got = jsonread(text, n, flags, &why),
                *want = json_loadb(text, n, flags, &expected);
    if (!got != !want)
        fail_msg("%.*s: %s", (int)n, text, got ? expected.text : why.text);
    if (want) {
        FREED char *is = json_dumps(got, JSON_ENCODE_ANY),
                   *should = json_dumps(want, JSON_ENCODE_ANY);
        assert_string_equal(is, should);
    } else {
        assert_string_equal(why.text, expected.text);
        assert_int_equal(why.line, expected.line);
        assert_int_equal(why.column, expected.column);
    }
}

/* The text, each of its beginnings, and each with one byte of it changed. */
static void as_jansson(const char *text)
{
    static const char bytes[] = "{}[]\":,\\0- \n\t\1\x7f\xc3ntfe.u/";
    const size_t flags[] = {0, JSON_REJECT_DUPLICATES, JSON_DECODE_ANY, JSON_DISABLE_EOF_CHECK};
    size_t n = strlen(text);
    FREED char *copy = malloc(n + 1);
    for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
        for (size_t cut = 0; cut <= n; cut++)
            same_with(text, cut, flags[f]);
        for (size_t i = 0; i < n * (sizeof bytes - 1); i++) {
            memcpy(copy, text, n + 1);
            copy[i % n] = bytes[i / n];
            same_with(copy, n, flags[f]);
        }
    }
}

TEST(reads_as_jansson_does)
{
    as_jansson("{}");
    as_jansson(" [ ] ");
    as_jansson("\"text\"");
    as_jansson("-12");
    as_jansson("null");
    as_jansson("{\"b\":1,\"a\":{\"z\":null,\"y\":[1,25,\"3\",true]},\"\":[false]}\n");
    as_jansson("{ \"a\" : [ { \"b\" : \"c\" } , [ ] ] , \"ab\" : -0 }");
    as_jansson("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"b\":\"\\u0041\",\"\\n\":1}");
    as_jansson("{\"\xc3\xa4\":\"\xe2\x82\xac \xf0\x9f\x98\x80\",\"e\":\"\\n\xc3\xa4\"}");
    as_jansson("[0,-0,00,01,1.5,1e3,-1,999999999999999999,9223372036854775807]");
    as_jansson("9223372036854775808");
    as_jansson("{\"a\":1,\"b\":2,\"a\":3}");
}

TEST(deep_ones_too)
{
    for (int depth = 1; depth < 3000; depth += depth < 40 ? 1 : 700) {
        struct strbuf text = STRBUF_INIT;
        for (int i = 0; i < depth; i++)
            strbuf_putc(&text, '[');
        same_with(text.s, text.len, 0);
        for (int i = 0; i < depth; i++)
            strbuf_putc(&text, ']');
        same_with(text.s, text.len, 0);
        strbuf_free(&text);
    }
}

TEST(a_nul_byte_is_no_end)
{
    same_with("{\"a\0b\":1}", 9, 0);
    same_with("{\"a\":\"\0\"}", 9, 0);
    same_with("{}\0", 3, 0);
    same_with("\0", 1, 0);
}

TEST(no_text_has_more_values_than_are_told)
{
    static const struct {
        const char *text;
        size_t values;
    } cases[] = {
        {"", 1},
        {"1", 1},
        {"{}", 2},
        {"[1,2,[],{\"a\":{\"b\":\"c\"}}]", 8},
        {"\"[,{\"", 1},
        {"[\"\\\",[[\"]", 2},
        {"[\"\\\\\",[]]", 4},
        {"\"", 1},
        {"\"[\\", 1},
        {"]]", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(jsonread_values(cases[i].text, strlen(cases[i].text)), cases[i].values);
}
