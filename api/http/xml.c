/* SPDX-License-Identifier: MIT
 *
 * Builds the tree from the parser's events, with limits on depth and number. State: the reading,
 * with its stack of open elements; the request owns it. On the loop's thread.
 */
#include "api/http/xml.h"

#include <assert.h>
#include <expat.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"

#define PIECE (16 * 1024)

struct xml_node {
    struct xml xml;
    const struct xml **end; /* where the pointer to the next child of this element will be stored */
};

struct xml_reading {
    XML_Parser parser;
    struct arena *arena;
    const char *s;
    size_t n, at; /* number of bytes; number of parsed bytes */
    struct {
        struct xml_node *node;
        struct strbuf text;
    } open[XML_DEPTH_MAX]; /* the elements that have no end tag yet, outermost first */
    int depth;
    size_t elements, attributes;
    const struct xml *root;
    const char *why; /* why we stopped the parser */
};

static void stop(struct xml_reading *x, const char *why)
{
    x->why = why;
    XML_StopParser(x->parser, XML_FALSE);
}

static void on_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
    struct xml_reading *x = ctx;
    if (x->why)
        return;
    if (x->depth == XML_DEPTH_MAX) {
        stop(x, "it is nested too deep");
        return;
    }
    if (++x->elements > XML_ELEMENTS_MAX) {
        stop(x, "it has too many elements");
        return;
    }
    for (; *attributes; attributes += 2)
        x->attributes++;
    if (x->attributes > XML_ATTRIBUTES_MAX) {
        stop(x, "it has too many attributes");
        return;
    }
    struct xml_node *node = arena_alloc(x->arena, sizeof *node);
    node->xml = (struct xml){.name = arena_strdup(x->arena, name), .text = ""};
    node->end = &node->xml.child;
    if (x->depth == 0) {
        x->root = &node->xml;
    } else {
        struct xml_node *parent = x->open[x->depth - 1].node;
        *parent->end = &node->xml;
        parent->end = &node->xml.next;
    }
    x->open[x->depth++].node = node;
}

static void on_text(void *ctx, const XML_Char *s, int n)
{
    struct xml_reading *x = ctx;
    if (x->why) /* expat may still call back after it was stopped */
        return;
    assert(x->depth > 0); /* expat reports text outside of the root as a syntax error */
    strbuf_add(&x->open[x->depth - 1].text, s, (size_t)n);
}

static void on_end(void *ctx, const XML_Char *name)
{
    (void)name;
    struct xml_reading *x = ctx;
    if (x->why)
        return;
    assert(x->depth > 0);
    struct strbuf *text = &x->open[--x->depth].text;
    if (text->len > 0)
        x->open[x->depth].node->xml.text = arena_strndup(x->arena, text->s, text->len);
    strbuf_reset(text);
}

static void on_doctype(void *ctx, const XML_Char *name, const XML_Char *system_id,
                       const XML_Char *public_id, int has_internal)
{
    (void)name, (void)system_id, (void)public_id, (void)has_internal;
    stop(ctx, "it has a document type, which is not supported");
}

/* expat 2.9 has new functions for 64-bit positions and deprecates the old ones. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define LINE_OF   XML_GetCurrentLineNumber64
#define COLUMN_OF XML_GetCurrentColumnNumber64
#define BYTE_OF   XML_GetCurrentByteIndex64
#else
#define LINE_OF   XML_GetCurrentLineNumber
#define COLUMN_OF XML_GetCurrentColumnNumber
#define BYTE_OF   XML_GetCurrentByteIndex
#endif

static int failed(struct xml_reading *x, struct err *e)
{
    return err_set(e, ERR_INVALID_CONTENT, NULL,
                   "The request content is not valid XML: %s (line %lu, column %lu).",
                   x->why ? x->why : XML_ErrorString(XML_GetErrorCode(x->parser)),
                   (unsigned long)LINE_OF(x->parser), (unsigned long)COLUMN_OF(x->parser) + 1);
}

/* Gives expat the next piece. expat calls back for a tag only when it has the whole tag. */
static bool parse_piece(struct xml_reading *x)
{
    size_t piece = x->n - x->at < PIECE ? x->n - x->at : PIECE;
    bool last = x->at + piece == x->n;
    if (XML_Parse(x->parser, x->s + x->at, (int)piece, last) != XML_STATUS_OK)
        return false;
    x->at += piece;
    if (x->at - (size_t)BYTE_OF(x->parser) <= XML_TAG_MAX)
        return true;
    x->why = "it has a tag or comment that is too long";
    return false;
}

struct xml_reading *xml_begin(struct arena *a, const char *s, size_t n)
{
    struct xml_reading *x = arena_alloc(a, sizeof *x);
    *x = (struct xml_reading){.arena = a, .s = s, .n = n, .parser = XML_ParserCreate(NULL)};
    if (!x->parser)
        abort();
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, on_start, on_end);
    XML_SetCharacterDataHandler(x->parser, on_text);
    XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
    return x;
}

void xml_end(struct xml_reading *x)
{
    if (!x || !x->parser)
        return;
    XML_ParserFree(x->parser);
    x->parser = NULL;
    for (int i = 0; i < XML_DEPTH_MAX; i++)
        strbuf_free(&x->open[i].text);
}

int xml_go_on(struct xml_reading *x, const struct xml **out, struct err *e)
{
    int rc = parse_piece(x) ? x->at < x->n : failed(x, e);
    *out = rc == 0 ? x->root : NULL;
    if (rc <= 0)
        xml_end(x);
    return rc;
}

int xml_decode(struct arena *a, const char *s, size_t n, const struct xml **out, struct err *e)
{
    struct xml_reading *x = xml_begin(a, s, n);
    int rc;
    while ((rc = xml_go_on(x, out, e)) > 0)
        ;
    return rc;
}

const struct xml *xml_child(const struct xml *parent, const char *name)
{
    for (const struct xml *c = parent->child; c; c = c->next)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const char *xml_text(const struct xml *parent, const char *name)
{
    const struct xml *c = xml_child(parent, name);
    return c ? c->text : NULL;
}
