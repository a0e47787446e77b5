/* SPDX-License-Identifier: MIT
 *
 * The part of Microsoft Graph v1.0 that az uses: users, service principals, applications and their
 * passwords.
 */
#ifndef API_GRAPH_GRAPH_H
#define API_GRAPH_GRAPH_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"

struct access;

struct graph {
    const struct access *access;
};

extern const struct service graph_service;

static inline const struct graph *graph_of(const struct request *r)
{
    assert(service_deps_are(r->service, "graph"));
    return r->deps;
}

#endif
