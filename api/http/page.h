/* SPDX-License-Identifier: MIT
 *
 * A page of a list: rows are appended until the page is full; the next page begins after the last
 * row's key, which is a name or an id. A struct page_form defines the text before, between and
 * after the rows, and the link to the next page. Examples of forms: ARM's (here), Azure Batch's
 * (api/plane/batch/list.c), Microsoft Graph's (api/graph/objects.c) and XML
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
    const char *between;           /* text between two rows */
    void (*end)(struct page *p);   /* writes the text after the rows */
};

struct page {
    struct request *r;
    const struct page_form *form;
    const void *of;     /* the form's data */
    long max;           /* rows to show */
    const char *after;  /* the key of the previous page's last row; "": this is the first page */
    struct strbuf text; /* not a JSON tree: trees would be too slow */
    struct strbuf last; /* the key of the last row that was shown or skipped */
    bool begun;         /* the text before the rows was written */
    long n;             /* rows in the text */
    bool more;          /* there is a next page */
};

/* Begins a page of a form, without rows, for at most `max` rows, after the key `after` ("": first
 * page). */
struct page *page_begin(struct request *r, const struct page_form *form, long max,
                        const char *after);
/* Begins a page of ARM's form: query maxresults and $skiptoken, reply {"value", "nextLink"}. Its
 * keys are ids. NULL: err. */
struct page *page_of_ids(struct request *r, struct err *e) MUST_CHECK;
/* The id after which a page of page_of_ids() begins. */
int64_t page_after_id(const struct page *p);

/* The number of rows to read from storage: one more than the page shows, because an additional row
 * proves that there is a next page. */
int page_limit(const struct page *p);
/* The buffer for the next row, in order of keys; NULL: the row belongs to the next page. */
struct strbuf *page_row(struct page *p, const char *key);
struct strbuf *page_row_of_id(struct page *p, int64_t id);
/* Writes the text before the rows, if it is not yet written. For lists that write rows without
 * page_row(). */
void page_open(struct page *p);
/* Adds a row as JSON; takes over the reference to `row`. Does nothing if `row` is NULL. */
void page_add(struct page *p, const char *key, json_t *row);
void page_add_id(struct page *p, int64_t id, json_t *row);
/* Records that the row with this key was read but not shown: the next page may begin after it. */
void page_pass(struct page *p, const char *key);
void page_pass_id(struct page *p, int64_t id);

/* For forms in JSON: writes the member `name` with the URL of the next page. It has this request's
 * parameters, except those in `without` (which ends with NULL), and then `next`, which is already
 * encoded. */
void page_add_link(struct page *p, const char *name, const char *const *without, const char *next);

REPLIED page_reply(struct page *p);

#endif
