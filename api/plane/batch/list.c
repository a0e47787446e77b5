/* SPDX-License-Identifier: MIT
 *
 * Lists of Azure Batch: the form of a page, the query parameters of lists, and lists of database
 * rows. Lists of rows are made in slices (api/http/slices.h). A list belongs to its request. On the
 * loop's thread.
 */
#include "api/plane/batch/list.h"

#include <string.h>
#include <strings.h>

#include "api/http/slices.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"

#define MAX_TERMS 200 /* comparisons of a filter */

static int read_max(struct request *r, const struct batch_list_kind *kind, long *out, struct err *e)
{
    const char *sent = request_query(r, "maxresults");
    long most = kind->max ? kind->max : PAGE_MAX_RESULTS;
    if (sent && *sent == '-')
        return err_set(e, ERR_INVALID_QUERY, "maxresults", "MaxResults cannot be less than 1");
    return request_query_int(r, "maxresults", (struct query_bounds){1, most, most}, out, e);
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

/* Replaces the name of a state in a filter by its number; false: there is no such state. */
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

/* Accepts $expand=stats in all lists; objects without statistics show none. */
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
    *set = 0;
    if (check_expand(r, e) < 0)
        return -1;
    if (!schema)
        return 0;
    return schema_select(schema, (enum api_version)r->version, text, set, e);
}

/* --- pages ---------------------------------------------------------------------------------- */

static void begin_plane(struct page *p)
{
    const struct batch_list_kind *kind = p->of;
    const char *metadata = batch_metadata(p->r, kind->fragment);
    strbuf_puts(&p->text, "{\"odata.metadata\":");
    jsontext_add_text(&p->text, metadata, strlen(metadata));
    strbuf_puts(&p->text, ",\"value\":[");
}

static void begin_arm(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    static const char *const own[] = {"$skiptoken", NULL};
    const struct batch_list_kind *kind = p->of;
    const char *next = p->last.len > 0 ? batch_segment(p->r, p->last.s) : "";
    strbuf_putc(&p->text, ']');
    if (p->more)
        page_add_link(p, kind->fragment ? "odata.nextLink" : "nextLink", own,
                      arena_concat(&p->r->arena, "$skiptoken=", next));
    strbuf_putc(&p->text, '}');
}

int batch_list_begin(struct request *r, const struct batch_list_kind *kind, struct batch_list *out,
                     struct err *e)
{
    static const struct page_form plane = {BATCH_CONTENT_TYPE, begin_plane, ",", end};
    static const struct page_form arm = {JSON_CONTENT_TYPE, begin_arm, ",", end};
    const char *after = request_query(r, "$skiptoken");
    long max = PAGE_MAX_RESULTS;
    *out = (struct batch_list){.r = r, .kind = kind};
    if (read_max(r, kind, &max, e) < 0 || read_filter(r, kind, &out->filter, e) < 0)
        return -1;
    out->page = page_begin(r, kind->fragment ? &plane : &arm, max, after ? after : "");
    out->page->of = kind;
    return batch_select(r, kind->schema, &out->set, e);
}

/* --- lists of rows ---------------------------------------------------------------------------- */

/* BATCH_ROWS: rows that are fetched at once. ASKED_ROWS: rows that a filter checks at once, at
 * about 3 us per row. */
#define BATCH_ROWS 128
#define ASKED_ROWS 1000
/* The most rows that a filter checks for one page, so that each request ends. Therefore a page may
 * be short or empty although there is a next page. */
#define ASKED_MAX 200000

struct batch_walk {
    struct batch_list l;
    const struct batch_rows *kind;
    struct strbuf after; /* the key of the last row that was read or checked */
    size_t asked;
};

static const char *key_of(const struct batch_walk *w, const void *row)
{
    if (w->kind->key)
        return w->kind->key(w->l.r, row);
    return *(const char *const *)((const char *)row + w->kind->name);
}

static int limit_of(const struct page *p)
{
    long left = p->max - p->n + 1;
    return left < BATCH_ROWS ? (int)left : BATCH_ROWS;
}

static int fetch(struct slices *s, struct err *e)
{
    struct batch_walk *w = s->of;
    struct batch_slice range = {w->after.s, NULL, limit_of(s->page)};
    bool asks = w->l.filter && w->kind->nth;
    void *rows = NULL;
    if (asks && w->kind->nth(&w->l, w->after.s, ASKED_ROWS, &range.upto, e) < 0)
        return -1;
    if (w->kind->fetch(&w->l, &range, &rows, &s->n, e) < 0)
        return -1;
    s->rows = rows;
    s->at_end = s->n < (size_t)range.limit && !range.upto;
    w->asked += asks ? ASKED_ROWS : 0;
    bool full = s->n == (size_t)range.limit;
    const char *last = full ? key_of(w, slices_row(s, s->n - 1)) : range.upto;
    if (last) {
        strbuf_reset(&w->after);
        strbuf_puts(&w->after, last);
    }
    return 0;
}

static int add(struct slices *s, const void *row, struct err *e)
{
    struct batch_walk *w = s->of;
    if (w->kind->is_shown && !w->kind->is_shown(&w->l, row)) {
        page_pass(s->page, key_of(w, row));
        return 0;
    }
    struct strbuf *out = page_row(s->page, key_of(w, row));
    return out ? w->kind->render(&w->l, row, out, e) : 0;
}

static bool is_enough(struct slices *s)
{
    const struct batch_walk *w = s->of;
    if (s->at < s->n || w->asked < ASKED_MAX)
        return false;
    page_pass(s->page, w->after.s);
    return true;
}

static void release(void *walk)
{
    struct batch_walk *w = walk;
    strbuf_free(&w->after);
}

struct replied *batch_reply_rows(struct request *r, const struct batch_rows *rows, int64_t owner,
                                 const void *of)
{
    static const struct slices_kind slices = {fetch, add, is_enough};
    struct err e;
    struct batch_walk *w = arena_alloc(&r->arena, sizeof *w);
    w->kind = rows;
    if (batch_list_begin(r, &rows->list, &w->l, &e) < 0)
        return reply_err(r, &e);
    w->l.owner = owner;
    w->l.of = of;
    strbuf_puts(&w->after, w->l.page->after);
    request_own_thing(r, w, release);
    return slices_reply(w->l.page, &slices, w, rows->size);
}
