/* SPDX-License-Identifier: MIT
 *
 * XML bodies as a small tree. There are no document types here, so neither entities of the client's
 * own nor anything that is fetched from elsewhere; attributes and namespaces are read over.
 */
#ifndef API_HTTP_XML_H
#define API_HTTP_XML_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"

#define XML_DEPTH_MAX    32
#define XML_ELEMENTS_MAX 100000 /* a list of 50,000 blocks, twice */
/* What is read over must not cost what it would not be worth. */
#define XML_ATTRIBUTES_MAX 1000        /* of all elements together */
#define XML_TAG_MAX        (64 * 1024) /* bytes of one tag or comment, about */

struct xml {
    const char *name; /* as written, with its prefix */
    const char *text; /* what stands directly in it; "" if nothing does */
    const struct xml *child, *next;
};

/* *out: the root element. All of it is the arena's, and UTF-8, whatever it was sent in.
 * ERR_INVALID_CONTENT: no XML, or more than the limits above; messages quote nothing. */
int xml_decode(struct arena *a, const char *s, size_t n, const struct xml **out,
               struct err *e) MUST_CHECK;
/* The same a piece at a time, of some milliseconds at most; `s` is borrowed until the end. 1: there
 * is more to come; 0 and -1 as above, and the reading has ended. */
struct xml_reading *xml_begin(struct arena *a, const char *s, size_t n);
int xml_go_on(struct xml_reading *x, const struct xml **out, struct err *e) MUST_CHECK;
/* Of one that is given up, or NULL, or has ended already. Comes before the arena's end. */
void xml_end(struct xml_reading *x);
/* The first child of that name, and its text; NULL: there is none. */
const struct xml *xml_child(const struct xml *parent, const char *name);
const char *xml_text(const struct xml *parent, const char *name);

#endif
