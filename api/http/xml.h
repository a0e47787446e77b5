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
#define XML_ATTRIBUTES_MAX 1000        /* attributes of all elements together */
#define XML_TAG_MAX        (64 * 1024) /* approximate bytes of one tag or comment */

struct xml {
    const char *name; /* as written, with its prefix */
    const char *text; /* the text directly inside; "": none */
    const struct xml *child, *next;
};

/* Sets *out to the root element. All texts are UTF-8, whatever encoding was sent, and in the arena.
 * ERR_INVALID_CONTENT: the text is no XML, or exceeds the limits above; the message quotes nothing
 * of it. */
int xml_decode(struct arena *a, const char *s, size_t n, const struct xml **out,
               struct err *e) MUST_CHECK;
/* Like xml_decode(), but each call of xml_go_on() parses for a few milliseconds; `s` is borrowed
 * until the reading ends. 1: call xml_go_on() again; 0 and -1 as for xml_decode(): the reading has
 * ended. */
struct xml_reading *xml_begin(struct arena *a, const char *s, size_t n);
int xml_go_on(struct xml_reading *x, const struct xml **out, struct err *e) MUST_CHECK;
/* Abandons a reading; must be called before the arena is freed. `x` may be NULL or a reading that
 * has ended. */
void xml_end(struct xml_reading *x);
/* The first child with this name, and its text; NULL: no such child. */
const struct xml *xml_child(const struct xml *parent, const char *name);
const char *xml_text(const struct xml *parent, const char *name);

#endif
