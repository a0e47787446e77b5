/* SPDX-License-Identifier: MIT
 *
 * Long lists: a page is made in slices of a few milliseconds, with a turn of the loop between them,
 * so that neither many rows nor a filter that few of them pass hold up anybody. Rows are read in
 * batches, whose memory goes with the batch. For a row that is made or deleted between two slices,
 * the page looks as if it had been requested a moment earlier or later.
 */
#ifndef API_HTTP_SLICES_H
#define API_HTTP_SLICES_H

#include "api/http/page.h"

struct slices;

/* How the rows of a list are read and shown. What these two allocate in the request's arena goes
 * with the batch. */
struct slices_kind {
    /* The next batch: sets rows, n and at_end. */
    int (*fetch)(struct slices *s, struct err *e);
    /* Looks at a row of it: page_row() or page_pass(). */
    int (*add)(struct slices *s, const void *row, struct err *e);
    /* Whether the page has cost enough, so that it ends although it is not full. */
    bool (*is_enough)(struct slices *s);
};

struct slices {
    struct page *page;
    const struct slices_kind *kind;
    void *of;    /* the kind's own */
    size_t size; /* of a row */
    const void *rows;
    size_t n, at; /* rows of the batch; the next to look at */
    bool at_end;  /* there are no rows behind the batch */

    /* Below: of slices.c. */
    struct arena arena; /* of the batch */
    bool sliced;        /* the reply will be sent by request_finish() */
};

/* The row of the batch with this number. */
static inline const void *slices_row(const struct slices *s, size_t i)
{
    return (const char *)s->rows + i * s->size;
}

/* Makes the page. */
REPLIED slices_reply(struct page *page, const struct slices_kind *kind, void *of, size_t size);

#endif
