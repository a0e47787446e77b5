/* SPDX-License-Identifier: MIT
 *
 * Lists the rows of a kind, in slices (api/http/slices.h) and pages, with $filter and $select in
 * the versions that have them, and $filter by a tag. A principal who may see only some of the rows
 * gets only these. State: one struct scan for each request, in its arena. Called only on the loop's
 * thread.
 */
#include <string.h>

#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/http/odata.h"
#include "api/http/slices.h"

/* Limits of the rows and comparisons for one reply, because a filter may match few of many rows. So
 * a page may be short or empty and still have a next page. */
#define SCAN_MAX    4000
#define COMPARE_MAX 200000

#define BATCH_FIRST 32
#define BATCH_MAX   256
#define BATCH_BYTES (1024 * 1024) /* the intended JSON size of a batch */

struct scan {
    struct request *r;
    const struct rm_kind *kind;
    struct rm_query query;
    struct odata o;
    size_t seen, most; /* rows read so far; most rows */
};

/* The number of rows of the next batch: the larger the rows so far, the fewer. */
static int batch_for(const struct page *page)
{
    if (page->n == 0)
        return page->max < BATCH_FIRST ? page_limit(page) : BATCH_FIRST;
    size_t each = page->text.len / (size_t)page->n + 1;
    if (each >= BATCH_BYTES)
        return 1;
    return BATCH_BYTES / each > BATCH_MAX ? BATCH_MAX : (int)(BATCH_BYTES / each);
}

static int fetch(struct slices *s, struct err *e)
{
    struct scan *scan = s->of;
    void *rows;
    scan->query.limit = batch_for(s->page);
    if (scan->kind->list(scan->r, &scan->query, &rows, &s->n, e) < 0)
        return -1;
    s->rows = rows;
    s->at_end = s->n < (size_t)scan->query.limit;
    if (s->n > 0)
        scan->query.after = rm_id(scan->kind, slices_row(s, s->n - 1));
    return 0;
}

static bool may_see(const struct scan *scan, const void *row, const json_t *shown)
{
    struct request *r = scan->r;
    if (!r->grant)
        return true;
    const char *path = scan->kind->path ? scan->kind->path(r, row) : rm_text(shown, "id");
    return path && arm_sees(r, path);
}

static bool matches(const struct scan *scan, const json_t *shown)
{
    if (!scan->kind->tag_schema)
        return odata_matches(&scan->o, shown);
    json_auto_t *tag = json_object();
    return odata_matches_tags(&scan->o, tag, json_object_get(shown, "tags"));
}

/* Adds the row if it may be seen and matches the filter. Parses the row's JSON text again, because
 * the filter and the id need a JSON tree. */
static void add_filtered(struct scan *scan, struct page *page, const void *row, int64_t id)
{
    struct strbuf text = STRBUF_INIT;
    scan->kind->render(scan->r, row, &text);
    json_auto_t *shown = json_loadb(text.s, text.len, 0, NULL);
    strbuf_free(&text);
    if (may_see(scan, row, shown) && matches(scan, shown))
        page_add_id(page, id, odata_pick(&scan->o, json_incref(shown)));
    else
        page_pass_id(page, id);
}

static int add(struct slices *s, const void *row, struct err *e)
{
    struct scan *scan = s->of;
    struct strbuf *out;
    int64_t id = rm_id(scan->kind, row);
    (void)e;
    scan->seen++;
    if (scan->kind->hides_deleting && rm_is_being_deleted(scan->kind, row))
        page_pass_id(s->page, id);
    else if (scan->o.filter || scan->o.select || scan->r->grant)
        add_filtered(scan, s->page, row, id);
    else if ((out = page_row_of_id(s->page, id)))
        scan->kind->render(scan->r, row, out);
    return 0;
}

static bool is_enough(struct slices *s)
{
    const struct scan *scan = s->of;
    return scan->seen >= scan->most;
}

static int read_top(struct request *r, struct page *page, struct err *e)
{
    return request_query_int(r, "$top", (struct query_bounds){1, page->max, page->max}, &page->max,
                             e);
}

static const char *odata_query(struct request *r, const char *name)
{
    const char *text = request_query(r, name);
    return text && *text ? text : NULL;
}

/* Reads $filter and $select. A list that does not support $filter refuses it: a client that got all
 * rows instead might change all of them. */
static int read_odata(const struct rm *m, struct odata *o, struct err *e)
{
    struct request *r = m->r;
    const struct rm_kind *kind = m->kind;
    bool by_properties = kind->has_odata && r->version & V_FLAT;
    *o = (struct odata){.arena = &r->arena,
                        .filter = odata_query(r, "$filter"),
                        .select = by_properties ? odata_query(r, "$select") : NULL,
                        .schema = by_properties ? kind->schema : kind->tag_schema,
                        .version = (enum api_version)r->version};
    if (o->filter && !o->schema)
        return err_set(e, ERR_INVALID_QUERY, "$filter",
                       "$filter is '%.200s', but this version's list has no filter; the request "
                       "must have no $filter.",
                       o->filter);
    return odata_check(o, e);
}

struct replied *rm_list_below(struct rm *m, const struct rm_query *query)
{
    static const struct slices_kind slices = {fetch, add, is_enough};
    struct request *r = m->r;
    struct scan *scan = arena_alloc(&r->arena, sizeof *scan);
    struct page *page;
    struct err e;
    *scan = (struct scan){.r = r, .kind = m->kind, .query = *query};
    if (read_odata(m, &scan->o, &e) < 0 || !(page = page_of_ids(r, &e)) ||
        (m->kind->has_top && read_top(r, page, &e) < 0))
        return reply_err(r, &e);
    scan->query.after = page_after_id(page);
    scan->most = scan->o.terms > COMPARE_MAX / SCAN_MAX ? COMPARE_MAX / scan->o.terms : SCAN_MAX;
    return slices_reply(page, &slices, scan, m->kind->columns.size);
}

/* --- resources in groups ---------------------------------------------------------------------- */

struct replied *rm_list(struct request *r)
{
    struct err e;
    struct rm m = rm_begin(r);
    const struct rm_query all = {.filter = {.subscription = arm_subscription(r)}};
    return find_subscription(r, &e) < 0 ? reply_err(r, &e) : rm_list_below(&m, &all);
}

struct replied *rm_list_by_group(struct request *r)
{
    struct err e;
    struct rm m = rm_begin(r);
    if (rm_step_group(&m, &e) < 0)
        return reply_err(r, &e);
    const struct rm_query group = {
        .above = m.group.id,
        .filter = {.subscription = arm_subscription(r), .group_id = m.group.id}};
    return rm_list_below(&m, &group);
}
