/* SPDX-License-Identifier: MIT
 *
 * Long lists: a page is made in slices of a few milliseconds, with a turn of the loop between them,
 * so that neither many rows nor a filter that few rows pass delay other requests. Rows are read in
 * batches, and their memory is freed with the batch. A row that is created or deleted between two
 * slices may or may not appear, as if the request had come earlier or later.
 */
#ifndef API_HTTP_SLICES_H
#define API_HTTP_SLICES_H

#include "api/http/page.h"

struct slices;

/* The functions that read and show the rows of a list. Their memory in the request's arena is freed
 * with the batch. */
struct slices_kind {
    /* The next batch: sets rows, n and at_end. */
    int (*fetch)(struct slices *s, struct err *e);
    /* Handles one row: page_row() or page_pass(). */
    int (*add)(struct slices *s, const void *row, struct err *e);
    /* Whether the page has cost enough and must end although it is not full;
     * NULL: never. */
    bool (*is_enough)(struct slices *s);
};

struct slices {
    struct page *page;
    const struct slices_kind *kind;
    void *of;    /* the kind's data */
    size_t size; /* of a row */
    const void *rows;
    size_t n, at; /* the number of rows in the batch; the index of the next */
    bool at_end;  /* there are no rows behind the batch */

    /* Below: of slices.c. */
    struct arena arena; /* of the batch */
    bool sliced;        /* the reply will be sent by request_finish() */
};

/* Row `i` of the batch. */
static inline const void *slices_row(const struct slices *s, size_t i)
{
    return (const char *)s->rows + i * s->size;
}

/* Makes the page. */
REPLIED slices_reply(struct page *page, const struct slices_kind *kind, void *of, size_t size);

#endif
