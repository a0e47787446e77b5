/* SPDX-License-Identifier: MIT
 *
 * Metrics for Prometheus: /metrics of the site. A table of metrics (table.c) makes a page from
 * facts (facts.h). The facts are collected in steps, between which the loop serves other requests,
 * and the page is rendered in one of two formats (text.h).
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
    struct loop *loop; /* its wall clock gives the times of the usage record */
    int64_t begun_us;  /* wall time at which the daemon started */
    const char *state_dir;
    const char *backed_up; /* `batchaid backup` sets the time of this file */
    /* The wall time at which the certificate of the site (`of_site`) or of the daemon's authority
     * ends; 0: there is none. */
    int64_t (*certificate_ends_us)(const void *ctx, bool of_site);
    const void *certificates;
    /* Who may read the metrics, in addition to principals with the right batchaid/metrics/read:
     * clients with this token (NULL: none) or in these networks. */
    const char *token;
    const struct network *networks;
    size_t n_networks;
    bool people; /* whether the pages show the use of each person */
};

extern const struct service metrics_service;
struct error_words metrics_words(int kind);

static inline const struct metrics *metrics_of(const struct request *r)
{
    assert(service_deps_are(r->service, "metrics"));
    return r->deps;
}

#endif
