/* SPDX-License-Identifier: MIT
 *
 * The handlers of blobs and what they share.
 */
#ifndef API_AZBLOB_HANDLERS_H
#define API_AZBLOB_HANDLERS_H

#include "api/azstorage/conditions.h"
#include "api/azstorage/items.h"
#include "files/upload.h"

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
/* A place aside for a new version of the blob. */
void blob_aside(struct request *r, struct blob *b);
/* A name for another file aside, below the account's folder. */
const char *blob_aside_name(struct request *r);
/* Removes a file aside that no row names any more, once that is on disk. A failure leaves a file
 * that nobody sees. */
void blob_forget(struct request *r, const char *aside);
const char *blob_account_folder(struct request *r);
/* Notes a new version of a blob, and forgets the file aside of the old one. */
int blob_note(struct request *r, const struct blob *old, const struct share_item *now,
              struct err *e) MUST_CHECK;

/* A request that waits for files/: kept with it. */
struct blob_work {
    struct request *r;
    struct blob blob;
    struct share_item item; /* what is to be noted afterwards */
    struct look *look;      /* of blob_look() and blob_change() */
};
struct blob_work *blob_work(struct request *r, const struct blob *b);

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
/* What it was, in the reply: the bytes have it. */
void blob_crc64_reply(struct request *r);
#define MD5_TEXT 25 /* base64 of 16 bytes, and NUL */

/* Where the blocks of a blob are that are not committed yet: below the account's folder, each named
 * by its id in hexadecimal digits. */
const char *blocks_folder(struct request *r);
/* From base64 to that. AZSTORAGE_BLOCK_ID. */
int block_id(struct request *r, const char *text, const char **out, struct err *e) MUST_CHECK;

struct replied *azcontainer_create(struct request *r);
struct replied *azcontainer_get(struct request *r);
struct replied *azcontainer_delete(struct request *r);
struct replied *azcontainer_set_metadata(struct request *r);
struct replied *azcontainer_get_acl(struct request *r);
struct replied *azcontainer_set_acl(struct request *r);
struct replied *azcontainers_list(struct request *r);
struct replied *azblobs_list(struct request *r);
struct replied *azblob_put(struct request *r);
struct replied *azblob_get(struct request *r);
struct replied *azblob_head(struct request *r);
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

struct replied *azblob_set_tags(struct request *r);
struct replied *azblob_get_tags(struct request *r);
struct replied *azblob_set_tier(struct request *r);
struct replied *azblob_copy(struct request *r);
struct replied *azblob_copy_abort(struct request *r);
/* Put Block From URL: the block is to be at `at`. */
struct replied *azblock_copy(struct request *r, const struct file_place *at);
struct replied *azblob_append(struct request *r);
struct replied *azblob_lease(struct request *r);
struct replied *azcontainer_lease(struct request *r);
struct replied *azblob_delete(struct request *r);
struct replied *azblob_set_metadata(struct request *r);
struct replied *azblob_set_properties(struct request *r);
struct replied *azblock_put(struct request *r);
struct replied *azblocks_get(struct request *r);
struct replied *azblocks_commit(struct request *r);
struct replied *azaccount_get(struct request *r);
struct replied *azblob_batch(struct request *r);
struct replied *azblob_snapshot(struct request *r);
struct replied *azblob_undelete(struct request *r);

#endif
