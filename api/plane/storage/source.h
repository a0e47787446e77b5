/* SPDX-License-Identifier: MIT
 *
 * The source of a copy or a rename: the URL of a file or blob of an account of this daemon. The
 * source can be read if its URL is signed, with the token in x-ms-copy-source-authorization, or if
 * it is public. Copy Blob of a blob and Copy File of a file may also read from the same account
 * with the credentials of the request: the account's key, or a role.
 */
#ifndef API_PLANE_STORAGE_SOURCE_H
#define API_PLANE_STORAGE_SOURCE_H

#include "api/plane/storage/data_plane.h"

struct file_facts;
struct file_range;

struct source {
    struct share share;
    const char *name;          /* name of the source in its share */
    const char *folder, *path; /* where its bytes are */
    struct share_item item;    /* the row of the source */
    bool is_snapshot;          /* the source is a snapshot of a blob: `item` has its facts */
    const char *subscription;  /* subscription of its account */
};
/* Finds the source. AZSTORAGE_COPY_SOURCE and similar errors: it does not exist, or may not be
 * read. `header`: the name of the header with the URL. `needed`: letters of sp that the URL's
 * signature must have, if it is signed. */
int source_of(struct request *r, const char *header, const char *needed, struct source *out,
              struct err *e) MUST_CHECK;

/* Reads the range of the source that the request names; for the whole source len is FILES_ALL. */
int source_range(struct request *r, struct file_range *out, struct err *e) MUST_CHECK;
/* Shortens the range to the end of a source of `size` bytes. AZSTORAGE_RANGE: the range begins at
 * or after the end. */
int source_cut(struct file_range *range, uint64_t size, struct err *e) MUST_CHECK;
/* Checks the conditions on the source (x-ms-source-if-*). AZSTORAGE_SOURCE_CONDITION: one is false.
 * `f`: the facts of the source. */
int source_check_conditions(struct request *r, const struct source *s, const struct file_facts *f,
                            struct err *e) MUST_CHECK;
/* Fails with AZSTORAGE_ARCHIVED if the source is an archived blob. `f`: the facts of its file. */
int source_check_online(struct request *r, const struct source *s, const struct file_facts *f,
                        struct err *e) MUST_CHECK;
/* Whether the facts (NULL: no file) and the item of the source, read since `since` (turns_now()),
 * may be of two versions. */
bool source_is_torn(struct request *r, const struct source *s, const struct file_facts *f,
                    uint64_t since);

/* Makes the notes of a copy for its row, as JSON text; `id`: the id of the copy. */
const char *copy_text(struct request *r, const char *id, uint64_t size);
/* Adds the notes of a copy to a reply; `copy` NULL: the blob is no copy. */
void copy_reply(struct request *r, const char *copy);
/* Adds the notes of a copy as XML elements of a list. */
void copy_list(struct strbuf *b, struct arena *a, const char *copy);

#endif
