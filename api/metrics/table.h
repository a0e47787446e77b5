/* SPDX-License-Identifier: MIT
 *
 * The tables of metrics of each page.
 */
#ifndef API_METRICS_TABLE_H
#define API_METRICS_TABLE_H

#include "api/metrics/facts.h"
#include "api/metrics/text.h"

struct metric {
    const char *name; /* without the suffix of its type (such as _total) */
    enum metric_type type;
    const char *help;
    void (*show)(struct metric_text *t, const struct metric_facts *f);
};

/* The last row has no name. */
extern const struct metric site_metrics[];

#endif
