/* SPDX-License-Identifier: MIT */
#include "api/http/paging.h"

#include <limits.h>
#include <microhttpd.h>
#include <string.h>
#include <strings.h>

#include "api/http/url.h"
#include "lib/jsontext.h"

#define PAGE_BYTES  (4 * 1024 * 1024) /* rows are added until the page has this many */
#define MAX_RESULTS 1000              /* spec: MaxResultsParameter */
#define LIST_HEAD   "{\"value\":["

int page_parse(struct request *r, struct page *page, struct err *e)
{
    long after;
    if (request_query_int(r, "maxresults", 1, MAX_RESULTS, MAX_RESULTS, &page->max, e) < 0 ||
        request_query_int(r, "$skiptoken", 0, LONG_MAX, 0, &after, e) < 0)
        return -1;
    page->after = after;
    page->text = (struct strbuf)STRBUF_INIT;
    page->n = 0;
    page->last = 0;
    page->more = false;
    return 0;
}

int page_limit(const struct page *page)
{
    return (int)page->max + 1;
}

struct strbuf *page_row(struct page *page, int64_t id)
{
    page->more = page->more || page->n >= page->max || page->text.len >= PAGE_BYTES;
    if (page->more)
        return NULL;
    strbuf_puts(&page->text, page->n++ == 0 ? LIST_HEAD : ",");
    page->last = id;
    return &page->text;
}

void page_add(struct page *page, int64_t id, json_t *row)
{
    struct strbuf *out = row ? page_row(page, id) : NULL;
    if (out)
        jsontext_add(out, row);
    json_decref(row);
}

struct link_builder {
    struct request *r;
    struct strbuf url;
};

/* Copies every parameter of this request except those that select the page. */
static enum MHD_Result copy_parameter(void *ctx, enum MHD_ValueKind kind, const char *key,
                                      size_t key_size, const char *value, size_t value_size)
{
    (void)kind;
    struct link_builder *b = ctx;
    const char *k = url_decode(&b->r->arena, key, key_size);
    const char *v = value ? url_decode(&b->r->arena, value, value_size) : "";
    if (!k || !v || strcasecmp(k, "$skiptoken") == 0 || strcasecmp(k, "maxresults") == 0)
        return MHD_YES;
    url_encode(&b->url, k, 0);
    strbuf_putc(&b->url, '=');
    url_encode(&b->url, v, 0);
    strbuf_putc(&b->url, '&');
    return MHD_YES;
}

static void add_next_link(struct request *r, struct page *page)
{
    struct link_builder b = {.r = r};
    strbuf_printf(&b.url, "%s%s?", request_base(r), r->target);
    MHD_get_connection_values_n(r->conn, MHD_GET_ARGUMENT_KIND, copy_parameter, &b);
    strbuf_printf(&b.url, "maxresults=%ld&%%24skiptoken=%lld", page->max, (long long)page->last);
    json_auto_t *link = json_string(b.url.s);
    if (link) {
        strbuf_puts(&page->text, ",\"nextLink\":");
        jsontext_add(&page->text, link);
    }
    strbuf_free(&b.url);
}

struct replied *page_reply(struct request *r, struct page *page)
{
    strbuf_puts(&page->text, page->n == 0 ? LIST_HEAD "]" : "]");
    if (page->more)
        add_next_link(r, page);
    strbuf_putc(&page->text, '}');
    return reply_text(r, 200, JSON_CONTENT_TYPE, strbuf_take(&page->text));
}
