/* SPDX-License-Identifier: MIT
 *
 * Pages of lists: maxresults, $skiptoken and nextLink, the same for all lists.
 */
#ifndef API_HTTP_PAGING_H
#define API_HTTP_PAGING_H

#include "api/http/request.h"

struct page {
    long max;      /* rows to show */
    int64_t after; /* id of the last row of the page before */
    struct strbuf
        text;     /* the reply so far, as text, because a thousand rows as trees would be costly */
    long n;       /* number of rows in it */
    int64_t last; /* id of the last of them */
    bool more;    /* there is a row for the next page */
};

int page_parse(struct request *r, struct page *page, struct err *e) MUST_CHECK;
/* How many rows to ask storage for: one more than is shown, which proves that there is a next page.
 */
int page_limit(const struct page *page);
/* The buffer for the JSON of the next row, in order of ids; NULL: the row belongs to the next page.
 * After the first row, page_reply() must be called. */
struct strbuf *page_row(struct page *page, int64_t id);
/* Writes a row; steals `row`. A NULL row is left out. */
void page_add(struct page *page, int64_t id, json_t *row);
/* {"value":[...], "nextLink"} */
REPLIED page_reply(struct request *r, struct page *page);

#endif
