/* SPDX-License-Identifier: MIT
 *
 * Pages of the data plane's lists: maxresults, $skiptoken, odata.nextLink, $filter, $select and
 * $expand. A page goes on behind a row's name, so that no list is read from its beginning again.
 */
#ifndef API_PLANE_BATCH_LIST_H
#define API_PLANE_BATCH_LIST_H

#include "api/http/request.h"
#include "model/enums.h"
#include "model/filter.h"
#include "model/schema.h"

/* A property that $filter may name; its number is its place in the list of them. */
struct batch_filter {
    const char *path; /* "executionInfo/startTime"; NULL: not in this list */
    enum {
        BATCH_BY_TEXT,  /* or a state that a row has as text */
        BATCH_BY_STATE, /* compared as the number that it has in `values` */
        BATCH_BY_NUMBER,
        BATCH_BY_BOOL,
        BATCH_BY_TIME
    } by;
    unsigned ops; /* FILTER_ORDER, ...: 1 << enum filter_op */
    const struct enum_name *values;
};

/* What is particular to a list. */
struct batch_list_kind {
    const char *fragment; /* of odata.metadata; NULL: a list of the management plane */
    long max;             /* rows of a page at most; 0: 1000 */
    const struct batch_filter *filters;
    size_t n_filters;            /* 0: it has no $filter */
    const struct schema *schema; /* of a row; NULL: it has no $select */
};

struct batch_list {
    const struct batch_list_kind *kind;
    long max;          /* rows to show */
    const char *after; /* the name of the last row of the page before; "": this is the first */
    struct strbuf text;
    long n;
    const char *last;            /* the name of the last of them; arena */
    bool more;                   /* there is a row for the next page */
    const struct filter *filter; /* arena; NULL: all rows */
    schema_set set;              /* $select, for schema_render_set() */
};

/* The same for one element: checks its $select and $expand. `schema`: what shows it. */
int batch_select(struct request *r, const struct schema *schema, schema_set *set,
                 struct err *e) MUST_CHECK;

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
/* The page ends behind the row of this name, which is not shown, though there may be more rows: for
 * a list that was searched long enough. */
void batch_list_stop(struct request *r, struct batch_list *l, const char *name);
REPLIED batch_list_reply(struct request *r, struct batch_list *l);
void batch_list_drop(struct batch_list *l);

#endif
