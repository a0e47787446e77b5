/* SPDX-License-Identifier: MIT
 *
 * The form of the lists of both data planes: reads their queries, and writes <EnumerationResults>.
 * A list belongs to its request. On the loop's thread.
 */
#include "api/plane/storage/listing.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/url.h"
#include "api/plane/storage/xml_write.h"

#define LISTING_MAX 5000 /* most items of a page */

/* --- the query ------------------------------------------------------------------------------ */

/* Reads the marker. A marker is a name in hexadecimal digits, because every client sends such a
 * text back unchanged. */
static int read_marker(struct request *r, struct storage_list *l, struct err *e)
{
    l->sent = request_query(r, "marker");
    l->marker = NULL;
    if (!l->sent || !*l->sent)
        return 0;
    size_t n = strlen(l->sent), got;
    char *name = arena_alloc(&r->arena, n / 2 + 1);
    if (n % 2 == 0 &&
        sodium_hex2bin((unsigned char *)name, n / 2, l->sent, n, NULL, &got, NULL) == 0 &&
        got == n / 2 && strlen(name) == got) {
        l->marker = name;
        return 0;
    }
    return err_set(e, ERR_INVALID_QUERY, "marker",
                   "The marker '%.80s' does not come from a list of this service.", l->sent);
}

bool listing_includes(struct request *r, const char *word)
{
    const char *p = request_query(r, "include");
    size_t n = strlen(word);
    while (p && *p) {
        size_t len = strcspn(p, ",");
        if (len == n && strncasecmp(p, word, n) == 0)
            return true;
        p += len + (p[len] == ',');
    }
    return false;
}

static bool is_among(const char *text, size_t n, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == n && strncasecmp(text, *words, n) == 0)
            return true;
    return false;
}

int listing_check_include(struct request *r, const char *const *words, struct err *e)
{
    const char *p = request_query(r, "include");
    while (p && *p) {
        size_t n = strcspn(p, ",");
        if (n > 0 && !is_among(p, n, words))
            return err_set(e, ERR_INVALID_QUERY, "include",
                           "'%.*s' is not a valid value of include.", n > 40 ? 40 : (int)n, p);
        p += n + (p[n] == ',');
    }
    return 0;
}

/* --- the text ------------------------------------------------------------------------------- */

static void attribute(struct strbuf *b, const char *name, const char *value)
{
    strbuf_concat(b, " ", name, "=\"");
    xml_escaped(b, value);
    strbuf_puts(b, "\"");
}

static void begin(struct page *p)
{
    const struct storage_list *l = p->of;
    struct request *r = p->r;
    struct strbuf *b = &p->text;
    const char *base = request_base(r);
    if (r->door->service) /* then the path contains the account */
        base = arena_concat(&r->arena, base, "/", r->label);
    xml_begin_document(b);
    strbuf_puts(b, "<EnumerationResults");
    attribute(b, "ServiceEndpoint", arena_concat(&r->arena, base, "/"));
    for (size_t i = 0; i < l->n_attributes; i++)
        attribute(b, l->attribute[i].name, l->attribute[i].value);
    strbuf_puts(b, ">");
    if (l->where)
        xml_element(b, "Where", l->where);
    if (*l->prefix)
        xml_element(b, "Prefix", l->prefix);
    if (l->sent && *l->sent)
        xml_element(b, "Marker", l->sent);
    if (l->has_max)
        xml_element(b, "MaxResults", arena_printf(&r->arena, "%ld", p->max));
    if (l->delimiter && *l->delimiter)
        xml_element(b, "Delimiter", l->delimiter);
    if (!l->is_tag || p->n > 0)
        xml_open(b, l->element);
}

static void end(struct page *p)
{
    const struct storage_list *l = p->of;
    struct strbuf *b = &p->text;
    if (l->is_tag && p->n == 0)
        xml_element(b, l->element, NULL);
    else
        xml_close(b, l->element);
    if (p->more) {
        xml_open(b, "NextMarker");
        for (size_t i = 0; i < p->last.len; i++)
            strbuf_printf(b, "%02x", (unsigned char)p->last.s[i]);
        xml_close(b, "NextMarker");
    } else {
        xml_element(b, "NextMarker", NULL);
    }
    xml_close(b, "EnumerationResults");
}

int storage_list_begin(struct request *r, const char *element, struct storage_list *out,
                       struct err *e)
{
    static const struct page_form form = {"application/xml", begin, "", end};
    const char *prefix = request_query(r, "prefix"), *given = request_query(r, "maxresults");
    char *tail = NULL;
    long max = LISTING_MAX;
    *out = (struct storage_list){.element = element, .prefix = prefix ? prefix : ""};
    if (given && *given) {
        max = strtol(given, &tail, 10);
        out->has_max = true;
        if (*tail || tail == given || max < 1)
            return err_set(e, AZSTORAGE_QUERY_RANGE, "maxresults",
                           "One of the query parameters specified in the request URI is outside "
                           "the permissible range: maxresults is '%.40s'; it must be 1 to %d.",
                           given, LISTING_MAX);
    }
    out->page = page_begin(r, &form, max < LISTING_MAX ? max : LISTING_MAX, "");
    out->page->of = out;
    return read_marker(r, out, e);
}

const char *storage_list_after(const struct storage_list *l)
{
    return l->marker ? l->marker : "";
}

void listing_name(struct strbuf *b, const char *name, bool encodes)
{
    if (!encodes || xml_can_hold(name)) {
        xml_element(b, "Name", name);
        return;
    }
    strbuf_puts(b, "<Name Encoded=\"true\">");
    url_encode(b, name, 1);
    xml_close(b, "Name");
}
