/* SPDX-License-Identifier: MIT */
#include "api/batchai/listing.h"

#include "api/odata.h"
#include "api/paging.h"

/* Rows looked at for one reply: a filter that few pass must not hold the loop. A page may therefore
 * be short, or empty, and still name a next one. */
#define SCAN_MAX 4000

/* Adds the rows that pass. The next page begins after the last row that was looked at for this one.
 */
static void add_rows(struct request *r, const struct listing *l, const struct odata *o,
                     struct page *page, const void *rows, size_t n)
{
    for (size_t i = 0; i < n && !page->more; i++) {
        json_t *item = l->render(r, rows, i);
        int64_t id = l->id(rows, i);
        if (odata_matches(o, item)) {
            page_add(page, id, odata_pick(o, item));
        } else {
            page->last = id;
            json_decref(item);
        }
    }
}

static int add_pages(struct request *r, const struct listing *l, const void *owner,
                     const struct odata *o, struct page *page, struct err *e)
{
    int limit = page_limit(page);
    int64_t after = page->after;
    for (size_t seen = 0; seen < SCAN_MAX && !page->more;) {
        void *rows;
        size_t n;
        if (l->fetch(r, owner, after, limit, &rows, &n, e) < 0)
            return -1;
        add_rows(r, l, o, page, rows, n);
        if (n < (size_t)limit)
            return 0;
        after = l->id(rows, n - 1);
        seen += n;
    }
    page->more = true;
    return 0;
}

struct replied *reply_listing(struct request *r, const struct listing *l, const void *owner)
{
    struct err e;
    struct page page;
    bool odata = r->version & V_FLAT;
    struct odata o = {.filter = odata ? request_query(r, "$filter") : NULL,
                      .select = odata ? request_query(r, "$select") : NULL,
                      .schema = l->schema,
                      .version = r->version};
    if (o.filter && !*o.filter)
        o.filter = NULL;
    if (odata_check(&o, &e) < 0 || page_parse(r, &page, &e) < 0)
        return reply_err(r, &e);
    if (add_pages(r, l, owner, &o, &page, &e) < 0) {
        strbuf_free(&page.text);
        return reply_err(r, &e);
    }
    return page_reply(r, &page);
}
