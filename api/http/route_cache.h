/* SPDX-License-Identifier: MIT
 *
 * The routes of recent requests. Clients poll: a few paths are requested again and again. The
 * router's result for an accepted GET (service, route, version, decoded segments) is kept, so that
 * the next GET with the same text needs only one lookup in a table. The result depends only on the
 * text of the request, on tables that do not change, and on settings: api_change() clears the
 * cache. The token is not part of the result: it is checked for each request.
 */
#ifndef API_HTTP_ROUTE_CACHE_H
#define API_HTTP_ROUTE_CACHE_H

#include <stdbool.h>

struct cache_kind;
struct cached_route;
struct request;

/* The kind of the cache api.routes. */
extern const struct cache_kind route_cache_kind;

/* True: the route is cached, and the router's result was filled in; false: it is not cached. */
bool route_cache_find(struct request *r);
/* Keeps the router's result for an accepted request, if requests of this kind are cached. */
void route_cache_add(struct request *r);
/* Call it when the request no longer needs `c`; `c` may be NULL. */
void cached_route_release(struct cached_route *c);

#endif
