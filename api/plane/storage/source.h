/* SPDX-License-Identifier: MIT
 *
 * The source of a copy or a rename: the URL of a file or blob of an account of this daemon. Access
 * is by the signature in the URL, by the token in x-ms-copy-source-authorization, or public. Copy
 * Blob of a blob and Copy File of a file may also read from the same account with the credentials
 * of the request: the account's key, or a role.
 */
#ifndef API_PLANE_STORAGE_SOURCE_H
#define API_PLANE_STORAGE_SOURCE_H

#include "api/plane/storage/data_plane.h"

struct file_facts;
struct file_range;

struct source {
    struct share share;
    const char *name;          /* in its share */
    const char *folder, *path; /* where its bytes are */
    struct share_item item;    /* the notes of the source */
    bool is_snapshot;          /* of a blob: `item` has the effective facts */
    const char *subscription;  /* of its account */
};
/* Finds the source. AZSTORAGE_COPY_SOURCE and similar: it does not exist, or may not be read.
 * `header` has the URL. `needed`: letters of sp that its signature must have, if there is one. */
int source_of(struct request *r, const char *header, const char *needed, struct source *out,
              struct err *e) MUST_CHECK;

/* The range of the source that the request names; the whole source: len FILES_ALL. */
int source_range(struct request *r, struct file_range *out, struct err *e) MUST_CHECK;
/* Cuts it at the end of a source of `size` bytes, as for a client that reads the range.
 * AZSTORAGE_RANGE: it begins there or beyond. */
int source_cut(struct file_range *range, uint64_t size, struct err *e) MUST_CHECK;
/* The conditions on the source (x-ms-source-if-*): AZSTORAGE_SOURCE_CONDITION. `f`: its facts. */
int source_check_conditions(struct request *r, const struct source *s, const struct file_facts *f,
                            struct err *e) MUST_CHECK;
/* AZSTORAGE_ARCHIVED: it is an archived blob. `f`: its file. */
int source_check_online(struct request *r, const struct source *s, const struct file_facts *f,
                        struct err *e) MUST_CHECK;
/* Whether the facts (NULL: no file) and the item of the source, read since `since` (turns_now()),
 * may be of two versions. */
bool source_is_torn(struct request *r, const struct source *s, const struct file_facts *f,
                    uint64_t since);

/* The notes of a copy, as JSON text; `id` is the copy's. */
const char *copy_text(struct request *r, const char *id, uint64_t size);
/* Adds the notes to a reply. NULL: the blob is no copy. */
void copy_reply(struct request *r, const char *copy);
/* Adds the notes as elements of a list. */
void copy_list(struct strbuf *b, struct arena *a, const char *copy);

#endif
