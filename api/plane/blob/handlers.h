/* SPDX-License-Identifier: MIT
 *
 * The handlers of blobs and what they share.
 */
#ifndef API_PLANE_BLOB_HANDLERS_H
#define API_PLANE_BLOB_HANDLERS_H

#include "api/plane/blob/routes.h"
#include "api/plane/storage/conditions.h"
#include "api/plane/storage/items.h"
#include "storage/folders/upload.h"
#include "storage/shares/journal.h"

#define BLOB_NAME_MAX 1024 /* characters */

/* What a request is about. */
struct blob {
    const char *container;  /* its folder */
    const char *name;       /* the blob's */
    struct share_item item; /* what is noted of it; path is `name` */
    struct file_place at;   /* where its bytes are */
    bool aside;             /* `at` is not in the container's folder */
    int64_t snapshot_us; /* it is the snapshot of this instant, and `item` is that of then; 0: the
                            blob itself */
};
/* Errors: there is no such container; the name is none. */
int blob_of(struct request *r, struct blob *out, struct err *e) MUST_CHECK;
/* What is noted of it, which may have changed since. BLOB_NOT_FOUND: the snapshot is gone. */
int blob_load(struct request *r, struct blob *b, struct err *e) MUST_CHECK;
/* Notes it anew: a blob's row or a snapshot's. */
int blob_store(struct request *r, const struct blob *b, const struct share_item *i,
               struct err *e) MUST_CHECK;
/* The facts that count: of its file, or for a snapshot, of the blob's as it was. */
struct file_facts blob_facts(const struct blob *b, const struct file_facts *f);
/* Whether what was read of the blob since `since` (turns_now()) may be of two versions: the file
 * has these facts (NULL: it was not there), and `b` what is noted. Then both are read again in a
 * turn of the blob's, in which nobody changes it. */
bool blob_is_torn(struct request *r, const struct blob *b, const struct file_facts *f,
                  uint64_t since);
/* A place aside for a new version of the blob. */
void blob_aside(struct request *r, struct blob *b);
/* A name for another file aside, below the account's folder. */
const char *blob_aside_name(struct request *r);
/* The version is in its place: forgets the file aside that the old one had, if it is another. */
void blob_forget_old(struct request *r, const struct blob *old, const struct share_item *now);
/* Removes a file aside that no row names any more, once that is on disk. A failure leaves a file
 * that nobody sees. */
void blob_forget(struct request *r, const char *aside);
const char *blob_account_folder(struct request *r);
/* Notes a new version of a blob. */
int blob_note(struct request *r, const struct blob *old, const struct share_item *now,
              struct err *e) MUST_CHECK;

/* A new version of a blob takes its place, in the blob's turn, in the order of
 * storage/shares/journal.h. */
struct placing {
    struct request *r;
    const struct blob *blob;          /* what is noted of it until then, and its place */
    struct share_item *item;          /* what is to be noted */
    struct file_upload *upload;       /* borrowed: all its bytes are there */
    const struct file_result *staged; /* how the upload was; NULL: it is not yet */
    const uint8_t *md5;               /* expected; or NULL */
    const struct file_facts *was;     /* the file at the place; NULL: there is none */
    /* The file is staged: fills in what the item has of it. It has the file already. */
    void (*fill)(void *ctx, const struct file_result *f);
    /* It is placed and noted; with a `why`, all is as it was, as far as anybody knows. */
    files_changed done;
    void *ctx;                /* of both */
    struct file_facts before; /* its own from here on */
    struct journal_entry entry;
};
/* `p` lives until `done`. */
void blob_place(struct placing *p);
/* Notes again what was noted before. */
int blob_unnote(struct request *r, const struct blob *old, const struct share_item *now,
                struct err *e) MUST_CHECK;

/* A request that waits for storage/folders/; in its arena. */
struct blob_work {
    struct request *r;
    struct blob blob;
    struct share_item item;    /* what is to be noted afterwards */
    struct blob_looking *look; /* of blob_look() and blob_change() */
};

