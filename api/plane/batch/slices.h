/* SPDX-License-Identifier: MIT
 *
 * Long lists: a page is made in slices of a few milliseconds, with a turn of the loop between them,
 * so that neither many rows nor a filter that few of them pass hold up anybody.
 */
#ifndef API_PLANE_BATCH_SLICES_H
#define API_PLANE_BATCH_SLICES_H

#include "api/plane/batch/list.h"

/* The functions that read one kind of rows, by name, of an owner. Memory is the request's arena. */
struct batch_rows {
    struct batch_list_kind list;
    /* Those behind `after` up to `upto` (NULL: the last) for which the filter holds. */
    int (*fetch)(struct request *r, int64_t owner, const struct filter *filter, const char *after,
                 const char *upto, int limit, void **rows, size_t *n, struct err *e);
    /* What pages go on behind: a name, or what else the order is by. That of the nth row behind
     * `after`, whatever a filter says: 1, 0 (there are fewer) or -1.
     */
    int (*nth)(struct request *r, int64_t owner, const char *after, int nth, const char **name,
               struct err *e);
    const char *(*name)(struct request *r, const void *rows, size_t i);
    void (*render)(struct request *r, const void *rows, size_t i, schema_set set,
                   struct strbuf *out);
};

/* `kind` is static. */
REPLIED batch_reply_rows(struct request *r, const struct batch_rows *kind, int64_t owner);

#endif
