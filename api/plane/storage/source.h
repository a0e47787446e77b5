/* SPDX-License-Identifier: MIT
 *
 * The source of a copy or a rename: a URL of a file or blob of an account of this daemon. It is
 * read by the signature of the URL, by the token of x-ms-copy-source-authorization, or as public.
 * Copy Blob of a blob and Copy File of a file that were signed with the account's key may also read
 * what is in the same account, and with a token what a role allows there.
 */
#ifndef API_PLANE_STORAGE_SOURCE_H
#define API_PLANE_STORAGE_SOURCE_H

#include "api/plane/storage/data_plane.h"

struct file_facts;

struct source {
    struct share share;
    const char *name;          /* in its share */
    const char *folder, *path; /* where its bytes are */
    struct share_item item;    /* what is noted of it */
    bool is_snapshot;          /* of a blob: `item` has the facts that count */
};
/* AZSTORAGE_COPY_SOURCE and its like: it is not there, or may not be read. `header` has the URL.
 * `needed`: which letters of sp its signature must have, if it has one. */
int source_of(struct request *r, const char *header, const char *needed, struct source *out,
              struct err *e) MUST_CHECK;

/* Whether what was read of it since `since` (turns_now()), the facts (NULL: it was not there) and
 * the item, may be of two versions. */
bool source_is_torn(struct request *r, const struct source *s, const struct file_facts *f,
                    uint64_t since);

/* What is noted of a copy, as JSON text; `id` is the copy's. */
const char *copy_text(struct request *r, const char *id, uint64_t size);
/* Adds that to a reply. NULL: it is no copy. */
void copy_reply(struct request *r, const char *copy);
/* The same as elements of a list. */
void copy_list(struct strbuf *b, struct arena *a, const char *copy);

#endif
