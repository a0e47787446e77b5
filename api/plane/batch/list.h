/* SPDX-License-Identifier: MIT
 *
 * Lists of Azure Batch, in both planes: maxresults, $skiptoken, odata.nextLink, $filter, $select
 * and $expand. A page continues after a row's key, usually its name, so that no list is read from
 * its start again.
 */
#ifndef API_PLANE_BATCH_LIST_H
#define API_PLANE_BATCH_LIST_H

#include "api/arm/arm.h"
#include "api/http/page.h"
#include "model/enums.h"
#include "model/filter.h"
#include "model/schema.h"

/* A property for $filter; its number is its index in the list of properties. */
struct batch_filter {
    const char *path; /* "executionInfo/startTime"; NULL: not in this list */
    enum {
        BATCH_BY_TEXT,  /* or a state that the row has as text */
        BATCH_BY_STATE, /* compared by its number in `values` */
        BATCH_BY_NUMBER,
        BATCH_BY_BOOL,
        BATCH_BY_TIME
    } by;
    unsigned ops; /* FILTER_ORDER, ...: 1 << enum filter_op */
    const struct enum_name *values;
};

/* The properties of a kind of list. */
struct batch_list_kind {
    const char *fragment; /* of odata.metadata; NULL: a list of the management plane */
    long max;             /* the most rows of a page; 0: 1000 */
    const struct batch_filter *filters;
    size_t n_filters;            /* 0: it has no $filter */
    const struct schema *schema; /* of a row; NULL: no $select */
};

/* One list of the data plane. */
struct batch_list {
    struct request *r;
    const struct batch_list_kind *kind;
    struct page *page;
    const struct filter *filter; /* arena; NULL: all rows */
    schema_set set;              /* $select */
    int64_t owner;               /* the owner of the rows: row id of an account, a job or a task */
    const void *of;              /* for the handler; or NULL */
};

/* Checks $select and $expand of a request for a single element. `schema`: of the element. */
int batch_select(struct request *r, const struct schema *schema, schema_set *set,
                 struct err *e) MUST_CHECK;

/* For lists in memory: their handler adds rows to the page. */
int batch_list_begin(struct request *r, const struct batch_list_kind *kind, struct batch_list *out,
                     struct err *e) MUST_CHECK;

/* --- lists of rows of the database ---------------------------------------------------------- */

/* The wanted rows: at most `limit` after key `after`, up to `upto` (NULL: the last). */
struct batch_slice {
    const char *after, *upto;
    int limit;
};

/* The functions that read and show one kind of rows, in order of their keys. */
struct batch_rows {
    struct batch_list_kind list;
    size_t size; /* of a row */
    size_t name; /* offset of the name; the name is the key */
    /* Fetches the rows that pass the filter. */
    int (*fetch)(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e);
    /* For long lists: the key of the nth row after `after`, ignoring the filter: 1, 0 (fewer rows)
     * or -1. NULL: the filter checks all rows at once. */
    int (*nth)(const struct batch_list *l, const char *after, int nth, const char **key,
               struct err *e);
    const char *(*key)(struct request *r, const void *row);        /* NULL: its name */
    bool (*is_shown)(const struct batch_list *l, const void *row); /* NULL: every one is */
    int (*render)(const struct batch_list *l, const void *row, struct strbuf *out, struct err *e);
};
#define BATCH_ROWS_OF(type) .size = sizeof(type), .name = offsetof(type, name)

/* `rows` is static; its functions get `of`. */
REPLIED batch_reply_rows(struct request *r, const struct batch_rows *rows, int64_t owner,
                         const void *of);

#endif
