/* SPDX-License-Identifier: MIT
 *
 * A document is cut into the same tokens by the quick way, for what we write ourselves, as by jsmn,
 * which a blank at the end brings in: whole, and with each byte of it damaged.
 */
#include <stdbool.h>

#include "lib/strbuf.h"
#include "model/tokens.h"
#include "test/unit/support/tests.h"

static void assert_same(const char *text)
{
    size_t n = strlen(text);
    struct tokens quick, slow;
    FREED char *blank = malloc(n + 2);
    memcpy(blank, text, n);
    memcpy(blank + n, " ", 2);
    tokens_cut(&quick, text);
    tokens_cut(&slow, blank);
    if (quick.n != slow.n)
        fail_msg("%d tokens, not %d: %s", quick.n, slow.n, text);
    for (int i = 0; i < quick.n; i++) {
        const jsmntok_t *a = &quick.tok[i], *b = &slow.tok[i];
        if (a->type != b->type || a->start != b->start || a->end != b->end || a->size != b->size ||
            a->parent != b->parent)
            fail_msg("token %d is (%d %d-%d %d %d), not (%d %d-%d %d %d): %s", i, a->type, a->start,
                     a->end, a->size, a->parent, b->type, b->start, b->end, b->size, b->parent,
                     text);
    }
    tokens_free(&quick);
    tokens_free(&slow);
}

static const char *const documents[] = {
    "",
    "{}",
    "{",
    "}",
    "[]",
    "1",
    "\"a\"",
    "{}{}",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":\"b\":1}",
    "{\"a\":1 ,\"b\":2}",
    "{\"a\":\"x\\\"y\",\"b\":\"\\u0041\"}",
    "{\"a\":tru,\"b\":1e+5,\"c\":-0.5,\"d\":1.2.3,\"e\":falsen}",
    "{\"a\":[],\"b\":{},\"c\":[[],[{}],{\"d\":[1,\"2\",null,true,false]}]}",
    "{\"id\":\"\",\"\":\"\",\"properties\":{\"cluster\":{\"id\":\"/subscriptions/s/g\"},"
    "\"nodeCount\":1,\"customToolkitSettings\":{\"commandLine\":\"echo \xc3\xa9 \x7f\"},"
    "\"stdOutErrPathPrefix\":\"$AZ\",\"environmentVariables\":[{\"name\":\"A\",\"value\":\"1\"},"
    "{\"name\":\"B\"}],\"constraints\":{\"maxWallClockTime\":\"P7D\"}}}",
};
enum { DOCUMENTS = sizeof documents / sizeof documents[0] };

TEST(no_text_has_no_tokens)
{
    struct tokens t;
    tokens_cut(&t, NULL);
    assert_int_equal(t.n, 0);
    tokens_free(&t);
}

TEST(both_ways_give_the_same_tokens)
{
    for (int i = 0; i < DOCUMENTS; i++)
        assert_same(documents[i]);
}

TEST(a_damaged_document_too)
{
    static const char bytes[] = "{}[]\",:\\ \n\x01\x7f\xc3tn0-.Z";
    for (int i = 0; i < DOCUMENTS; i++) {
        size_t n = strlen(documents[i]);
        FREED char *text = malloc(n + 2);
        for (size_t at = 0; at < n; at++)
            for (size_t b = 0; b < sizeof bytes; b++) { /* the last ends the text there */
                memcpy(text, documents[i], n + 1);
                text[at] = bytes[b];
                assert_same(text);
                memcpy(text, documents[i], at); /* and one byte more */
                text[at] = bytes[b];
                memcpy(text + at + 1, documents[i] + at, n - at + 1);
                assert_same(text);
            }
    }
}

/* `n` names in an object, or objects in one another. */
static char *many(int n, bool deep)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_putc(&b, '{');
    for (int i = 0; i < n; i++)
        if (deep)
            strbuf_puts(&b, "\"a\":{");
        else
            strbuf_printf(&b, "%s\"a%d\":[1]", i ? "," : "", i);
    for (int i = 0; i < n && deep; i++)
        strbuf_putc(&b, '}');
    strbuf_putc(&b, '}');
    return strbuf_take(&b);
}

TEST(a_large_or_deep_document_too)
{
    for (int n = 60; n < 140; n++) {
        FREED char *wide = many(n, false);
        assert_same(wide);
    }
    for (int n = 1; n < 40; n++) {
        FREED char *deep = many(n, true);
        assert_same(deep);
    }
}
