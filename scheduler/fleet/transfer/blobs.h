/* SPDX-License-Identifier: MIT
 *
 * Containers of blobs of others, as the storage service has them: their URLs, and lists of what is
 * in them. Pure.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_BLOBS_H
#define SCHEDULER_FLEET_TRANSFER_BLOBS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"

/* The URL of a blob of the container with this URL, whose query stays: "https://H/c?sig" and "a/b"
 * become "https://H/c/a/b?sig". Arena-owned. */
const char *blob_url(struct arena *a, const char *container, const char *blob);
/* The URL of a page of the list of those whose names begin with `prefix`; `marker`: where it
 * begins, or NULL. Arena-owned. */
const char *blob_list_url(struct arena *a, const char *container, const char *prefix,
                          const char *marker);

/* A blob that is too large for one request is put in blocks, which are called by their numbers, and
 * then committed. */
#define BLOB_BLOCKS_MAX 50000
/* The URL that takes block `number`; and the one that commits the blocks. Arena-owned. */
const char *blob_block_url(struct arena *a, const char *container, const char *blob, size_t number);
const char *blob_commit_url(struct arena *a, const char *container, const char *blob);
/* What is sent there, of the first `n` blocks: malloc. */
char *blob_commit_body(size_t n, size_t *len);

struct blob_listed {
    const char *name;
    bool has_bytes; /* the list says so */
};
struct blob_page {
    struct blob_listed *blobs;
    size_t n;
    const char *next; /* marker of the page that follows; NULL: there is none */
};
/* Reads such a page. Everything is the arena's. */
int blob_page_read(struct arena *a, const char *xml, size_t n, struct blob_page *out,
                   struct err *e) MUST_CHECK;

#endif
