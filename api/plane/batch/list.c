/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/list.h"

#include <string.h>
#include <strings.h>

#include "api/http/url.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"

#define PAGE_BYTES  (4 * 1024 * 1024) /* rows are added until the page has this many */
#define MAX_RESULTS 1000
#define MAX_TERMS   200 /* comparisons of a filter */

static int read_max(struct request *r, const struct batch_list_kind *kind, long *out, struct err *e)
{
    const char *sent = request_query(r, "maxresults");
    long most = kind->max ? kind->max : MAX_RESULTS;
    if (sent && *sent == '-')
        return err_set(e, ERR_INVALID_QUERY, "maxresults", "MaxResults cannot be less than 1");
    return request_query_int(r, "maxresults", 1, most, most, out, e);
}

/* --- $filter -------------------------------------------------------------------------------- */

static bool find_property(void *ctx, const char *s, size_t n, struct filter_term *out)
{
    const struct batch_list_kind *kind = ctx;
    for (size_t i = 0; i < kind->n_filters; i++) {
        const char *path = kind->filters[i].path;
        if (!path || strlen(path) != n || strncasecmp(path, s, n) != 0)
            continue;
        out->path = path;
        out->property = (int)i;
        return true;
    }
    return false;
}

/* A state is compared as its number. */
static bool take_state(const struct batch_filter *f, struct filter_literal *l)
{
    int value = l->kind == FILTER_TEXT ? enum_from_name(f->values, l->text) : 0;
    l->kind = FILTER_NUMBER;
    l->number = value;
    return value != 0;
}

static const char *check_term(void *ctx, struct filter_term *t)
{
    const struct batch_list_kind *kind = ctx;
    const struct batch_filter *f = &kind->filters[t->property];
    struct filter_literal *l = &t->literal;
    static const enum filter_literal_kind kinds[] = {[BATCH_BY_TEXT] = FILTER_TEXT,
                                                     [BATCH_BY_NUMBER] = FILTER_NUMBER,
                                                     [BATCH_BY_BOOL] = FILTER_BOOL,
                                                     [BATCH_BY_TIME] = FILTER_TIME};
    if (!(f->ops >> t->op & 1))
        return "an operator that this property can be compared with";
    if (l->kind == FILTER_NULL)
        return t->op <= FILTER_NE ? NULL : "eq or ne before null";
    if (f->by == BATCH_BY_STATE)
        return take_state(f, l) ? NULL : "a property and one of its states";
    return l->kind == kinds[f->by] ? NULL : "a property and a value of its kind";
}

static int read_filter(struct request *r, const struct batch_list_kind *kind,
                       const struct filter **out, struct err *e)
{
    const struct filter_paths paths = {find_property, check_term, (void *)(uintptr_t)kind,
                                       .times = true};
    const char *text = request_query(r, "$filter");
    size_t terms;
    *out = NULL;
    if (!text || !*text)
        return 0;
    if (kind->n_filters == 0)
        return err_set(e, BATCH_UNSUPPORTED_QUERY_PARAMETER, "$filter",
                       "This list cannot be filtered.");
    if (filter_parse(text, &paths, &r->arena, out, &terms, e) < 0)
        return -1;
    if (terms <= MAX_TERMS)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "$filter",
                   "The filter has %zu comparisons; at most %d are allowed.", terms, MAX_TERMS);
}

/* --- $select and $expand -------------------------------------------------------------------- */

/* What has no statistics shows none. */
static int check_expand(struct request *r, struct err *e)
{
    const char *text = request_query(r, "$expand");
    if (!text || !*text || strcasecmp(text, "stats") == 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "$expand", "$expand can only be stats.");
}

int batch_select(struct request *r, const struct schema *schema, schema_set *set, struct err *e)
{
    const char *text = request_query(r, "$select");
    *set = SCHEMA_WHOLE;
    if (check_expand(r, e) < 0)
        return -1;
    if (!schema)
        return 0;
    return schema_select(schema, (enum api_version)r->version, text, set, e);
}

/* --- pages ---------------------------------------------------------------------------------- */

int batch_list_begin(struct request *r, const struct batch_list_kind *kind, struct batch_list *out,
                     struct err *e)
{
    const char *after = request_query(r, "$skiptoken");
    *out = (struct batch_list){.kind = kind, .after = after ? after : ""};
    if (read_max(r, kind, &out->max, e) < 0 || read_filter(r, kind, &out->filter, e) < 0)
        return -1;
    return batch_select(r, kind->schema, &out->set, e);
}

static void begin_text(struct request *r, struct batch_list *l)
{
    strbuf_putc(&l->text, '{');
    if (l->kind->fragment) {
        const char *metadata = batch_metadata(r, l->kind->fragment);
        strbuf_puts(&l->text, "\"odata.metadata\":");
        jsontext_add_text(&l->text, metadata, strlen(metadata));
        strbuf_putc(&l->text, ',');
    }
    strbuf_puts(&l->text, "\"value\":[");
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

void batch_list_stop(struct request *r, struct batch_list *l, const char *name)
{
    l->last = arena_strdup(&r->arena, name);
    l->more = true;
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
    strbuf_puts(&l->text, l->kind->fragment ? ",\"odata.nextLink\":" : ",\"nextLink\":");
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
    return reply_text(r, 200, l->kind->fragment ? BATCH_CONTENT_TYPE : JSON_CONTENT_TYPE,
                      strbuf_take(&l->text));
}

void batch_list_drop(struct batch_list *l)
{
    strbuf_free(&l->text);
}
