/* SPDX-License-Identifier: MIT
 *
 * Reads XML bodies into a small tree. Refuses document types, so a client can neither define
 * entities nor make the daemon fetch anything; ignores attributes and namespaces.
 */
#ifndef API_HTTP_XML_H
#define API_HTTP_XML_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"

#define XML_DEPTH_MAX    32
#define XML_ELEMENTS_MAX 100000 /* a list of 50,000 blocks, twice */
/* Limits for the parts that are ignored, so that they cost little. */
#define XML_ATTRIBUTES_MAX 1000        /* of all elements together */
#define XML_TAG_MAX        (64 * 1024) /* bytes of one tag or comment, about */

struct xml {
    const char *name; /* as written, with its prefix */
    const char *text; /* the text directly inside; "": none */
    const struct xml *child, *next;
};

/* *out: the root element. All texts are the arena's and UTF-8, whatever encoding was sent.
 * ERR_INVALID_CONTENT: not XML, or beyond the limits above; messages quote nothing. */
int xml_decode(struct arena *a, const char *s, size_t n, const struct xml **out,
               struct err *e) MUST_CHECK;
/* Like xml_decode(), but in pieces of a few milliseconds; `s` is borrowed until the end. 1: call
 * again; 0 and -1 like xml_decode(): the reading has ended. */
struct xml_reading *xml_begin(struct arena *a, const char *s, size_t n);
int xml_go_on(struct xml_reading *x, const struct xml **out, struct err *e) MUST_CHECK;
/* Abandons a reading. Accepts NULL, and a reading that has ended. Call before the arena is
 * freed. */
void xml_end(struct xml_reading *x);
/* The first child with this name, and its text; NULL: no such child. */
const struct xml *xml_child(const struct xml *parent, const char *name);
const char *xml_text(const struct xml *parent, const char *name);

#endif
