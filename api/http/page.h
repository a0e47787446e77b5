/* SPDX-License-Identifier: MIT
 *
 * A page of a list, whoever renders it: rows are written one behind the other until the page is
 * full, and the next page begins behind the key of the last row, a name or an id. A family of
 * services has a form, which says how its pages begin, what stands between rows, and how a page
 * ends with the way to the next one. There are three: the resource manager's (here), that of Azure
 * Batch (api/plane/batch/list.c) and XML (api/plane/storage/listing.c).
 *
 * A page is the request's: nobody frees it.
 */
#ifndef API_HTTP_PAGE_H
#define API_HTTP_PAGE_H

#include "api/http/request.h"

#define PAGE_MAX_RESULTS 1000 /* rows of a page at most, where a form says nothing else */

struct page;

struct page_form {
    const char *content_type;
    void (*begin)(struct page *p); /* writes what stands before the rows */
    const char *between;           /* rows */
    void (*end)(struct page *p);   /* writes what stands behind them */
};

struct page {
    struct request *r;
    const struct page_form *form;
    const void *of;     /* the form's own */
    long max;           /* rows to show */
    const char *after;  /* the key of the last row of the page before; "": this is the first page */
    struct strbuf text; /* not a tree, because a thousand rows as trees would be costly */
    struct strbuf last; /* the key of the last row that was shown or looked at */
    bool begun;         /* the text has what stands before the rows */
    long n;             /* rows in the text */
    bool more;          /* there is a row for the next page */
};

/* An empty page of a form, for at most `max` rows. */
struct page *page_begin(struct request *r, const struct page_form *form, long max,
                        const char *after);
/* A page of the resource manager's form: maxresults and $skiptoken, {"value", "nextLink"}. Its keys
 * are ids. NULL: *e is set. */
struct page *page_of_ids(struct request *r, struct err *e) MUST_CHECK;
/* The id behind which such a page begins. */
int64_t page_after_id(const struct page *p);

/* How many rows to ask storage for: one more than is shown, which proves that there is a next page.
 */
int page_limit(const struct page *p);
/* The buffer for the next row, in order of keys; NULL: the row belongs to the next page. */
struct strbuf *page_row(struct page *p, const char *key);
struct strbuf *page_row_of_id(struct page *p, int64_t id);
/* Writes what stands before the rows, unless that is there: for lists that write rows without
 * page_row(). */
void page_open(struct page *p);
/* Writes a row as JSON; steals `row`. A NULL row is left out. */
void page_add(struct page *p, const char *key, json_t *row);
void page_add_id(struct page *p, int64_t id, json_t *row);
/* The row of this key is not shown; the next page begins behind it. */
void page_pass(struct page *p, const char *key);
void page_pass_id(struct page *p, int64_t id);

/* For forms in JSON. Writes the member `name` with the URL of the next page: this request's
 * parameters but for those in `without` (up to a NULL), and `next` (encoded) at their end. */
void page_add_link(struct page *p, const char *name, const char *const *without, const char *next);

REPLIED page_reply(struct page *p);

#endif
