/* SPDX-License-Identifier: MIT
 *
 * The source of a copy or a rename: a URL of a file or blob of an account of this daemon. A request
 * that was signed with the account's key may read what is in the same account, one that came with a
 * token what a role allows there; for all else the URL has a signature of its own.
 */
#ifndef API_AZSTORAGE_SOURCE_H
#define API_AZSTORAGE_SOURCE_H

#include "api/azstorage/plane.h"

struct source {
    struct share share;
    const char *folder, *path; /* where its bytes are */
    struct share_item item;    /* what is noted of it */
    bool is_snapshot;          /* of a blob: `item` has the facts that count */
};
/* AZSTORAGE_COPY_SOURCE: it is not there, or may not be read. `header` has the URL.
 * `needed`: which letter of sp its signature must have, if it has one. */
int source_of(struct request *r, const char *header, const char *needed, struct source *out,
              struct err *e) MUST_CHECK;

/* What is noted of a copy, as JSON text; `id` is the copy's. */
const char *copy_text(struct request *r, const char *id, uint64_t size);
/* Adds that to a reply. NULL: it is no copy. */
void copy_reply(struct request *r, const char *copy);
/* The same as elements of a list. */
void copy_list(struct strbuf *b, struct arena *a, const char *copy);

#endif