/* Looks at the blob's file and checks conditions and lease; then calls `then`, which ends in
 * blob_finish(), perhaps later. A change keeps all others off the blob until that. */
typedef void (*blob_then)(struct blob_work *w, const struct file_facts *f);
REPLIED blob_look(struct request *r, blob_then then);
REPLIED blob_change(struct request *r, blob_then then);
void blob_finish(struct blob_work *w, struct replied *done);

/* Whether it may be written over, removed or read: conditions and its lease. `f`: NULL: there is
 * none. */
int blob_check(struct request *r, const struct blob *b, const struct file_facts *f,
               struct err *e) MUST_CHECK;
/* Whether what the request makes must not be there yet: If-None-Match: *, unless the request has
 * the lease of the blob that is there. */
bool blob_must_be_new(struct request *r, const struct share_item *i);
/* Likewise before anything of it was asked for. */
int blob_check_lease(struct request *r, const struct share_item *i, bool writes,
                     struct err *e) MUST_CHECK;

int blob_fault(const struct err *why, enum file_fault fault, struct err *e);
int blob_not_found(const struct blob *b, struct err *e);

/* ETag and Last-Modified. */
void blob_state(struct request *r, const struct file_facts *f, const struct share_item *i);
/* All that GET and HEAD say. */
void blob_headers(struct request *r, const struct file_facts *f, const struct share_item *i,
                  const char **type);
enum blob_type blob_type_of(const struct share_item *i);
/* How many blocks an append blob has. */
int append_count(const struct share_item *i);
const char *blob_type_name(enum blob_type t);

/* 1: the request says which MD5 (Content-MD5); 0: it does not. */
int blob_md5(struct request *r, const char *header, uint8_t out[FILES_MD5],
             struct err *e) MUST_CHECK;
/* Likewise x-ms-content-crc64, which cannot be given beside an MD5. */
int blob_crc64(struct request *r, uint64_t *out, struct err *e) MUST_CHECK;
/* Whether a body that is a document has the MD5 or CRC64 that the request says. */
int blob_check_body(struct request *r, struct err *e) MUST_CHECK;
#define MD5_TEXT 25 /* base64 of 16 bytes, and NUL */

/* Where the blocks of a blob are that are not committed yet: below the account's folder, each named
 * by its id in hexadecimal digits. */
const char *blocks_folder(struct request *r);
/* The same of another blob of the request's container. */
const char *blocks_folder_of(struct request *r, const char *name);
/* Notes that blocks were put of the request's blob, so that lists of uncommitted blobs find it. */
int uncommitted_note(struct request *r, struct err *e) MUST_CHECK;
/* Adds blobs that have blocks alone to rows of blobs aside, in their order, as far as all of them
 * are known: *is_cut, if there are more. Their `aside` is the folder of their blocks. At most `max`
 * of either. */
int uncommitted_add(struct request *r, const char *from, const char *to, int max,
                    struct share_item **rows, size_t *n, bool *is_cut, struct err *e) MUST_CHECK;
/* From base64 to that. AZSTORAGE_BLOCK_ID. */
int block_id(struct request *r, const char *text, const char **out, struct err *e) MUST_CHECK;

/* Tags, as JSON text. */
int tags_read_header(struct request *r, const char **out, struct err *e) MUST_CHECK;
int tags_count(const struct share_item *i);
void tags_write(struct strbuf *b, const char *text);
/* Access tiers are noted and shown. NULL: none. */
const char *tier_of(struct arena *a, const struct share_item *i);
void tier_set(struct arena *a, struct share_item *i, const char *tier);
int tier_read(struct request *r, const char **out, struct err *e) MUST_CHECK;

/* The condition on tags in that header, which may be missing. `fails`: the kind of error if it does
 * not hold. */
int tags_check(struct request *r, const char *header, const struct share_item *i, int fails,
               struct err *e) MUST_CHECK;

struct replied *azblob_copy(struct request *r);
/* Put Block From URL: the block is to be at `at`. */
struct replied *azblock_copy(struct request *r, const struct file_place *at);

#endif
