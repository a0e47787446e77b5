/* SPDX-License-Identifier: MIT
 *
 * Counts the work of the server since its start, for administrators and metrics.
 */
#include <stdlib.h>

#include "api/http/connections.h"
#include "api/http/http_priv.h"
#include "api/http/service.h"

void counts_begin(struct api *api)
{
    size_t n = api->config.n_services;
    api->replies = xcalloc(n + 1, sizeof *api->replies);
    for (size_t i = 0; i < n; i++)
        api->replies[i].service = api->config.services[i].service->name;
    api->replies[n].service = "none";
}

/* Counts a reply of the request's service. Searches the service in the list, because there are only
 * a few. */
void counts_reply(const struct request *r)
{
    const struct api_config *c = r->config;
    size_t i = 0;
    while (i < c->n_services && c->services[i].service != r->service)
        i++;
    r->api->counters.failed += r->status >= 500;
    r->api->replies[i].of_class[r->status / 100]++;
}

struct api_counters api_counters(const struct api *api)
{
    struct api_counters c = api->counters;
    connections_count(api->connections, &c.connections, &c.hung_up);
    return c;
}

struct api_counters request_counters(const struct request *r)
{
    return api_counters(r->api);
}

const struct api_replies *request_replies(const struct request *r, size_t *n)
{
    *n = r->config->n_services + 1;
    return r->api->replies;
}
