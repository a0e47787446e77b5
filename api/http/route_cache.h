/* SPDX-License-Identifier: MIT
 *
 * The routes of recent requests. Clients poll: a few paths are requested again and again. The
 * router's result for an accepted GET (service, route, version, decoded segments) is kept, so that
 * the next GET with this text costs one lookup in a table. The result depends only on the text of
 * the request and on tables that do not change, so it is never out of date. The token is not part
 * of it: it is checked each time.
 */
#ifndef API_HTTP_ROUTE_CACHE_H
#define API_HTTP_ROUTE_CACHE_H

#include <stdbool.h>

struct cache_kind;
struct cached_route;
struct request;

/* The kind of the cache api.routes. */
extern const struct cache_kind route_cache_kind;

/* If the route is cached, fills in the router's result and returns true. */
bool route_cache_find(struct request *r);
/* Keeps the router's result for an accepted request, if it is worth keeping. */
void route_cache_add(struct request *r);
/* The request needs it no more; NULL: nothing. */
void cached_route_release(struct cached_route *c);

#endif
