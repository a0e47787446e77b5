/* SPDX-License-Identifier: MIT
 *
 * Pages that show each metric for each of many rows. A page may have megabytes (16,000 jobs), so it
 * is rendered in slices, and the loop serves other requests between them.
 */
#ifndef API_METRICS_ROWS_H
#define API_METRICS_ROWS_H

#include "api/http/request.h"
#include "api/metrics/text.h"

struct row_metric {
    const char *name; /* without the suffix of its type (such as _total) */
    enum metric_type type;
    const char *help;
    void (*show)(struct metric_text *t, const void *row); /* the row's samples, or none */
};

/* Renders and sends the page of a waiting request. The last row of `table` has no name. `rows`: n
 * rows of `size` bytes each, in the request's arena. */
void rows_show(struct request *r, const struct row_metric *table, const void *rows, size_t size,
               size_t n);
/* Sends the page, and takes over the memory of `t`. */
void metrics_reply(struct request *r, struct metric_text *t);
struct metric_text metrics_page(const struct request *r);

#endif
