/* SPDX-License-Identifier: MIT
 *
 * The pages of metrics, and who may read them: a client in one of the networks of the settings; a
 * client with the lasting token of the settings; or a principal with the right
 * batchaid/metrics/read.
 */
#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/http/auth.h"
#include "api/metrics/jobs.h"
#include "api/metrics/metrics.h"
#include "api/metrics/nodes.h"
#include "api/metrics/rows.h"
#include "api/metrics/table.h"

#define ACTION "batchaid/metrics/read"
#define BEARER "Bearer "

/* --- pages ------------------------------------------------------------------------------------ */

static void show_site(struct metric_facts *f, const struct err *e)
{
    if (e) {
        request_finish(f->r, reply_err(f->r, e));
        return;
    }
    struct metric_text t = metrics_page(f->r);
    for (const struct metric *m = site_metrics; m->name; m++) {
        metric_family(&t, m->name, m->type, m->help);
        m->show(&t, f);
    }
    metrics_reply(f->r, &t);
}

static struct replied *site_get(struct request *r)
{
    facts_collect(r, show_site);
    return reply_later(r);
}

static struct replied *jobs_get(struct request *r)
{
    metrics_of_jobs(r);
    return reply_later(r);
}

static struct replied *nodes_get(struct request *r)
{
    metrics_of_nodes(r);
    return reply_later(r);
}

/* --- access ----------------------------------------------------------------------------------- */

static bool is_in_networks(struct request *r)
{
    const struct metrics *m = metrics_of(r);
    const char *peer = request_peer(r);
    struct net_address a;
    if (net_address_read(peer, strlen(peer), &a) < 0)
        return false;
    for (size_t i = 0; i < m->n_networks; i++)
        if (network_has(&m->networks[i], &a))
            return true;
    return false;
}

static bool has_token(const struct request *r)
{
    const char *wanted = metrics_of(r)->token, *given = request_header(r, "Authorization");
    if (!wanted || !given || strncasecmp(given, BEARER, strlen(BEARER)) != 0)
        return false;
    given += strlen(BEARER);
    size_t n = strlen(wanted);
    return strlen(given) == n && sodium_memcmp(given, wanted, n) == 0;
}

static int may(struct request *r, struct err *e)
{
    struct grants g;
    const struct access *x = metrics_of(r)->access;
    if (is_in_networks(r) || has_token(r))
        return 0;
    if (auth_check(r, e) < 0)
        return -1;
    const char *scope = arena_concat(&r->arena, "/subscriptions/", x->subscription_id);
    if (r->who->first)
        return 0;
    if (access_load(x, &r->arena, r->who, &g, e) < 0)
        return -1;
    return access_verdict(&g, ACTION, scope) == ACCESS_YES ? 0 : access_refuse(r, ACTION, scope, e);
}

/* --- the service ------------------------------------------------------------------------------ */

ERROR_TABLE(metrics_words, ARM_ERRORS, NO_OWN_ERRORS)

static const struct route routes[] = {
    {"GET", "/metrics", 0, 0, site_get, "Metrics_Get"},
    {"GET", "/metrics/jobs", 0, 0, jobs_get, "Metrics_GetJobs"},
    {"GET", "/metrics/nodes", 0, 0, nodes_get, "Metrics_GetNodes"},
};

static const char *const paths[] = {"/metrics", "/metrics/{page}", NULL};

const struct service metrics_service = {
    .name = "metrics",
    .deps = "metrics",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .body_max = REQUEST_BODY_MAX,
    .words = metrics_words,
    /* hooks for tests do not see these requests, because a scraper is no test */
    .unwatched = true,
};
