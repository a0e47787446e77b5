/* SPDX-License-Identifier: MIT
 *
 * What the engine does for Azure Batch: spans of time, instants, numbers as texts, unknown names,
 * and the properties that $select names.
 */
#include "lib/strbuf.h"
#include "model/batch/versions.h"
#include "model/schema_priv.h"
#include "model/schema_rows.h"
#include "model/span.h"
#include "test/unit/model/doc.h"

enum { RED = 1, GREEN = 2 };
static const struct enum_name colours[] = {{RED, "red"}, {GREEN, "Green"}, {0, NULL}};

static const struct field inner_rows[] = {
    INT("count", .max = 10, .fallback = "1"),
    TEXT("newer", .versions = BATCH_SINCE(BATCH_12_0)),
};
static SCHEMA(inner, inner_rows, "Inner");

static const struct field rows[] = {
    TEXT("id"),
    TEXT("vmSize", LOWER),
    SPAN("timeout", 0, 300, 86400),
    SPAN("limit", .fallback = "\"P10675199DT2H48M5.4775807S\""),
    TIME("until"),
    REAL("share"),
    ENUM("colour", 0, colours),
    OBJECT("old", 0, inner, .canon = "inner", .versions = BATCH_UNTIL(BATCH_11_0)),
    OBJECT("inner", 0, inner, .versions = BATCH_SINCE(BATCH_12_0)),
    BOOL("on"),
    TEXTS("colours", .max = 3, .values = colours),
    TEXT("url", READONLY),
};
static SCHEMA(schema, rows, "Thing");

static int accept(unsigned v, const char *body, json_t **doc, struct err *e)
{
    json_t *in = doc_parse(body), *secrets;
    int rc = schema_accept_as(&schema, (enum api_version)v, SCHEMA_BATCH, in, doc, &secrets, e);
    assert_null(secrets);
    json_decref(in);
    return rc;
}

