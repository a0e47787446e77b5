/* SPDX-License-Identifier: MIT
 *
 * The handlers of blobs, and their shared functions.
 */
#ifndef API_PLANE_BLOB_HANDLERS_H
#define API_PLANE_BLOB_HANDLERS_H

#include <jansson.h>

#include "api/plane/blob/routes.h"
#include "api/plane/storage/conditions.h"
#include "api/plane/storage/items.h"
#include "storage/folders/upload.h"
#include "storage/shares/journal.h"

#define BLOB_NAME_MAX 1024 /* characters */

/* The blob of a request. */
struct blob {
    const char *container; /* path of the container's folder */
    const char *name;      /* the blob's name */
    /* the blob's row: notes that its file does not have; its path is `name` */
    struct share_item item;
    struct file_place at; /* where its bytes are */
    bool aside;           /* `at` is not in the container's folder, but in the hidden folder */
    /* Not 0: the request names the snapshot of this instant, whose row is `item`. 0: it names the
     * blob itself. */
    int64_t snapshot_us;
};
/* Finds the request's blob. Errors: the container does not exist; the name is invalid. */
int blob_of(struct request *r, struct blob *out, struct err *e) MUST_CHECK;
/* Reads the blob's row again, because it may have changed. BLOB_NOT_FOUND: the snapshot does not
 * exist any more. */
int blob_load(struct request *r, struct blob *b, struct err *e) MUST_CHECK;
/* Writes the row of the blob or snapshot. */
int blob_store(struct request *r, const struct blob *b, const struct share_item *i,
               struct err *e) MUST_CHECK;
/* The facts to show: those of the blob's file, or for a snapshot those of the blob at its
 * instant. */
struct file_facts blob_facts(const struct blob *b, const struct file_facts *f);
/* Whether the facts (`f`; NULL: no file) and the row (`b`) of the blob, both read since `since`
 * (turns_now()), may be of two versions. If so, the caller must read both again in the blob's turn
 * (write_lock.h), during which no request changes the blob. */
bool blob_is_torn(struct request *r, const struct blob *b, const struct file_facts *f,
                  uint64_t since);
/* Gives the blob a new file name in the hidden folder. */
void blob_aside(struct request *r, struct blob *b);
/* A new file name in the hidden folder, relative to the account's folder. */
const char *blob_aside_name(struct request *r);
/* Call when the new version is in its place: removes the old version's file in the hidden folder,
 * if the new version has another file. */
void blob_forget_old(struct request *r, const struct blob *old, const struct share_item *now);
/* Removes a file of the hidden folder that no row names, when the database has this on disk. A
 * failure leaves a file that nobody sees. */
void blob_forget(struct request *r, const char *aside);
const char *blob_account_folder(struct request *r);
/* Writes the row `now` of a new version of the blob `old`. */
int blob_note(struct request *r, const struct blob *old, const struct share_item *now,
              struct err *e) MUST_CHECK;

/* Replaces a blob by a new version, in the blob's turn (write_lock.h), in the order that
 * storage/shares/journal.h describes. */
struct placing {
    struct request *r;
    struct blob *blob;                /* the old version's row; the place, which may change */
    struct share_item *item;          /* the row to write */
    struct file_upload *upload;       /* borrowed; has all bytes of the new version */
    const struct file_result *staged; /* the facts of the staged upload; NULL: not staged yet */
    const uint8_t *md5;               /* the MD5 that the bytes must have, or NULL */
    const struct file_facts *was;     /* facts of the file that is there now; NULL: none */
    bool leaves_aside; /* the upload was opened in the hidden folder, the place is not in it */
    /* Called when the file is staged: sets the members of `item` that depend on the file. The item
     * already has its name. */
    void (*fill)(void *ctx, const struct file_result *f);
    /* Called when the file is in its place and its row is written. If `why` is set, the placing
     * failed; as far as is known the old version remains. */
    files_changed done;
    void *ctx;                /* argument of `fill` and `done` */
    struct file_facts before; /* This member and those below are private to placing.c. */
    struct file_result placed;
    struct journal_entry entry;
};
/* Begins the replacement. `p` must exist until `done` is called. */
void blob_place(struct placing *p);
/* Writes the old version's row again. */
int blob_unnote(struct request *r, const struct blob *old, const struct share_item *now,
                struct err *e) MUST_CHECK;

/* A request that waits for work on the file (storage/folders/); in the request's arena. */
struct blob_work {
    struct request *r;
    struct blob blob;
    struct share_item item;    /* the row to write afterwards */
    struct blob_looking *look; /* private to blob_look() and blob_change() */
};

/* Read the facts of the blob's file and check conditions and lease; then call `then`, which must
 * call blob_finish(), at once or later. blob_change() holds the blob's turn (write_lock.h) until
 * that call. */
typedef void (*blob_then)(struct blob_work *w, const struct file_facts *f);
REPLIED blob_look(struct request *r, blob_then then);
REPLIED blob_change(struct request *r, blob_then then);
/* Like blob_change(), for a request whose handler has returned reply_later(). */
void blob_change_later(struct request *r, blob_then then);
void blob_finish(struct blob_work *w, struct replied *done);

/* Checks the request's conditions, and its lease id for the kind of access (overwrite, remove or
 * read). `f` NULL: the blob does not exist. */
int blob_check(struct request *r, const struct blob *b, const struct file_facts *f,
               struct err *e) MUST_CHECK;
/* For a blob that does not exist: removes a lease from its row. The lease was of an earlier blob,
 * whose file somebody else has removed. */
void blob_without_lease(struct blob *b);
/* Whether the request requires that the blob does not exist: it has If-None-Match: *, and not the
 * lease of the existing blob. */
