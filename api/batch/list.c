/* SPDX-License-Identifier: MIT */
#include "api/batch/list.h"

#include <string.h>
#include <strings.h>

#include "api/batch/errors.h"
#include "api/batch/reply.h"
#include "api/http/url.h"
#include "lib/jsontext.h"

#define PAGE_BYTES  (4 * 1024 * 1024) /* rows are added until the page has this many */
#define MAX_RESULTS 1000

static int read_max(struct request *r, const struct batch_list_kind *kind, long *out, struct err *e)
{
    const char *sent = request_query(r, "maxresults");
    long most = kind->max ? kind->max : MAX_RESULTS;
    if (sent && *sent == '-')
        return err_set(e, ERR_INVALID_QUERY, "maxresults", "MaxResults cannot be less than 1");
    return request_query_int(r, "maxresults", 1, most, most, out, e);
}

int batch_list_begin(struct request *r, const struct batch_list_kind *kind, struct batch_list *out,
                     struct err *e)
{
    const char *after = request_query(r, "$skiptoken");
    *out = (struct batch_list){.kind = kind, .after = after ? after : ""};
    return read_max(r, kind, &out->max, e);
}

static void begin_text(struct request *r, struct batch_list *l)
{
    const char *metadata = batch_metadata(r, l->kind->fragment);
    strbuf_puts(&l->text, "{\"odata.metadata\":");
    jsontext_add_text(&l->text, metadata, strlen(metadata));
    strbuf_puts(&l->text, ",\"value\":[");
}

struct strbuf *batch_list_row(struct request *r, struct batch_list *l, const char *name)
{
    l->more = l->more || l->n >= l->max || l->text.len >= PAGE_BYTES;
    if (l->more)
        return NULL;
    if (l->n++ == 0)
        begin_text(r, l);
    else
        strbuf_putc(&l->text, ',');
    l->last = arena_strdup(&r->arena, name);
    return &l->text;
}

void batch_list_add(struct request *r, struct batch_list *l, const char *name, json_t *row)
{
    struct strbuf *out = batch_list_row(r, l, name);
    if (out)
        jsontext_add(out, row);
    json_decref(row);
}

/* The request's URL with its parameters, and where the next page begins. */
static void add_next_link(struct request *r, struct batch_list *l)
{
    struct strbuf url = STRBUF_INIT;
    size_t n;
    const struct named_value *query = request_parameters(r, &n);
    strbuf_printf(&url, "%s%s?", request_base(r), r->target);
    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(query[i].name, "$skiptoken") == 0)
            continue;
        url_encode(&url, query[i].name, 0);
        strbuf_putc(&url, '=');
        url_encode(&url, query[i].value, 0);
        strbuf_putc(&url, '&');
    }
    strbuf_puts(&url, "$skiptoken=");
    url_encode(&url, l->last, 0);
    strbuf_puts(&l->text, ",\"odata.nextLink\":");
    jsontext_add_text(&l->text, url.s, url.len);
    strbuf_free(&url);
}

struct replied *batch_list_reply(struct request *r, struct batch_list *l)
{
    if (l->n == 0)
        begin_text(r, l);
    strbuf_putc(&l->text, ']');
    if (l->more)
        add_next_link(r, l);
    strbuf_putc(&l->text, '}');
    return reply_text(r, 200, BATCH_CONTENT_TYPE, strbuf_take(&l->text));
}

void batch_list_drop(struct batch_list *l)
{
    strbuf_free(&l->text);
}
