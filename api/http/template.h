/* SPDX-License-Identifier: MIT
 *
 * Templates of routes: "/subscriptions/{subscription}/files/{path*}?restype=share&comp=".
 *
 * {name} matches one segment of a path, {name*} at the end matches one or more remaining segments.
 * After '?' are parameters that the query must have with the same value, in any case of letters; an
 * empty value ("comp=") also matches an absent parameter. Other parameters of the query are
 * ignored. Literals match in any case of letters, because clients send both resourceGroups and
 * resourcegroups. In a segment "certificates({name})", {name} matches the text after the opening
 * parenthesis, including the closing parenthesis.
 */
#ifndef API_HTTP_TEMPLATE_H
#define API_HTTP_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Whether a template's path matches the segments of a request; template_fits_query(): whether its
 * parameters match the query. */
bool template_fits_path(const char *t, const struct request *r);
bool template_fits_query(const char *t, struct request *r);
/* Whether `a` is more literal than `b`, at the first segment where these two matching templates
 * differ. */
bool template_more_literal(const char *a, const char *b);

/* The length of the segment at p. */
size_t segment_length(const char *p);
/* Reads the next segment of a template, [*s, *s + *n), and moves *t after it. False: no more. */
bool template_next(const char **t, const char **s, size_t *n);
bool template_is_param(const char *s, size_t n);
bool template_is_tail(const char *s, size_t n);
/* The length of "certificates(" in a segment "certificates({name})"; 0: the segment has another
 * form. */
size_t template_opening(const char *s, size_t n);

#endif
