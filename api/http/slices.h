/* SPDX-License-Identifier: MIT
 *
 * Long lists: a page is made in slices of a few milliseconds, with a turn of the loop between them,
 * so that other requests are not delayed by many rows or by a filter that few rows pass. Rows are
 * read in batches; the memory of a batch is freed before the next batch is read. A row that is
 * created or deleted between two slices may or may not appear in the list.
 */
#ifndef API_HTTP_SLICES_H
#define API_HTTP_SLICES_H

#include "api/http/page.h"

struct slices;

/* The functions that read and show the rows of a list. Memory that they allocate in the request's
 * arena is freed with the batch. */
struct slices_kind {
    /* Reads the next batch: sets rows, n and at_end. */
    int (*fetch)(struct slices *s, struct err *e);
    /* Handles one row: page_row() or page_pass(). */
    int (*add)(struct slices *s, const void *row, struct err *e);
    /* True: so much was read that the page must end although it is not full; false: continue. NULL:
     * as if always false. */
    bool (*is_enough)(struct slices *s);
};

struct slices {
    struct page *page;
    const struct slices_kind *kind;
    void *of;    /* the kind's data */
    size_t size; /* bytes of a row */
    const void *rows;
    size_t n, at; /* n: rows in the batch; at: the next row's index */
    bool at_end;  /* there are no rows after this batch */

    /* The members below are only for slices.c. */
    struct arena arena; /* of the batch */
    bool sliced;        /* the reply will be sent by request_finish() */
};

/* Row `i` of the batch. */
static inline const void *slices_row(const struct slices *s, size_t i)
{
    return (const char *)s->rows + i * s->size;
}

/* Makes the page and replies with it. */
REPLIED slices_reply(struct page *page, const struct slices_kind *kind, void *of, size_t size);

#endif
