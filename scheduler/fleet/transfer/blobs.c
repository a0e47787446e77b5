/* SPDX-License-Identifier: MIT
 *
 * Lists come from untrusted servers: the reader of their XML bounds texts and names, and ignores
 * unknown elements.
 */
#include "scheduler/fleet/transfer/blobs.h"

#include <expat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base64.h"
#include "lib/strbuf.h"

/* --- URLs --------------------------------------------------------------------------------------
 */

static void add_encoded(struct strbuf *b, const char *text, const char *also)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++) {
        if (strchr(plain, *text) || strchr(also, *text))
            strbuf_putc(b, *text);
        else
            strbuf_printf(b, "%%%02X", (unsigned char)*text);
    }
}

static const char *taken(struct arena *a, struct strbuf *b)
{
    const char *text = arena_strdup(a, b->s);
    strbuf_free(b);
    return text;
}

const char *blob_url(struct arena *a, const char *container, const char *blob)
{
    struct strbuf b = STRBUF_INIT;
    size_t n = strcspn(container, "?#"), query = strcspn(container, "#");
    while (n > 0 && container[n - 1] == '/')
        n--;
    strbuf_add(&b, container, n);
    strbuf_putc(&b, '/');
    add_encoded(&b, blob, "/");
    n = strcspn(container, "?#");
    strbuf_add(&b, container + n, query - n);
    return taken(a, &b);
}

/* --- blocks ------------------------------------------------------------------------------------
 */

/* The service requires block ids of one length, in base64: decimal digits encode to letters and
 * digits only. */
static void add_block_id(struct strbuf *b, size_t number)
{
    char digits[7];
    snprintf(digits, sizeof digits, "%06u", (unsigned)(number % 1000000));
    char *id = base64_encode(digits, 6);
    strbuf_puts(b, id);
    free(id);
}

static void add_parameter(struct strbuf *b, const char *url, const char *text)
{
    strbuf_puts(b, url);
    strbuf_putc(b, strchr(url, '?') ? '&' : '?');
    strbuf_puts(b, text);
}

const char *blob_block_url(struct arena *a, const char *container, const char *blob, size_t number)
{
    struct strbuf b = STRBUF_INIT;
    add_parameter(&b, blob_url(a, container, blob), "comp=block&blockid=");
    add_block_id(&b, number);
    return taken(a, &b);
}

const char *blob_commit_url(struct arena *a, const char *container, const char *blob)
{
    struct strbuf b = STRBUF_INIT;
    add_parameter(&b, blob_url(a, container, blob), "comp=blocklist");
    return taken(a, &b);
}

char *blob_commit_body(size_t n, size_t *len)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(&b, "<Latest>");
        add_block_id(&b, i);
        strbuf_puts(&b, "</Latest>");
    }
    strbuf_puts(&b, "</BlockList>");
    *len = b.len;
    return strbuf_take(&b);
}

const char *blob_list_url(struct arena *a, const char *container, const char *prefix,
                          const char *marker)
{
    struct strbuf b = STRBUF_INIT;
    size_t n = strcspn(container, "#");
    bool has_query = memchr(container, '?', n) != NULL;
    strbuf_add(&b, container, n);
    strbuf_printf(&b, "%srestype=container&comp=list&prefix=", has_query ? "&" : "?");
    add_encoded(&b, prefix, "");
    if (marker) {
        strbuf_puts(&b, "&marker=");
        add_encoded(&b, marker, "");
    }
    return taken(a, &b);
}

/* --- lists -------------------------------------------------------------------------------------
 */

struct listing_reading {
    struct arena *a;
    struct blob_page *page;
    XML_Parser parser;
    size_t room;
    int depth;
    bool in_blob, in_properties, collects, is_encoded;
    struct blob_listed blob; /* the blob that is being read; name NULL: not known yet */
    struct strbuf text;
};

/* Whether the text of the current element is needed: EnumerationResults/Blobs/Blob/Name,
 * .../Blob/Properties/Content-Length, and EnumerationResults/NextMarker. */
