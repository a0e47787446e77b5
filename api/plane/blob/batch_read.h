/* SPDX-License-Identifier: MIT
 *
 * The body of a batch: multipart/mixed (RFC 2046, section 5.1). Each part is the head of a request
 * (application/http). Pure.
 *
 * https://learn.microsoft.com/rest/api/storageservices/blob-batch
 */
#ifndef API_PLANE_BLOB_BATCH_READ_H
#define API_PLANE_BLOB_BATCH_READ_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/named_value.h"

#define BATCH_PARTS_MAX   256
#define BATCH_LINE_MAX    16384 /* bytes of one line */
#define BATCH_HEADERS_MAX 64    /* headers of one part */

struct batch_part {
    const char *id; /* Content-ID; NULL: none */
    const char *method, *target;
    const struct named_value *header;
    size_t n_headers;
};

struct batch_parts {
    struct batch_part part[BATCH_PARTS_MAX];
    size_t n;
};

/* The boundary in a Content-Type; NULL: the type is not multipart/mixed, or has no boundary. */
const char *batch_boundary(struct arena *a, const char *content_type);
/* Reads the parts; their texts are in the arena. AZSTORAGE_INPUT: the body is no batch, or an empty
 * one; AZSTORAGE_BATCH_COUNT: it has too many parts. */
int batch_read(struct arena *a, const char *body, size_t n, const char *boundary,
               struct batch_parts *out, struct err *e) MUST_CHECK;

#endif
