/* SPDX-License-Identifier: MIT */
#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "lib/yaml.h"
#include "test/unit/support/tests.h"

static const struct yaml_rules core = {.depth_max = 4};
static const struct yaml_rules texts = {.depth_max = 4, .all_texts = true};

#define N(array) (sizeof(array) / sizeof *(array))

/* The text as JSON, "" for no document, or "LINE:COLUMN: TARGET: MESSAGE" if it is refused. */
static char *said_of(const char *text, size_t n, const struct yaml_rules *rules)
{
    struct yaml_doc doc;
    struct yaml_place at;
    struct err e;
    struct strbuf b = STRBUF_INIT;
    if (yaml_doc_read(text, n, rules, &doc, &at, &e) < 0) {
        assert_int_equal(e.code, ERR_INVALID_CONTENT);
        assert_null(doc.tree);
        strbuf_printf(&b, "%zu:%zu: %s: %s", at.line, at.column, e.target, e.msg);
        return strbuf_take(&b);
    }
    if (doc.tree)
        jsontext_add(&b, doc.tree);
    yaml_doc_free(&doc);
    return strbuf_take(&b);
}

static void says(const char *text, const struct yaml_rules *rules, const char *expected)
{
    FREED char *said = said_of(text, strlen(text), rules);
    assert_string_equal(said, expected);
}

TEST(test_plain_scalars_are_of_the_core_schema)
{
    static const struct {
        const char *plain, *json;
    } cases[] = {
        {"", "null"},
        {"~", "null"},
        {"NULL", "null"},
        {"nULL", "\"nULL\""},
        {"true", "true"},
        {"False", "false"},
        {"yes", "\"yes\""},
        {"no", "\"no\""},
        {"on", "\"on\""},
        {"0", "0"},
        {"-12", "-12"},
        {"+1", "1"},
        {"0123", "123"},
        {"0x10", "\"0x10\""},
        {"0o7", "\"0o7\""},
        {"1_000", "\"1_000\""},
        {"1:30", "\"1:30\""},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9.2233720368547758e18"},
        {"1.5", "1.5"},
        {"1e3", "1000.0"},
        {"e3", "\"e3\""},
        {"1-2", "\"1-2\""},
        {"-", "[null]"},
        {".", "\".\""},
        {".inf", "\".inf\""},
        {"2001-02-03", "\"2001-02-03\""},
        {"'1'", "\"1\""},
        {"\"true\"", "\"true\""},
        {"'~'", "\"~\""},
        {"''", "\"\""},
        {"!!str 1", "1"},
        {"!!int '1'", "\"1\""},
        {"!x 1", "1"},
        {"|\n  1\n", "\"1\\n\""},
        {">-\n  a\n  b\n", "\"a b\""},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[80], json[80];
        snprintf(text, sizeof text, "k:\n %s\n", cases[i].plain);
        snprintf(json, sizeof json, "{\"k\":%s}", cases[i].json);
        says(text, &core, json);
    }
}

TEST(test_scalars_are_texts_if_that_is_the_rule)
{
    says("{a: 0123, b: '1', c: true, d: ~, e: , f: '', g: 1e999, h: !!int 1}", &texts,
         "{\"a\":\"0123\",\"b\":\"1\",\"c\":\"true\",\"d\":\"~\",\"e\":null,\"f\":\"\","
         "\"g\":\"1e999\",\"h\":\"1\"}");
}

TEST(test_documents)
{
    says("", &core, "");
    says("# nothing\n", &core, "");
    says("---\n", &core, "null");
    says("''", &core, "\"\"");
    says("&a", &texts, "null");
    says("!!null", &texts, "\"\"");
    says("- a\n", &core, "[\"a\"]");
    says("%YAML 1.1\n--- a\n...\n", &core, "\"a\"");
    says("\xef\xbb\xbf{a: 1}", &core, "{\"a\":1}");
    says("{<<: {a: 1}, 1: 2, ~: 3, '': 4, 1e999: 5}", &core,
         "{\"<<\":{\"a\":1},\"1\":2,\"~\":3,\"\":4,\"1e999\":5}");
    static const char wide[] = "\xff\xfe"
                               "a\0:\0 \0\xe4\0";
    FREED char *said = said_of(wide, sizeof wide - 1, &core);
    assert_string_equal(said, "{\"a\":\"\xc3\xa4\"}");
}

TEST(test_aliases_are_copies)
{
    says("[&a x, *a]", &core, "[\"x\",\"x\"]");
    says("{a: &a {b: [1]}, c: *a, d: [*a]}", &core,
         "{\"a\":{\"b\":[1]},\"c\":{\"b\":[1]},\"d\":[{\"b\":[1]}]}");
    says("{&k key: *k, *k : 1}", &core,
         "1:14: key: 'key' stands here a second time; the first is on line 1");
    says("[&k key, {*k : 1}]", &core, "[\"key\",{\"key\":1}]");
    says("[&a 1, &a 2, *a]", &core, "[1,2,2]");
    says("[&a , *a]", &core, "[null,null]");
}

