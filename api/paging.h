/* SPDX-License-Identifier: MIT
 *
 * Lists: maxresults, $skiptoken and nextLink, the same for every list there is.
 */
#ifndef API_PAGING_H
#define API_PAGING_H

#include "api/request.h"

struct page {
    long max;      /* rows to show */
    int64_t after; /* id of the last row of the page before */
};

/* Asks storage for page->max + 1 rows: one more than shown says that there is a next page. */
int page_parse(struct request *r, struct page *page, struct err *e) MUST_CHECK;
/* {"value":[...], "nextLink"}. Steals `items`. `last_id` is the last shown row's id, `more` whether
 * rows follow it. */
REPLIED page_reply(struct request *r, const struct page *page, json_t *items, bool more,
                   int64_t last_id);

#endif
