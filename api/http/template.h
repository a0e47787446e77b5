/* SPDX-License-Identifier: MIT
 *
 * Templates of routes: "/subscriptions/{subscription}/files/{path*}?restype=share&comp=".
 *
 * A {name} takes one segment of a path, a {name*} at the end all that is left, at least one. Behind
 * a '?' stand parameters that the query must have: with this value, in any case; or with none
 * ("comp="), which an absent parameter has, too. Parameters that are not named do not matter.
 * Literals match in any case, because clients send both resourceGroups and resourcegroups. A
 * segment "certificates({name})" takes what stands behind the opening parenthesis, the closing one
 * included.
 */
#ifndef API_HTTP_TEMPLATE_H
#define API_HTTP_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Whether a template's path fits the segments of a request. */
bool template_fits_path(const char *t, const struct request *r);
bool template_fits_query(const char *t, struct request *r);
/* Whether `a` is the more literal of two templates that fit, at the first segment where they
 * differ. */
bool template_more_literal(const char *a, const char *b);

/* How long the segment is that begins here. */
size_t segment_length(const char *p);
/* Takes the next segment off a template: [*s, *s + *n). False: there is none. */
bool template_next(const char **t, const char **s, size_t *n);
bool template_is_param(const char *s, size_t n);
bool template_is_tail(const char *s, size_t n);
/* How long "certificates(" is in "certificates({name})"; 0: it is no such segment. */
size_t template_opening(const char *s, size_t n);

#endif
