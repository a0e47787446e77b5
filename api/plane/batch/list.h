/* SPDX-License-Identifier: MIT
 *
 * Lists of Azure Batch, of both planes: maxresults, $skiptoken, odata.nextLink, $filter, $select
 * and $expand. A page goes on behind a row's key, most often its name, so that no list is read from
 * its beginning again.
 */
#ifndef API_PLANE_BATCH_LIST_H
#define API_PLANE_BATCH_LIST_H

#include "api/arm/arm.h"
#include "api/http/page.h"
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

/* One list. */
struct batch_list {
    struct request *r;
    const struct batch_list_kind *kind;
    struct page *page;
    const struct filter *filter; /* arena; NULL: all rows */
    schema_set set;              /* $select */
    int64_t owner;               /* of its rows: the row of an account, a job, a task */
    const void *of;              /* the handler's own; or NULL */
};

/* The same for one element: checks its $select and $expand. `schema`: what shows it. */
int batch_select(struct request *r, const struct schema *schema, schema_set *set,
                 struct err *e) MUST_CHECK;

/* For lists that are in memory: their handler adds rows to the page. */
int batch_list_begin(struct request *r, const struct batch_list_kind *kind, struct batch_list *out,
                     struct err *e) MUST_CHECK;

/* --- lists of rows of the database ---------------------------------------------------------- */

/* Which rows: at most `limit` behind the key `after`, up to `upto` (NULL: the last). */
struct batch_slice {
    const char *after, *upto;
    int limit;
};

/* The functions that read and show one kind of rows, in order of their keys. */
struct batch_rows {
    struct batch_list_kind list;
    size_t size; /* of a row */
    size_t name; /* where it has its name, which is its key */
    /* Those for which the filter holds. */
    int (*fetch)(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e);
    /* For lists that may be long: the key of the nth row behind `after`, whatever a filter says: 1,
     * 0 (there are fewer) or -1. NULL: a filter is asked about all at once. */
    int (*nth)(const struct batch_list *l, const char *after, int nth, const char **key,
               struct err *e);
    const char *(*key)(struct request *r, const void *row);        /* NULL: its name */
    bool (*is_shown)(const struct batch_list *l, const void *row); /* NULL: every one is */
    int (*render)(const struct batch_list *l, const void *row, struct strbuf *out, struct err *e);
};
#define BATCH_ROWS_OF(type) .size = sizeof(type), .name = offsetof(type, name)

/* `rows` is static. `of` is for its functions. */
REPLIED batch_reply_rows(struct request *r, const struct batch_rows *rows, int64_t owner,
                         const void *of);

#endif
