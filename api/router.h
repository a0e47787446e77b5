/* SPDX-License-Identifier: MIT
 *
 * The one route table of the whole API (routes.c) and the dispatcher that does the common work
 * once: routing, 404/405, api-version, token, JSON body, path parameters' form.
 */
#ifndef API_ROUTER_H
#define API_ROUTER_H

#include "api/request.h"

enum route_flag {
    ROUTE_NO_AUTH = 1 << 0,
    ROUTE_NO_VERSION = 1 << 1,  /* api-version is neither needed nor looked at */
    ROUTE_ANY_VERSION = 1 << 2, /* ARM's own: any api-version will do */
    ROUTE_JSON = 1 << 3,        /* has a JSON body */
    ROUTE_JSON_OPTIONAL = 1 << 4
};

struct route {
    const char *method;
    const char *path;  /* /subscriptions/{subscription}/...; {rest*} takes all that is left */
    unsigned versions; /* of Microsoft.BatchAI; 0 with ROUTE_*_VERSION */
    unsigned flags;
    api_handler handler;
    const char *operation_id; /* the spec's, or our own name */
};

extern const struct route api_routes[];
extern const size_t api_routes_n;

/* Finds the route and calls its handler. */
REPLIED router_dispatch(struct request *r);

/* Which Microsoft.BatchAI versions the table serves, as a set of enum api_version. */
unsigned router_versions(void);

#endif
