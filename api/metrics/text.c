/* SPDX-License-Identifier: MIT
 *
 * Chooses the format by the weights (q=) in the header Accept, and renders metric families and
 * samples.
 */
#include "api/metrics/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/jsontext.h"

#define OPEN_METRICS "application/openmetrics-text"
#define REPLACEMENT  "\xef\xbf\xbd" /* U+FFFD as UTF-8 */

static const struct {
    const char *name, *suffix;
} types[METRIC_TYPES] = {[METRIC_GAUGE] = {"gauge", ""},
                         [METRIC_COUNTER] = {"counter", "_total"},
                         [METRIC_INFO] = {"info", "_info"},
                         [METRIC_HISTOGRAM] = {"histogram", ""}};

/* --- which format ----------------------------------------------------------------------------- */

/* The weight of a media range such as "text/plain;version=0.0.4;q=0.3", in thousandths (here
 * 300). */
static int weight_of(const char *range, size_t n)
{
    for (const char *p = range; (p = memchr(p, ';', n - (size_t)(p - range)));) {
        p++;
        p += strspn(p, " \t");
        if (strncasecmp(p, "q=", 2) == 0)
            return (int)(1000 * strtod(p + 2, NULL));
    }
    return 1000;
}

/* The weight of the first range in `accept` whose type is `type`; -1: there is none. */
static int weight_in(const char *accept, const char *type)
{
    for (const char *p = accept; *p;) {
        p += strspn(p, ", \t");
        size_t n = strcspn(p, ",");
        size_t name = strcspn(p, ";, \t");
        if (name == strlen(type) && strncasecmp(p, type, name) == 0)
            return weight_of(p, n);
        p += n;
    }
    return -1;
}

bool metric_text_wants_open(const char *accept)
{
    int open = accept ? weight_in(accept, OPEN_METRICS) : -1;
    return open > 0 && open >= weight_in(accept, "text/plain");
}

/* --- texts ------------------------------------------------------------------------------------ */

static bool is_plain(unsigned char c)
{
    return c > 0 && c < 0x80 && c != '\n' && c != '\\' && c != '"';
}

/* The number of bytes at the start of the text that need no escape. */
static size_t plain(const char *s)
{
    size_t n = 0;
    while (is_plain((unsigned char)s[n]))
        n++;
    return n;
}

static void add_escaped(struct strbuf *b, const char *s, bool quotes)
{
    while (*s) {
        size_t whole = plain(s), n = whole ? whole : jsontext_character(s);
        if (whole)
            strbuf_add(b, s, whole);
        else if (n == 0)
            strbuf_puts(b, REPLACEMENT);
        else if (*s == '\n')
            strbuf_puts(b, "\\n");
        else if (*s == '\\' || (quotes && *s == '"'))
            strbuf_concat(b, "\\", *s == '"' ? "\"" : "\\");
        else
            strbuf_add(b, s, n);
        s += n ? n : 1;
    }
}

static void add_labels(struct strbuf *b, const char *const *labels, const char *le)
{
    const char *before = "{";
    for (; labels[0]; labels += 2) {
        strbuf_concat(b, before, labels[0], "=\"");
        add_escaped(b, labels[1] ? labels[1] : "", true);
        strbuf_putc(b, '"');
        before = ",";
    }
    if (le) {
        strbuf_concat(b, before, "le=\"", le, "\"");
        before = ",";
    }
    if (*before == ',')
        strbuf_putc(b, '}');
    strbuf_putc(b, ' ');
}

/* --- families and samples --------------------------------------------------------------------- */

/* The text format has no type "info", so infos become gauges. In the text format the name of a
 * family has the suffix of its samples. */
void metric_family(struct metric_text *t, const char *name, enum metric_type type, const char *help)
{
    const char *suffix = t->open ? "" : types[type].suffix;
    bool info = type == METRIC_INFO && !t->open;
    t->name = name;
    t->type = type;
    strbuf_concat(&t->b, "# HELP ", name, suffix, " ");
    add_escaped(&t->b, help, t->open);
    strbuf_concat(&t->b, "\n# TYPE ", name, suffix, " ", info ? "gauge" : types[type].name, "\n");
}

static void sample(struct metric_text *t, const char *const *labels)
{
    strbuf_concat(&t->b, t->name, types[t->type].suffix);
    add_labels(&t->b, labels, NULL);
}

void metric_int(struct metric_text *t, const char *const *labels, int64_t value)
{
    sample(t, labels);
    strbuf_int(&t->b, value);
    strbuf_putc(&t->b, '\n');
}

static void add_ms(struct strbuf *b, int64_t ms)
{
    strbuf_printf(b, "%lld.%03d\n", (long long)(ms / 1000), (int)(ms % 1000));
}

void metric_ms(struct metric_text *t, const char *const *labels, int64_t ms)
{
    sample(t, labels);
    add_ms(&t->b, ms);
}

void metric_us(struct metric_text *t, const char *const *labels, int64_t us)
{
    sample(t, labels);
    strbuf_printf(&t->b, "%lld.%06d\n", (long long)(us / 1000000), (int)(us % 1000000));
}

static void add_bucket(struct metric_text *t, const char *const *labels, const char *le, int64_t n)
{
    strbuf_concat(&t->b, t->name, "_bucket");
    add_labels(&t->b, labels, le);
    strbuf_int(&t->b, n);
    strbuf_putc(&t->b, '\n');
}

void metric_histogram(struct metric_text *t, const char *const *labels, const int *bound_s,
                      const int64_t *in, size_t n, int64_t sum_ms)
{
    int64_t so_far = 0;
    for (size_t i = 0; i < n; i++) {
        struct strbuf le = STRBUF_INIT;
        strbuf_printf(&le, "%d.0", bound_s[i]); /* OpenMetrics requires a float */
        add_bucket(t, labels, le.s, so_far += in[i]);
        strbuf_free(&le);
    }
    add_bucket(t, labels, "+Inf", so_far += in[n]);
    strbuf_concat(&t->b, t->name, "_sum");
    add_labels(&t->b, labels, NULL);
    add_ms(&t->b, sum_ms);
    strbuf_concat(&t->b, t->name, "_count");
    add_labels(&t->b, labels, NULL);
    strbuf_int(&t->b, so_far);
    strbuf_putc(&t->b, '\n');
}

void metric_text_end(struct metric_text *t)
{
    if (t->open)
        strbuf_puts(&t->b, "# EOF\n");
}
