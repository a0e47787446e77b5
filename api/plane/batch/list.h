/* SPDX-License-Identifier: MIT
 *
 * Lists of Azure Batch, in both planes: maxresults, $skiptoken, odata.nextLink, $filter, $select
 * and $expand. The next page begins after the key of the last row (usually its name), so that the
 * rows before it are not read again.
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
    /* for example "executionInfo/startTime"; NULL: this list lacks the property */
    const char *path;
    enum {
        BATCH_BY_TEXT,  /* also for a state that the row stores as text */
        BATCH_BY_STATE, /* a state that is compared by its number in `values` */
        BATCH_BY_NUMBER,
        BATCH_BY_BOOL,
        BATCH_BY_TIME
    } by;
    unsigned ops; /* the operators allowed: FILTER_ORDER, ..., as bits 1 << enum filter_op */
    const struct enum_name *values;
};

/* The properties of a kind of list. */
struct batch_list_kind {
    /* the last part of odata.metadata; NULL: a list of the management plane */
    const char *fragment;
    long max; /* the most rows of a page; 0: 1000 */
    const struct batch_filter *filters;
    size_t n_filters;            /* 0: the list has no $filter */
    const struct schema *schema; /* the schema of a row; NULL: the list has no $select */
};

/* One list of the data plane. */
struct batch_list {
    struct request *r;
    const struct batch_list_kind *kind;
    struct page *page;
    const struct filter *filter; /* in the arena; NULL: no filter */
    schema_set set;              /* the members chosen by $select */
    int64_t owner;               /* the owner of the rows: row id of an account, a job or a task */
    const void *of;              /* data of the handler, or NULL */
};

/* Checks $select and $expand of a request for a single element. `schema`: the element's schema. */
int batch_select(struct request *r, const struct schema *schema, schema_set *set,
                 struct err *e) MUST_CHECK;

/* Begins a list that is in memory; its handler adds the rows to the page. */
int batch_list_begin(struct request *r, const struct batch_list_kind *kind, struct batch_list *out,
                     struct err *e) MUST_CHECK;

/* --- lists of rows of the database ---------------------------------------------------------- */

/* The rows to fetch: at most `limit` rows whose keys are after `after`, and not after `upto` (NULL:
 * no end). */
struct batch_slice {
    const char *after, *upto;
    int limit;
};

/* The functions that read and show one kind of rows, in order of their keys. */
struct batch_rows {
    struct batch_list_kind list;
    size_t size; /* size of a row in bytes */
    size_t name; /* offset of the member with the name; the name is the key unless `key` is set */
    /* Fetches the rows that pass the filter. */
    int (*fetch)(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e);
    /* For long lists: finds the key of the nth row after `after`, without the filter: 1; 0: there
     * are fewer rows; -1: error. NULL: the filter checks all rows at once. */
    int (*nth)(const struct batch_list *l, const char *after, int nth, const char **key,
               struct err *e);
    const char *(*key)(struct request *r, const void *row);        /* NULL: the name is the key */
    bool (*is_shown)(const struct batch_list *l, const void *row); /* NULL: every row is shown */
    int (*render)(const struct batch_list *l, const void *row, struct strbuf *out, struct err *e);
};
#define BATCH_ROWS_OF(type) .size = sizeof(type), .name = offsetof(type, name)

/* Replies with a list of rows. `rows` is static; its functions get `of` in the list (l->of). */
REPLIED batch_reply_rows(struct request *r, const struct batch_rows *rows, int64_t owner,
                         const void *of);

#endif
