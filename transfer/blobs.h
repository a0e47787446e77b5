/* SPDX-License-Identifier: MIT
 *
 * Containers of blobs of others, as the storage service has them: their URLs, and lists of what is
 * in them. Pure.
 */
#ifndef TRANSFER_BLOBS_H
#define TRANSFER_BLOBS_H

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

struct blob_page {
    const char **names;
    size_t n;
    const char *next; /* marker of the page that follows; NULL: there is none */
};
/* Reads such a page. Everything is the arena's. */
int blob_page_read(struct arena *a, const char *xml, size_t n, struct blob_page *out,
                   struct err *e) MUST_CHECK;

#endif
