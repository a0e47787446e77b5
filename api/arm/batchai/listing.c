/* SPDX-License-Identifier: MIT
 *
 * A page is made in slices of a few milliseconds, with a turn of the loop between them, so that a
 * long one (large rows, a long filter) holds up nobody. Rows are read in batches, which are smaller
 * if rows are large. For a row that is made or deleted between two slices, the page looks as if it
 * had been requested a moment earlier or later.
 */
#include "api/arm/batchai/listing.h"

#include <string.h>

#include "api/arm/batchai/lookup.h"
#include "api/arm/may.h"
#include "api/http/odata.h"
#include "api/http/paging.h"
#include "model/home.h"

/* Limits for the rows and comparisons of one reply, so that a filter that few rows pass comes to an
 * end. So a page may be short, or empty, and still have a next one. */
#define SCAN_MAX    4000
#define COMPARE_MAX 200000

#define SLICE_NS    (5 * 1000 * 1000)
#define BATCH_FIRST 32
#define BATCH_MAX   256
#define BATCH_BYTES (1024 * 1024) /* rendered size that a batch should have */

struct scan {
    struct request *r;
    const struct rm_kind *kind;
    struct listing_owner owner;
    struct odata o;
    struct page page;
    int64_t after;      /* the last row that was looked at */
    size_t seen, most;  /* rows */
    int batch;          /* how many rows to fetch at a time */
    struct arena arena; /* memory of the present batch, kept from slice to slice */
    void *rows;
    size_t n, at; /* its rows; the next to look at */
    bool last_batch;
    bool sliced; /* the reply will be sent by request_finish() */
};

/* A filter needs a tree, and so does the id; so the rendered row is parsed again. */
static void add_filtered(struct scan *s, const void *row, int64_t id)
{
    struct strbuf text = STRBUF_INIT;
    s->kind->render(s->r, row, &text);
    json_t *item = json_loadb(text.s, text.len, 0, NULL);
    strbuf_free(&text);
    const char *path = json_string_value(json_object_get(item, "id"));
    bool shown = !s->r->grant || (path && arm_sees(s->r, path));
    if (shown && odata_matches(&s->o, item)) {
        page_add(&s->page, id, odata_pick(&s->o, item));
    } else {
        s->page.last = id;
        json_decref(item);
    }
}

static void add_row(struct scan *s, const void *row, int64_t id)
{
    struct strbuf *out;
    if (s->o.filter || s->o.select || s->r->grant)
        add_filtered(s, row, id);
    else if ((out = page_row(&s->page, id)))
        s->kind->render(s->r, row, out);
}

/* Adds the rows of the batch that pass. The next page begins after the last row that was looked at
 * for this one. */
static void add_rows(struct scan *s, uint64_t until_ns)
{
    size_t first = s->at;
    while (s->at < s->n && !s->page.more && (s->at == first || uv_hrtime() < until_ns)) {
        const void *row = rm_nth(s->kind, s->rows, s->at++);
        s->after = rm_id(s->kind, row);
        add_row(s, row, s->after);
    }
    s->seen += s->at - first;
}

static int batch_for(const struct page *page)
{
    size_t each = page->n > 0 ? page->text.len / (size_t)page->n + 1 : BATCH_BYTES / BATCH_FIRST;
    size_t rows = BATCH_BYTES / each;
    return rows < 1 ? 1 : rows > BATCH_MAX ? BATCH_MAX : (int)rows;
}

static int fetch(struct scan *s, struct err *e)
{
    s->batch = s->page.n > 0 ? batch_for(&s->page) : s->batch;
    arena_free(&s->arena);
    arena_init(&s->arena);
    s->n = s->at = 0;
    struct arena of_request = s->r->arena;
    s->r->arena = s->arena;
    const struct listing *l = s->kind->listing;
    int rc = l->fetch(s->r, &s->owner, s->after, s->batch, &s->rows, &s->n, e);
    s->arena = s->r->arena;
    s->r->arena = of_request;
    s->last_batch = s->n < (size_t)s->batch;
    return rc;
}

