/* SPDX-License-Identifier: MIT */
#include "api/plane/storage/listing.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/url.h"
#include "api/plane/storage/xml_write.h"

/* --- the query ------------------------------------------------------------------------------ */

/* Markers are opaque: names in hexadecimal digits, which any client gives back unchanged. */
static int read_marker(struct request *r, struct listing_query *q, struct err *e)
{
    q->sent = request_query(r, "marker");
    q->marker = NULL;
    if (!q->sent || !*q->sent)
        return 0;
    size_t n = strlen(q->sent), got;
    char *name = arena_alloc(&r->arena, n / 2 + 1);
    if (n % 2 == 0 &&
        sodium_hex2bin((unsigned char *)name, n / 2, q->sent, n, NULL, &got, NULL) == 0 &&
        got == n / 2 && strlen(name) == got) {
        q->marker = name;
        return 0;
    }
    return err_set(e, ERR_INVALID_QUERY, "marker",
                   "The marker '%.80s' is none that a list here has given.", q->sent);
}

int listing_read(struct request *r, struct listing_query *out, struct err *e)
{
    const char *prefix = request_query(r, "prefix"), *max = request_query(r, "maxresults");
    char *end = NULL;
    *out = (struct listing_query){.prefix = prefix ? prefix : "", .max = LISTING_MAX};
    if (max && *max) {
        out->max = strtol(max, &end, 10);
        out->has_max = true;
        if (*end || end == max || out->max < 1)
            return err_set(e, AZSTORAGE_QUERY_RANGE, "maxresults",
                           "One of the query parameters specified in the request URI is outside "
                           "the permissible range: maxresults is '%.40s'; it must be 1 to %d.",
                           max, LISTING_MAX);
        out->max = out->max < LISTING_MAX ? out->max : LISTING_MAX;
    }
    return read_marker(r, out, e);
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
                           "'%.*s' is nothing that include can name.", n > 40 ? 40 : (int)n, p);
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

void listing_begin(struct strbuf *b, struct request *r, const char *name, const char *value,
                   const struct listing_query *q)
{
    const struct named_value one = {name, value};
    listing_begin_with(b, r, &one, name ? 1 : 0, q);
}

void listing_begin_with(struct strbuf *b, struct request *r, const struct named_value *attributes,
                        size_t n, const struct listing_query *q)
{
    const char *base = request_base(r);
    if (r->door->service) /* the account is in the path */
        base = arena_concat(&r->arena, base, "/", r->label);
    xml_begin_document(b);
    strbuf_puts(b, "<EnumerationResults");
    attribute(b, "ServiceEndpoint", arena_concat(&r->arena, base, "/"));
    for (size_t i = 0; i < n; i++)
        attribute(b, attributes[i].name, attributes[i].value);
    strbuf_puts(b, ">");
    if (*q->prefix)
        xml_element(b, "Prefix", q->prefix);
    if (q->sent && *q->sent)
        xml_element(b, "Marker", q->sent);
    if (q->has_max)
        xml_element(b, "MaxResults", arena_printf(&r->arena, "%ld", q->max));
}

void listing_end(struct strbuf *b, const struct listing_query *q, const char *last)
{
    (void)q;
    if (last) {
        xml_open(b, "NextMarker");
        for (const char *p = last; *p; p++)
            strbuf_printf(b, "%02x", (unsigned char)*p);
        xml_close(b, "NextMarker");
    } else {
        xml_element(b, "NextMarker", NULL);
    }
    xml_close(b, "EnumerationResults");
}

void listing_encoded_name(struct strbuf *b, const char *name)
{
    strbuf_puts(b, "<Name Encoded=\"true\">");
    url_encode(b, name, 1);
    xml_close(b, "Name");
}
