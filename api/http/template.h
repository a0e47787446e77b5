/* SPDX-License-Identifier: MIT
 *
 * Templates of routes: "/subscriptions/{subscription}/files/{path*}?restype=share&comp=".
 *
 * {name} matches one segment of a path, {name*} at the end matches one or more remaining segments.
 * After '?' follow parameters that the query must have: with this value, in any case of letters; or
 * empty ("comp="), which also matches an absent parameter. Other parameters do not matter. Literals
 * match in any case, because clients send both resourceGroups and resourcegroups. A segment
 * "certificates({name})" matches the text after the opening parenthesis, including the closing one.
 */
#ifndef API_HTTP_TEMPLATE_H
#define API_HTTP_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Whether a template's path fits the segments of a request. */
bool template_fits_path(const char *t, const struct request *r);
bool template_fits_query(const char *t, struct request *r);
/* Whether `a` is more literal than `b`, at the first segment where these two matching templates
 * differ. */
bool template_more_literal(const char *a, const char *b);

/* The length of the segment at p. */
size_t segment_length(const char *p);
/* Takes the next segment off a template: [*s, *s + *n). False: there is none. */
bool template_next(const char **t, const char **s, size_t *n);
bool template_is_param(const char *s, size_t n);
bool template_is_tail(const char *s, size_t n);
/* The length of "certificates(" in "certificates({name})"; 0: not such a segment. */
size_t template_opening(const char *s, size_t n);

#endif
