/* SPDX-License-Identifier: MIT
 *
 * Containers of blobs on other servers, in the protocol of the storage service: their URLs, and
 * lists of their content. Pure.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_BLOBS_H
#define SCHEDULER_FLEET_TRANSFER_BLOBS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"

/* The URL of a blob in the container with this URL; its query is kept: "https://H/c?sig" and "a/b"
 * become "https://H/c/a/b?sig". In the arena. */
const char *blob_url(struct arena *a, const char *container, const char *blob);
/* The URL of a page of the list of blobs whose names begin with `prefix`; `marker`: where the page
 * begins; NULL: the first page. In the arena. */
const char *blob_list_url(struct arena *a, const char *container, const char *prefix,
                          const char *marker);

/* A blob that is too large for one request is sent in numbered blocks; then the blocks are
 * committed. */
#define BLOB_BLOCKS_MAX 50000
/* blob_block_url() returns the URL to which block `number` is sent, blob_commit_url() the URL to
 * which the commit is sent. In the arena. */
const char *blob_block_url(struct arena *a, const char *container, const char *blob, size_t number);
const char *blob_commit_url(struct arena *a, const char *container, const char *blob);
/* The body of the commit of the first `n` blocks: malloc'ed. */
char *blob_commit_body(size_t n, size_t *len);

struct blob_listed {
    const char *name;
    bool has_bytes; /* according to the list */
};
struct blob_page {
    struct blob_listed *blobs;
    size_t n;
    size_t nameless;  /* blobs without a name; `blobs` does not contain them */
    const char *next; /* marker of the next page; NULL: there is none */
};
/* Reads a page of a list of blobs. All texts are in the arena. */
int blob_page_read(struct arena *a, const char *xml, size_t n, struct blob_page *out,
                   struct err *e) MUST_CHECK;

#endif