bool blob_must_be_new(struct request *r, const struct share_item *i);
/* Checks whether an existing blob takes blocks, and the request's lease id. `f` NULL: the facts of
 * its file are not known yet. */
int block_check(struct request *r, const struct blob *b, const struct file_facts *f,
                struct err *e) MUST_CHECK;

int blob_fault(const struct err *why, enum file_fault fault, struct err *e);
int blob_not_found(const struct blob *b, struct err *e);

/* Adds ETag and Last-Modified of a blob to the reply. */
void blob_state(struct request *r, const struct file_facts *f, const struct share_item *i);
/* Adds all headers of replies to GET and HEAD. */
void blob_headers(struct request *r, const struct file_facts *f, const struct share_item *i,
                  const char **type);
enum blob_type blob_type_of(const struct share_item *i);
/* The number of blocks of an append blob. */
int append_count(const struct share_item *i);
const char *blob_type_name(enum blob_type t);

/* 1: the request has the header `name` with a CRC64; 0: it has not. */
int blob_crc64_in(struct request *r, const char *name, uint64_t *out, struct err *e) MUST_CHECK;
/* 1: the request has x-ms-content-crc64, and no MD5; 0: it has no CRC64. */
int blob_crc64(struct request *r, uint64_t *out, struct err *e) MUST_CHECK;
/* Checks an XML body against the request's MD5 or CRC64. */
int blob_check_body(struct request *r, struct err *e) MUST_CHECK;
#define MD5_TEXT 25 /* base64 of 16 bytes, and NUL */

/* The folder of the blob's uncommitted blocks, relative to the account's folder. The file of a
 * block has the block's id in hexadecimal digits as its name. */
const char *blocks_folder(struct request *r);
/* Like blocks_folder(), for another blob of the request's container. */
const char *blocks_folder_of(struct request *r, const char *name);
/* Gives a new block a later time than its blob's, because a block that is older than its blob is
 * ignored. The blob's time may be later than the clock if the clock was set back. */
void blocks_set_time(struct files_upload *block, const struct request *r,
                     const struct share_item *blob);
/* Whether uncommitted blocks of the `old` version would count as blocks of the new version, because
 * the old version's time was later than the clock. If so, they must be removed. */
bool blocks_outlive(const struct share_item *old, const struct share_item *now);
/* Removes the folder of the blob's uncommitted blocks. The caller holds the blob's turn. */
void blocks_remove(struct request *r, files_done cb, void *ctx);
/* Stores that the request's blob has uncommitted blocks, so that lists of uncommitted blobs find
 * it. */
int uncommitted_note(struct request *r, struct err *e) MUST_CHECK;
/* Adds blobs that have only uncommitted blocks to a sorted list of rows; `aside` of such a row is
 * the folder of its blocks. At most `max` rows of either kind are in the list; *is_cut: there may
 * be more. */
int uncommitted_add(struct request *r, const char *from, const char *to, int max,
                    struct share_item **rows, size_t *n, bool *is_cut, struct err *e) MUST_CHECK;
/* Converts a block id from base64 to hexadecimal digits. AZSTORAGE_BLOCK_ID: it is no valid id. */
int block_id(struct request *r, const char *text, const char **out, struct err *e) MUST_CHECK;

/* Tags are stored as JSON text. tags_read_header() reads x-ms-tags; tags_write() appends a text as
 * XML. */
int tags_read_header(struct request *r, const char **out, struct err *e) MUST_CHECK;
int tags_count(const struct share_item *i);
void tags_write(struct strbuf *b, const char *text);
/* Writes those tags that the expression names; `asked` NULL: all tags. */
struct tag_where;
void tags_write_asked(struct strbuf *b, json_t *tags, const struct tag_where *asked);
/* Checks that a blob of this type may have this tier (NULL: the request names none). */
int tier_check_type(enum blob_type type, const char *tier, struct err *e) MUST_CHECK;
/* Fails with AZSTORAGE_ARCHIVED if the blob is archived and the request reads or changes its bytes.
 * `f` NULL: the facts of the file are not known. */
int blob_check_online(struct request *r, const struct share_item *i, const struct file_facts *f,
                      struct err *e) MUST_CHECK;

/* Checks the condition on tags in `header`; without this header the check passes. `fails`: the kind
 * of the error if the condition is false. */
int tags_check(struct request *r, const char *header, const struct share_item *i, int fails,
               struct err *e) MUST_CHECK;

/* For pages that are not XML: lists a container's blobs, grouped at slashes. The functions of
 * `show` add the rows in order; the page stores where the next page begins (page_pass()). */
struct page;
struct blob_show {
    /* a group: the common beginning of several names */
    void (*prefix)(struct page *p, const char *name);
    void (*blob)(struct page *p, const char *name, const struct file_facts *f);
};
struct blobs_wish {
    const struct blob_show *show;
    struct page *page;
    /* after: the name after which the list begins; NULL: begins at the first */
    const char *prefix, *after;
    size_t *left_out; /* is set to the number of files that cannot be shown */
};
struct replied *blobs_show(struct request *r, const struct blobs_wish *w);

struct replied *azblob_copy(struct request *r);
/* Append Block From URL: reads the source's bytes into r->raw, as if they were the body, then calls
 * `append`. On an error it replies and does not call `append`. */
struct replied *azappend_copy(struct request *r, void (*append)(struct request *r));
/* Put Block From URL; `to` describes the block's file. */
/* `blob`: the blob, if its row refuses the block (block_check()); or NULL. */
struct replied *azblock_copy(struct request *r, const struct blob *blob,
                             const struct files_upload *to);

#endif