TEST(test_what_is_refused)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"a:\n  b: 1\n  c: 2\n  b: 3\n",
         "4:3: a.b: 'b' stands here a second time; the first is on line 2"},
        {"- x: [1, {y: 1, y: 2}]\n",
         "1:17: [0].x[1].y: 'y' stands here a second time; the first is on line 1"},
        {"a: {? [b] : c}\n", "1:7: a: a key must be one word or text, as in name: value"},
        {"? {b: c}\n: d\n", "1:3: : a key must be one word or text, as in name: value"},
        {"[&a [1], {*a : 1}]", "1:11: [1]: a key must be one word or text, as in name: value"},
        {"[&a 1, {*a : 1}]", "1:9: [1]: a key must be one word or text, as in name: value"},
        {"a: 1\n--- {}\n", "2:1: : a second document begins here; only one document may be there"},
        {"---\n---\n", "2:1: : a second document begins here; only one document may be there"},
        {"a: 1\n...\n]\n",
         "3:1: : did not find expected <document start>; there is text after the document"},
        {"a: [[[1]]]", "{\"a\":[[[1]]]}"},
        {"a: [[[[1]]]]", "1:7: a[0][0][0]: it is nested too deep; at most 4 levels are allowed"},
        {"a: [[[[", "1:7: a[0][0][0]: it is nested too deep; at most 4 levels are allowed"},
        {"a: &a [[1]]\nb: [[*a]]\n",
         "2:6: b[0][0]: it is nested too deep; at most 4 levels are allowed"},
        {"a: &a [[1]]\nb: [*a]\n", "{\"a\":[[1]],\"b\":[[[1]]]}"},
        {"a: &a [*a]", "1:8: a[0]: *a is inside its own anchor"},
        {"a: &a {b: {c: *a}}", "1:15: a.b.c: *a is inside its own anchor"},
        {"a: */*\n", "1:5: : did not find expected alphabetic or numeric character, while scanning "
                     "an alias; put a text that begins with * in quotes"},
        {"a: [*b]", "1:5: a[0]: *b has no anchor; put a text that begins with * in quotes"},
        {"*b : 1", "1:1: : *b has no anchor; put a text that begins with * in quotes"},
        {"a: 1e999\n", "1:4: a: 1e999 is too large for a number"},
        {"a: {b: \"c\\0d\"}\n", "1:8: a.b: a text has the character \\u0000"},
        {"a: {\"c\\0d\": b}\n", "1:5: a: a text has the character \\u0000"},
        {"a:\n\tb: 1\n", "2:1: : there is a tab; YAML takes only blanks in front"},
        {"a:\n  \tb: 1\n", "2:3: : there is a tab; YAML takes only blanks in front"},
        {"a: @b", "1:4: : a text cannot begin with @; put it in quotes"},
        {"\xc3\xa4: `b", "1:4: : a text cannot begin with `; put it in quotes"},
        {"a: b: c", "1:5: : mapping values are not allowed in this context; is it indented as it "
                    "should be? A text with ': ' needs quotes"},
        {"a: [b[1]]", "1:6: : did not find expected ',' or ']', while parsing a flow sequence; put "
                      "a text with brackets or commas in quotes"},
        {"a: {", "2:1: : did not find expected node content, while parsing a flow node"},
        {"a: 'b", "1:6: : found unexpected end of stream, while scanning a quoted scalar"},
        {"%YAML 2.0\n--- a", "1:1: : found incompatible YAML document"},
        {"a: 1\nb: \xc3(\n", "2:5: : invalid trailing UTF-8 octet (0x28); the text must be UTF-8"},
        {"\xff\n", "1:1: : invalid leading UTF-8 octet (0xFF); the text must be UTF-8"},
        {"a: \xed\xa0\x80", "1:4: : invalid Unicode character (0xD800)"},
        {"a: x\x07", "1:5: : control characters are not allowed (0x07); write it as \\x.. in "
                     "double quotes"},
        {"a: \"\\ud800\"", "1:7: : found invalid Unicode character escape code, while parsing a "
                           "quoted scalar"},
    };
    for (size_t i = 0; i < N(cases); i++)
        says(cases[i].text, &core, cases[i].said);
}

/* `text` n times. */
static char *times(const char *before, const char *text, int n, const char *after)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, before);
    for (int i = 0; i < n; i++)
        strbuf_puts(&b, text);
    strbuf_puts(&b, after);
    return strbuf_take(&b);
}