/* Adds some rows. Their memory is freed with the batch. 1: there are more; 0: that was all. */
static int add_some(struct scan *s, uint64_t until_ns, struct err *e)
{
    if (s->at == s->n && fetch(s, e) < 0)
        return -1;
    struct arena of_request = s->r->arena;
    s->r->arena = s->arena;
    add_rows(s, until_ns);
    s->arena = s->r->arena;
    s->r->arena = of_request;
    return s->at < s->n || !s->last_batch;
}

static void scan_release(void *scan)
{
    struct scan *s = scan;
    strbuf_free(&s->page.text);
    arena_free(&s->arena);
}

static struct replied *answer(struct scan *s, const struct err *e)
{
    return e ? reply_err(s->r, e) : page_reply(s->r, &s->page);
}

static struct replied *step(struct scan *s);

static void on_turn(struct request *r, void *ctx)
{
    struct scan *s = ctx;
    s->sliced = true;
    struct replied *done = step(s);
    if (done)
        request_finish(r, done);
}

/* NULL: the rest follows in later turns. */
static struct replied *step(struct scan *s)
{
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    struct err e;
    int rc = 1;
    do {
        rc = add_some(s, until_ns, &e);
        if (rc > 0 && s->seen >= s->most)
            s->page.more = true;
    } while (rc > 0 && !s->page.more && uv_hrtime() < until_ns);
    if (rc < 0)
        return answer(s, &e);
    if (rc == 0 || s->page.more)
        return answer(s, NULL);
    request_again(s->r, on_turn, s);
    return s->sliced ? NULL : reply_later(s->r);
}

struct replied *reply_listing(struct request *r, const struct listing_owner *owner)
{
    struct err e;
    const struct rm_kind *kind = r->route->data;
    bool odata = r->version & V_FLAT;
    struct scan *s = arena_alloc(&r->arena, sizeof *s);
    *s = (struct scan){.r = r,
                       .kind = kind,
                       .owner = *owner,
                       .o = {.arena = &r->arena,
                             .filter = odata ? request_query(r, "$filter") : NULL,
                             .select = odata ? request_query(r, "$select") : NULL,
                             .schema = kind->schema,
                             .version = (enum api_version)r->version}};
    request_keep(r, s, scan_release);
    if (s->o.filter && !*s->o.filter)
        s->o.filter = NULL;
    if (odata_check(&s->o, &e) < 0 || page_parse(r, &s->page, &e) < 0)
        return answer(s, &e);
    s->after = s->page.after;
    arena_init(&s->arena);
    s->most = s->o.terms > COMPARE_MAX / SCAN_MAX ? COMPARE_MAX / s->o.terms : SCAN_MAX;
    s->batch = s->page.max < BATCH_FIRST ? (int)s->page.max + 1 : BATCH_FIRST;
    return step(s);
}

/* --- what is in workspaces -------------------------------------------------------------------- */

static int filter_subscription(struct request *r, struct st_filter *f, struct err *e)
{
    *f = (struct st_filter){.subscription = arm_subscription(r),
                            .workspace = request_is_flat(r) ? HOME_WORKSPACE : NULL};
    return find_subscription(r, e);
}

static int filter_workspace(struct request *r, struct st_filter *f, struct err *e)
{
    struct workspace w;
    int rc = seek_workspace(r, &w, e);
    *f = (struct st_filter){.subscription = arm_subscription(r),
                            .workspace_id = rc > 0 ? w.id : NO_ROW};
    return rc < 0 ? -1 : 0;
}

static int filter_group(struct request *r, struct st_filter *f, struct err *e)
{
    struct resource_group g;
    if (request_is_flat(r))
        return filter_workspace(r, f, e);
    if (find_group(r, &g, e) < 0)
        return -1;
    *f = (struct st_filter){.subscription = arm_subscription(r), .group_id = g.id};
    return 0;
}

static struct replied *list(struct request *r,
                            int (*filter_of)(struct request *, struct st_filter *, struct err *))
{
    struct err e;
    struct listing_owner owner = {0};
    return filter_of(r, &owner.filter, &e) < 0 ? reply_err(r, &e) : reply_listing(r, &owner);
}

struct replied *batchai_list(struct request *r)
{
    return list(r, filter_subscription);
}

struct replied *batchai_list_by_group(struct request *r)
{
    return list(r, filter_group);
}

struct replied *batchai_list_by_workspace(struct request *r)
{
    return list(r, filter_workspace);
}
