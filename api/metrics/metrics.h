/* SPDX-License-Identifier: MIT
 *
 * Metrics for Prometheus: /metrics of the site. A table of metrics (table.c) makes a page from
 * facts (facts.h). The facts are collected in steps with turns of the loop between them, and the
 * page is rendered in one of two formats (text.h).
 */
#ifndef API_METRICS_METRICS_H
#define API_METRICS_METRICS_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"
#include "lib/network.h"

struct access;
struct files;
struct fleet;
struct fronts;
struct loop;
struct runs;
struct storage;
struct wakes;

struct metrics {
    struct storage *storage;
    struct fleet *fleet;
    const struct runs *runs;
    const struct wakes *wakes;
    const struct files *files;
    const struct fronts *fronts;
    const struct access *access;
    struct loop *loop; /* its wall clock stamps the record of use */
    int64_t begun_us;  /* its wall time at the start */
    const char *state_dir;
    const char *backed_up; /* the file that `batchaid backup` touches */
    /* The wall times at which the certificates end; 0: there is none. */
    int64_t (*certificate_ends_us)(const void *ctx, bool of_site);
    const void *certificates;
    /* Who may read, in addition to principals with the right batchaid/metrics/read. */
    const char *token; /* NULL: none */
    const struct network *networks;
    size_t n_networks;
    bool people; /* shows the use of each person */
};

extern const struct service metrics_service;
struct error_words metrics_words(int kind);

static inline const struct metrics *metrics_of(const struct request *r)
{
    assert(service_deps_are(r->service, "metrics"));
    return r->deps;
}

#endif
