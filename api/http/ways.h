/* SPDX-License-Identifier: MIT
 *
 * Ways that were found before. Clients poll: the same few paths are asked for again and again. What
 * the router made of a GET that it accepted is kept, so that the next of the same words costs one
 * look into a table: service, route, version, decoded segments. All of it follows from the words
 * of the request and from tables that do not change, so it is never out of date. Who asks is not
 * part of it: that is looked at each time.
 *
 * There is room for so many ways; one more takes the place of another.
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
/* If it is known, fills in what the router would and returns true. */
bool ways_take(struct request *r);
/* Keeps what the router made of an accepted request, if it is one to keep. */
void ways_keep(struct request *r);
void way_release(struct way *w); /* NULL: nothing */

#endif
