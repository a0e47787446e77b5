/* SPDX-License-Identifier: MIT
 *
 * The two formats of metrics, and which of them a client gets.
 */
#include "api/metrics/text.h"
#include "test/unit/support/tests.h"

TEST(test_a_scraper_gets_what_it_weighs_most)
{
    static const struct {
        const char *accept;
        bool open;
    } cases[] = {
        {NULL, false},
        {"", false},
        {"*/*", false},
        {"text/plain", false},
        {"application/openmetrics-text", true},
        {"application/openmetrics-text; version=1.0.0; q=0.5, text/plain;q=0.6", false},
        {"application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/"
         "*;q=0.1",
         true},
        {"text/plain;q=0.3 , APPLICATION/OpenMetrics-Text ; Q=0.4", true},
        {"application/openmetrics-text;q=0", false},
        {"application/openmetrics-text-of-another-kind", false},
        {",,;;q=,application/openmetrics-text;q", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (metric_text_wants_open(cases[i].accept) != cases[i].open)
            fail_msg("%s", cases[i].accept);
}

/* A counter, an info and a gauge in one of the formats. */
static char *shown(bool open, const char *value)
{
    struct metric_text t = {.b = STRBUF_INIT, .open = open};
    metric_family(&t, "made", METRIC_COUNTER, "Things\nthat \"are\" made.");
    metric_int(&t, METRIC_LABELS("by", value, "in", NULL), -3);
    metric_family(&t, "build", METRIC_INFO, "What.");
    metric_int(&t, METRIC_PLAIN, 1);
    metric_family(&t, "age_seconds", METRIC_GAUGE, "How old.");
    metric_ms(&t, METRIC_PLAIN, 12034);
    metric_us(&t, METRIC_PLAIN, 5);
    metric_text_end(&t);
    return strbuf_take(&t.b);
}

static void check(bool open, const char *value, const char *wanted)
{
    char *text = shown(open, value);
    assert_string_equal(text, wanted);
    free(text);
}

TEST(test_the_text_format_names_families_as_their_samples)
{
    check(false, "a",
          "# HELP made_total Things\\nthat \"are\" made.\n# TYPE made_total counter\n"
          "made_total{by=\"a\",in=\"\"} -3\n"
          "# HELP build_info What.\n# TYPE build_info gauge\nbuild_info 1\n"
          "# HELP age_seconds How old.\n# TYPE age_seconds gauge\nage_seconds 12.034\n"
          "age_seconds 0.000005\n");
}

TEST(test_openmetrics_names_families_without_suffixes_and_ends)
{
    check(true, "a",
          "# HELP made Things\\nthat \\\"are\\\" made.\n# TYPE made counter\n"
          "made_total{by=\"a\",in=\"\"} -3\n"
          "# HELP build What.\n# TYPE build info\nbuild_info 1\n"
          "# HELP age_seconds How old.\n# TYPE age_seconds gauge\nage_seconds 12.034\n"
          "age_seconds 0.000005\n# EOF\n");
}

TEST(test_a_label_may_be_any_text)
{
    struct metric_text t = {.b = STRBUF_INIT};
    metric_family(&t, "x", METRIC_GAUGE, "");
    strbuf_reset(&t.b);
    metric_int(&t, METRIC_LABELS("l", "q\"b\\n\nu\xc3\xa4 \xff\xc3 \xe2\x80\xae"), 1);
    assert_string_equal(
        t.b.s, "x{l=\"q\\\"b\\\\n\\nu\xc3\xa4 \xef\xbf\xbd\xef\xbf\xbd \xe2\x80\xae\"} 1\n");
    strbuf_free(&t.b);
}

TEST(test_a_histogram_is_cumulative)
{
    static const int bounds[] = {1, 60};
    static const int64_t in[] = {2, 0, 3};
    struct metric_text t = {.b = STRBUF_INIT};
    metric_family(&t, "w", METRIC_HISTOGRAM, "");
    strbuf_reset(&t.b);
    metric_histogram(&t, METRIC_LABELS("k", "v"), bounds, in, 2, 1500);
    assert_string_equal(t.b.s, "w_bucket{k=\"v\",le=\"1.0\"} 2\nw_bucket{k=\"v\",le=\"60.0\"} 2\n"
                               "w_bucket{k=\"v\",le=\"+Inf\"} 5\nw_sum{k=\"v\"} 1.500\n"
                               "w_count{k=\"v\"} 5\n");
    strbuf_free(&t.b);
}
