/* SPDX-License-Identifier: MIT
 *
 * A page of a list: rows are appended until the page is full, and the next page begins after the
 * key of the last row, a name or an id. A struct page_form defines the text before, between and
 * after the rows, and the link to the next page. There are four forms: of ARM (here), of Azure
 * Batch (api/plane/batch/list.c), of Graph (api/graph/objects.c) and in XML
 * (api/plane/storage/listing.c).
 *
 * The request owns the page.
 */
#ifndef API_HTTP_PAGE_H
#define API_HTTP_PAGE_H

#include "api/http/request.h"

/* the most rows of a page, unless the form has another limit */
#define PAGE_MAX_RESULTS 1000

struct page;

struct page_form {
    const char *content_type;
    void (*begin)(struct page *p); /* writes the text before the rows */
    const char *between;           /* rows */
    void (*end)(struct page *p);   /* writes the text after the rows */
};

struct page {
    struct request *r;
    const struct page_form *form;
    const void *of;     /* the form's data */
    long max;           /* rows to show */
    const char *after;  /* the key of the previous page's last row; "": this is the first page */
    struct strbuf text; /* not a JSON tree, because a thousand rows as trees would be slow */
    struct strbuf last; /* the key of the last row that was shown or skipped */
    bool begun;         /* the text before the rows is written */
    long n;             /* rows in the text */
    bool more;          /* there is a row for the next page */
};

/* An empty page of a form, for at most `max` rows. */
struct page *page_begin(struct request *r, const struct page_form *form, long max,
                        const char *after);
/* A page of ARM's form: maxresults and $skiptoken, {"value", "nextLink"}. Its keys are ids. NULL:
 * *e is set. */
struct page *page_of_ids(struct request *r, struct err *e) MUST_CHECK;
/* The id after which such a page begins. */
int64_t page_after_id(const struct page *p);

/* The number of rows to read from storage: one more than the page shows, because the further row
 * proves that there is a next page. */
int page_limit(const struct page *p);
/* The buffer for the next row, in order of keys; NULL: the row belongs to the next page. */
struct strbuf *page_row(struct page *p, const char *key);
struct strbuf *page_row_of_id(struct page *p, int64_t id);
/* Writes the text before the rows unless it is written: for lists that write rows without
 * page_row(). */
void page_open(struct page *p);
/* Writes a row as JSON; steals `row`. A NULL row is left out. */
void page_add(struct page *p, const char *key, json_t *row);
void page_add_id(struct page *p, int64_t id, json_t *row);
/* Skips the row of this key; the next page begins after it. */
void page_pass(struct page *p, const char *key);
void page_pass_id(struct page *p, int64_t id);

/* For forms in JSON. Writes the member `name` with the URL of the next page: this request's
 * parameters but for those in `without` (up to a NULL), and `next` (encoded) at their end. */
void page_add_link(struct page *p, const char *name, const char *const *without, const char *next);

REPLIED page_reply(struct page *p);

#endif
