/* SPDX-License-Identifier: MIT
 *
 * Lists: maxresults, $skiptoken and nextLink, the same for every list there is.
 */
#ifndef API_HTTP_PAGING_H
#define API_HTTP_PAGING_H

#include "api/http/request.h"

struct page {
    long max;           /* rows to show */
    int64_t after;      /* id of the last row of the page before */
    struct strbuf text; /* the reply with the rows so far: never a thousand of them as trees */
    long n;             /* of rows in it */
    int64_t last;       /* id of the last of them */
    bool more;          /* a row was added that is for the next page */
};

int page_parse(struct request *r, struct page *page, struct err *e) MUST_CHECK;
/* How many rows to ask storage for: one more than is shown says that there is a next page. */
int page_limit(const struct page *page);
/* Where to write the JSON of the next row, in order of ids; NULL: it is for the next page. From the
 * first row on, page_reply() must be called. */
struct strbuf *page_row(struct page *page, int64_t id);
/* Writes it; steals `row`. One that JSON cannot say (NULL) is left out. */
void page_add(struct page *page, int64_t id, json_t *row);
/* {"value":[...], "nextLink"} */
REPLIED page_reply(struct request *r, struct page *page);

#endif
