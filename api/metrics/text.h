/* SPDX-License-Identifier: MIT
 *
 * The two formats of a page of metrics: Prometheus' text format 0.0.4, and OpenMetrics 1.0. In
 * OpenMetrics the family of a counter or an info lacks the suffix of its samples, and "# EOF" ends
 * the page.
 */
#ifndef API_METRICS_TEXT_H
#define API_METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/strbuf.h"

#define METRICS_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum metric_type {
    METRIC_GAUGE,
    METRIC_COUNTER,   /* the names of its samples end in _total */
    METRIC_INFO,      /* the names of its samples end in _info, their values are 1 */
    METRIC_HISTOGRAM, /* the names of its samples end in _bucket, _sum and _count */
    METRIC_TYPES
};

struct metric_text {
    struct strbuf b;
    bool open;        /* whether the page has the format OpenMetrics */
    const char *name; /* name of the family that was begun last, without a suffix */
    enum metric_type type;
};

/* Whether a client that sends this header (NULL: none) prefers OpenMetrics (RFC 9110, 12.5.1). */
bool metric_text_wants_open(const char *accept);

/* Begins a family. */
void metric_family(struct metric_text *t, const char *name, enum metric_type type,
                   const char *help);
/* Labels: name, value, name, value ..., and a NULL at the end. Bytes of a value that are not UTF-8
 * become U+FFFD. */
#define METRIC_LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define METRIC_PLAIN       ((const char *const[]){NULL})
/* Add a sample to the family that was begun last. */
void metric_int(struct metric_text *t, const char *const *labels, int64_t value);
/* Add a sample in seconds, from thousandths or millionths of a second. */
void metric_ms(struct metric_text *t, const char *const *labels, int64_t ms);
void metric_us(struct metric_text *t, const char *const *labels, int64_t us);
/* Adds a histogram. in[i] observations are greater than bound_s[i - 1] and at most bound_s[i]
 * seconds; in[n] observations are greater than all bounds. */
void metric_histogram(struct metric_text *t, const char *const *labels, const int *bound_s,
                      const int64_t *in, size_t n, int64_t sum_ms);
void metric_text_end(struct metric_text *t);

#endif
