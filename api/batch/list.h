/* SPDX-License-Identifier: MIT
 *
 * Pages of the data plane's lists: maxresults, $skiptoken, odata.nextLink. A page goes on behind a
 * row's name, so that no list is read from its beginning again.
 */
#ifndef API_BATCH_LIST_H
#define API_BATCH_LIST_H

#include "api/http/request.h"

/* What is particular to a list. */
struct batch_list_kind {
    const char *fragment; /* of odata.metadata */
    long max;             /* rows of a page at most; 0: 1000 */
};

struct batch_list {
    const struct batch_list_kind *kind;
    long max;          /* rows to show */
    const char *after; /* the name of the last row of the page before; "": this is the first */
    struct strbuf text;
    long n;
    const char *last; /* the name of the last of them; arena */
    bool more;        /* there is a row for the next page */
};

int batch_list_begin(struct request *r, const struct batch_list_kind *kind, struct batch_list *out,
                     struct err *e) MUST_CHECK;
/* How many rows to ask for: one more than is shown, which proves that there is a next page. */
static inline int batch_list_limit(const struct batch_list *l)
{
    return (int)l->max + 1;
}
/* The buffer for the JSON of the next row; NULL: the row belongs to the next page. After the first
 * row, batch_list_reply() or batch_list_drop() must be called. */
struct strbuf *batch_list_row(struct request *r, struct batch_list *l, const char *name);
/* Writes a row; steals it. */
void batch_list_add(struct request *r, struct batch_list *l, const char *name, json_t *row);
REPLIED batch_list_reply(struct request *r, struct batch_list *l);
void batch_list_drop(struct batch_list *l);

#endif