TEST(bodies_become_canonical)
{
    static const struct {
        unsigned v;
        const char *body, *doc;
    } cases[] = {
        {BATCH_16_0, "{}", "{'limit': 'P10675199DT2H48M5.4775807S'}"},
        {BATCH_16_0, "{'limit': 'P3Y6M4DT12H30M5S', 'url': 'read-only', 'odata.type': 'x'}",
         "{'limit': 'P1279DT12H30M5S'}"},
        {BATCH_16_0, "{'limit': 'PT0S', 'timeout': 'PT90M', 'vmSize': 'Standard_D1'}",
         "{'vmSize': 'standard_d1', 'timeout': 'PT1H30M', 'limit': 'PT0S'}"},
        {BATCH_16_0, "{'limit': 'P7D', 'until': '2018-06-07T23:34:00.25+02:00', 'share': 0.5}",
         "{'limit': 'P7D', 'until': '2018-06-07T21:34:00.25Z', 'share': 0.5}"},
        {BATCH_16_0, "{'limit': 'P7D', 'colour': 'GREEN', 'inner': {'count': '3', 'newer': 'n'}}",
         "{'limit': 'P7D', 'colour': 'Green', 'inner': {'count': 3, 'newer': 'n'}}"},
        {BATCH_16_0, "{'limit': 'P7D', 'colours': ['green', 'RED']}",
         "{'limit': 'P7D', 'colours': ['Green', 'red']}"},
        {BATCH_6_0, "{'limit': 'P7D', 'old': {}}", "{'limit': 'P7D', 'inner': {'count': 1}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *doc, *wanted = doc_parse(cases[i].doc);
        struct err e;
        if (accept(cases[i].v, cases[i].body, &doc, &e) < 0)
            fail_msg("%s: %s", cases[i].body, e.msg);
        if (!json_equal(doc, wanted))
            fail_msg("%s became %s", cases[i].body, json_dumps(doc, 0));
        json_decref(doc);
        json_decref(wanted);
    }
}

TEST(wrong_bodies_are_refused)
{
    static const struct {
        unsigned v;
        const char *body;
        int code;
        const char *target, *says;
    } cases[] = {
        {BATCH_16_0, "{'color': 'red'}", ERR_INVALID_CONTENT, "color", "on type 'Thing'"},
        {BATCH_16_0, "{'old': {}}", ERR_INVALID_CONTENT, "old", "does not exist"},
        {BATCH_6_0, "{'inner': {}}", ERR_INVALID_CONTENT, "inner", "does not exist"},
        {BATCH_6_0, "{'old': {'newer': 'n'}}", ERR_INVALID_CONTENT, "old.newer", "on type 'Inner'"},
        {BATCH_16_0, "{'inner': {'count': '3x'}}", ERR_INVALID_PROPERTY, "inner.count", "integer"},
        {BATCH_16_0, "{'inner': {'count': '11'}}", ERR_INVALID_PROPERTY, "inner.count", "to 10"},
        {BATCH_16_0, "{'timeout': 'PT4M59S'}", ERR_INVALID_PROPERTY, "timeout", "PT5M to P1D"},
        {BATCH_16_0, "{'timeout': 'P2D'}", ERR_INVALID_PROPERTY, "timeout", "PT5M to P1D"},
        {BATCH_16_0, "{'limit': 'seven days'}", ERR_INVALID_PROPERTY, "limit", "duration"},
        {BATCH_16_0, "{'limit': 'P20000000D'}", ERR_INVALID_PROPERTY, "limit", "duration"},
        {BATCH_16_0, "{'until': 'tomorrow'}", ERR_INVALID_PROPERTY, "until", "date and time"},
        {BATCH_16_0, "{'share': 'half'}", ERR_INVALID_PROPERTY, "share", "a number"},
        {BATCH_16_0, "{'colour': 'blue'}", ERR_INVALID_PROPERTY, "colour", "red"},
        {BATCH_16_0, "{'colours': ['red', 'blue']}", ERR_INVALID_PROPERTY, "colours[1]", "red"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *doc;
        struct err e;
        if (accept(cases[i].v, cases[i].body, &doc, &e) == 0)
            fail_msg("%s was taken", cases[i].body);
        assert_int_equal(e.code, cases[i].code);
        assert_string_equal(e.target, cases[i].target);
        if (!strstr(e.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].body, e.msg);
    }
}

TEST(spans_are_written_as_dotnet_does)
{
    static const struct {
        const char *text, *normal;
    } cases[] = {
        {"PT0S", "PT0S"},
        {"P0D", "PT0S"},
        {"PT60M", "PT1H"},
        {"PT86400S", "P1D"},
        {"P1W", "P7D"},
        {"P1Y", "P365D"},
        {"P1M", "P30D"},
        {"PT1M", "PT1M"},
        {"PT0.5S", "PT0.5S"},
        {"PT1.250000S", "PT1.25S"},
        {"P1DT0.000001S", "P1DT0.000001S"},
        {"P10675199DT2H48M5.4775807S", "P10675199DT2H48M5.4775807S"},
    };
    static const char *const wrong[] = {"",     "P",      "PT",    "7D",    "P1H",
                                        "PT1D", "P1DT1D", "P-1D",  "PT1.S", "P1.5D",
                                        "P1D ", "-P1D",   "P1D1D", "PTT1S", "P10675200D"};
    char out[SPAN_SIZE];
    int64_t us;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(span_parse(cases[i].text, &us), 0);
        span_text(us, out);
        assert_string_equal(out, cases[i].normal);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (span_parse(wrong[i], &us) == 0)
            fail_msg("'%s' was taken", wrong[i]);
}

static const char STORED[] =
    "{\"id\":\"i\",\"vmSize\":\"v\",\"share\":1.50,\"inner\":{\"count\":1}}";

static void expect_shown(unsigned v, const char *select, const char *wanted)
{
    const struct over over[] = {
        SHOW_BOOL("on", 1),
        SHOW_JSON("url", "\"https://h/\""),
        SHOW_TEXT("colour", NULL),
        SHOW_JSON("inner", NULL),
    };
    struct strbuf out = STRBUF_INIT;
    schema_set set;
    struct err e;
    assert_int_equal(schema_select(&schema, (enum api_version)v, select, &set, &e), 0);
    schema_render(
        &out, &(struct rendering){
                  .schema = &schema, .version = v, .stored = STORED, SHOW_LIST(over), .set = set});
    assert_string_equal(out.s, wanted);
    strbuf_free(&out);
}

TEST(what_is_selected_is_shown)
{
    struct err e;
    schema_set set;
    expect_shown(
        BATCH_16_0, NULL,
        "{\"id\":\"i\",\"vmSize\":\"v\",\"share\":1.50,\"inner\":{\"count\":1},\"on\":true,"
        "\"url\":\"https://h/\"}");
    expect_shown(BATCH_16_0, "url, id", "{\"id\":\"i\",\"url\":\"https://h/\"}");
    expect_shown(BATCH_16_0, "ON", "{\"on\":true}");
    expect_shown(BATCH_6_0, "old", "{\"old\":{\"count\":1}}");
    expect_shown(BATCH_6_0, "limit", "{}");
    assert_int_equal(schema_select(&schema, (enum api_version)BATCH_6_0, "id,inner", &set, &e), -1);
    assert_int_equal(e.code, ERR_INVALID_QUERY);
    assert_string_equal(e.target, "$select");
}

/* A stored word that the version does not have is left out. */
TEST(words_of_lists_are_shown_as_the_version_writes_them)
{
    struct strbuf out = STRBUF_INIT;
    schema_render(&out,
                  &(struct rendering){.schema = &schema,
                                      .version = BATCH_16_0,
                                      .stored = "{\"colours\":[\"RED\",\"blue\",\"green\",5]}"});
    assert_string_equal(out.s, "{\"colours\":[\"red\",\"Green\"]}");
    strbuf_free(&out);
}

TEST(versions_have_names)
{
    assert_int_equal(batch_version_from_name("2022-10-01.16.0"), BATCH_16_0);
    assert_int_equal(batch_version_from_name("2015-12-01.2.2"), 0);
    assert_string_equal(batch_version_name(BATCH_20_0), "2024-07-01.20.0");
    assert_string_equal(batch_version_name(BATCH_2025_06), "2025-06-01");
    assert_int_equal(BATCH_SINCE(BATCH_6_0), BATCH_ALL);
    assert_int_equal(BATCH_UNTIL(BATCH_2025_06), BATCH_ALL);
    assert_int_equal(BATCH_SINCE(BATCH_2025_06), BATCH_2025_06);
    assert_int_equal(BATCH_WITHIN(BATCH_6_1, BATCH_7_0), BATCH_6_1 | BATCH_7_0);
}
