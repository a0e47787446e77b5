/* SPDX-License-Identifier: MIT
 *
 * Pages with a sample of each metric for each of many rows. They are rendered in slices with turns
 * of the loop between them: 16,000 jobs make megabytes.
 */
#ifndef API_METRICS_ROWS_H
#define API_METRICS_ROWS_H

#include "api/http/request.h"
#include "api/metrics/text.h"

struct row_metric {
    const char *name; /* without the suffix of its type */
    enum metric_type type;
    const char *help;
    void (*show)(struct metric_text *t, const void *row); /* the row's samples, or none */
};

/* Answers a request that waits: `table` ends with a row without a name, `rows` are n of `size`
 * bytes in the request's arena. */
void rows_show(struct request *r, const struct row_metric *table, const void *rows, size_t size,
               size_t n);
/* Answers with the page; takes `t`. */
void metrics_reply(struct request *r, struct metric_text *t);
struct metric_text metrics_page(const struct request *r);

#endif