static void said_of_times(const char *before, const char *text, int n, const char *after,
                          const char *expected)
{
    FREED char *all = times(before, text, n, after);
    FREED char *said = said_of(all, strlen(all), &core);
    if (!strstr(said, expected))
        assert_string_equal(said, expected);
}

TEST(test_hostile_texts_end_soon)
{
    said_of_times("", "[", 1000000, "", "1:5: [0][0][0][0]: it is nested too deep");
    said_of_times("", "- ", 1000000, "", "it is nested too deep");
    said_of_times("", "? ", 1000000, "", "a key must be one word");
    said_of_times("", "- &a x\n", 100000, "", "1001:3: [1000]: there are more than 1000 anchors");
    said_of_times("a: &a [", "x, ", 1000, "]\nb: [[*a]]", "{\"a\":[\"x\"");
    said_of_times("- &a [x, x, x, x, x, x, x, x, x, x]\n"
                  "- &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
                  "- &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n",
                  "- *c\n", 1000, "", "there are too many values (each use of an alias counts)");
    said_of_times("- &a x\n", "- *a\n", 1000000, "",
                  "1000000:3: [999999]: there are too many values");
    said_of_times("{", "a: ", 1000000, "1}", "1:6: : did not find expected");
    said_of_times("a: ", "\xf0\x9f\x98\x80", 100000, "", "{\"a\":\"\xf0\x9f\x98\x80");
    said_of_times("a: ", "x", 100000, "\xff", "1:100004: : invalid leading UTF-8 octet (0xFF)");
    said_of_times("? ", "x", 3000000, "\n: y", "\":\"y\"}");
}

/* What stands at a path of steps with blanks between: "LINE:COLUMN, N steps". */
static void place_is(const struct yaml_doc *doc, const char *path, const char *expected)
{
    char names[100], said[60];
    const char *steps[8];
    size_t n = 0;
    struct yaml_place at;
    snprintf(names, sizeof names, "%s", path);
    for (char *rest, *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        steps[n++] = name;
    size_t found = yaml_doc_place(doc, steps, n, &at);
    snprintf(said, sizeof said, "%zu:%zu, %zu", at.line, at.column, found);
    assert_string_equal(said, expected);
}

TEST(test_places)
{
    static const char text[] = "# a comment\n"
                               "a:\n"
                               "  b: [x, {c: y}]\n"
                               "\n"
                               "  'd e': &d\n"
                               "  - 1\n"
                               "  -\n"
                               "    f: {g: 1}\n"
                               "  a.b: 1\n"
                               "h: *d\n"
                               "i: [*d, 2]\n"
                               "j: 1\n";
    static const struct {
        const char *path, *place;
    } cases[] = {
        {"", "2:1, 0"},       {"a", "2:1, 1"},        {"a b", "3:3, 2"},   {"a b 0", "3:7, 3"},
        {"a b 1", "3:10, 3"}, {"a b 1 c", "3:11, 4"}, {"a b 2", "3:3, 2"}, {"a b 1 z 5", "3:10, 3"},
        {"z", "2:1, 0"},      {"a a.b", "9:3, 2"},    {"h", "10:1, 1"},    {"h 0", "10:1, 2"},
        {"h 1 f", "10:1, 3"}, {"h 1 f g", "10:1, 4"}, {"i 0", "11:5, 2"},  {"i 0 1 f", "11:5, 4"},
        {"i 1", "11:9, 2"},   {"j", "12:1, 1"},       {"j 0", "12:1, 1"},
    };
    struct yaml_doc doc;
    struct yaml_place at;
    struct err e;
    assert_int_equal(
        yaml_doc_read(text, sizeof text - 1, &(struct yaml_rules){.depth_max = 5}, &doc, &at, &e),
        0);
    for (size_t i = 0; i < N(cases); i++)
        place_is(&doc, cases[i].path, cases[i].place);
    static const char *const steps[] = {"a", "d e", "1", "f", "g"};
    assert_int_equal(yaml_doc_place(&doc, steps, 5, &at), 5);
    assert_int_equal(at.line, 8);
    assert_int_equal(at.column, 9);
    yaml_doc_free(&doc);
    assert_int_equal(yaml_doc_place(&doc, steps, 5, &at), 0);
    assert_int_equal(at.line, 1);
}

TEST(test_an_error_may_be_of_no_interest)
{
    struct yaml_doc doc;
    struct yaml_place at;
    assert_int_equal(yaml_doc_read("]", 1, &core, &doc, &at, NULL), -1);
    assert_int_equal(yaml_doc_read("{a: 1, a: 2}", 12, &core, &doc, &at, NULL), -1);
}
