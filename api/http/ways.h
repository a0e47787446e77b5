/* SPDX-License-Identifier: MIT
 *
 * Remembered ways from requests to routes. Clients poll: the same few paths are requested again and
 * again. The router's result for an accepted GET (service, route, version, decoded segments) is
 * kept, so that the next GET with the same text costs one lookup in a table. The result depends
 * only on the text of the request and on tables that do not change, so it is never out of date. The
 * token is not part of it: it is checked each time.
 *
 * The number of ways is fixed; a new one replaces another.
 */
#ifndef API_HTTP_WAYS_H
#define API_HTTP_WAYS_H

#include <stdbool.h>
#include <stdint.h>

struct request;
struct way;
struct ways;

struct ways *ways_create(void);
void ways_destroy(struct ways *all);
/* If the way is known, fills in the router's result and returns true. */
bool ways_take(struct request *r);
/* Keeps the router's result for an accepted request, if it is worth keeping. */
void ways_keep(struct request *r);
void way_release(struct way *w); /* NULL: nothing */

#endif