static bool is_collected(const struct listing_reading *r, const char *name)
{
    if (r->depth == 2)
        return strcmp(name, "NextMarker") == 0;
    if (r->depth == 4)
        return r->in_blob && strcmp(name, "Name") == 0;
    return r->depth == 5 && r->in_blob && r->in_properties && strcmp(name, "Content-Length") == 0;
}

/* The service marks a name that contains characters forbidden in XML by an attribute Encoded. */
static bool is_encoded(const char **attributes)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], "Encoded") == 0)
            return strcmp(attributes[1], "true") == 0;
    return false;
}

static void on_begin(void *ctx, const char *name, const char **attributes)
{
    struct listing_reading *r = ctx;
    r->depth++;
    if (r->depth == 3) {
        r->in_blob = strcmp(name, "Blob") == 0;
        r->blob = (struct blob_listed){0};
    }
    if (r->depth == 4)
        r->in_properties = strcmp(name, "Properties") == 0;
    r->collects = is_collected(r, name);
    r->is_encoded = is_encoded(attributes);
    strbuf_reset(&r->text);
}

static void on_text(void *ctx, const char *text, int n)
{
    struct listing_reading *r = ctx;
    if (r->collects)
        strbuf_add(&r->text, text, (size_t)n);
}

static void add_blob(struct listing_reading *r)
{
    struct blob_page *p = r->page;
    if (p->n == r->room) {
        size_t room = r->room > 0 ? 2 * r->room : 64;
        struct blob_listed *blobs = arena_alloc(r->a, room * sizeof *blobs);
        if (p->n > 0)
            memcpy(blobs, p->blobs, p->n * sizeof *blobs);
        p->blobs = blobs;
        r->room = room;
    }
    p->blobs[p->n++] = r->blob;
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

/* Decodes "%EF%BF%BE" to bytes; invalid codes and "%00" stay as they are. */
static void decode(struct strbuf *b)
{
    size_t to = 0;
    for (size_t at = 0; at < b->len; at++) {
        bool code = b->s[at] == '%' && at + 2 < b->len;
        int high = code ? digit_of(b->s[at + 1]) : -1, low = code ? digit_of(b->s[at + 2]) : -1;
        bool taken = high >= 0 && low >= 0 && high + low > 0;
        b->s[to++] = taken ? (char)(high * 16 + low) : b->s[at];
        at += taken ? 2 : 0;
    }
    b->s[to] = '\0';
    b->len = to;
}

static void take_text(struct listing_reading *r)
{
    if (r->depth == 5) {
        r->blob.has_bytes = strspn(r->text.s, "0") < r->text.len;
        return;
    }
    if (r->depth == 4 && r->is_encoded)
        decode(&r->text);
    const char *text = arena_strdup(r->a, r->text.s);
    *(r->depth == 4 ? &r->blob.name : &r->page->next) = text;
}

static void on_end(void *ctx, const char *name)
{
    struct listing_reading *r = ctx;
    (void)name;
    if (r->collects && r->text.len > 0)
        take_text(r);
    if (r->depth == 3 && r->in_blob && r->blob.name)
        add_blob(r);
    else if (r->depth == 3 && r->in_blob)
        r->page->nameless++;
    r->collects = false;
    r->depth--;
}

/* Refuses a document type: lists have none, and its entities would be dangerous. */
static void on_doctype(void *ctx, const char *name, const char *system, const char *public,
                       int internal)
{
    struct listing_reading *r = ctx;
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    XML_StopParser(r->parser, XML_FALSE);
}

int blob_page_read(struct arena *a, const char *xml, size_t n, struct blob_page *out, struct err *e)
{
    struct listing_reading r = {.a = a, .page = out, .text = STRBUF_INIT};
    *out = (struct blob_page){0};
    r.parser = XML_ParserCreate(NULL);
    if (!r.parser)
        abort();
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_begin, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    bool good = XML_Parse(r.parser, xml, (int)n, 1) == XML_STATUS_OK;
    XML_ParserFree(r.parser);
    strbuf_free(&r.text);
    return good ? 0 : err_set(e, ERR_PROTOCOL, NULL, "its list of blobs cannot be understood");
}
