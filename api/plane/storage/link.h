/* SPDX-License-Identifier: MIT
 *
 * Download links: signed, expiring URLs to one file of a share, of a container, or on a node's own
 * disk. They have the form of Azure's SAS URLs (sv, sr, sig, se, sp). The path contains the
 * account, so links need no host name of the account.
 */
#ifndef API_PLANE_STORAGE_LINK_H
#define API_PLANE_STORAGE_LINK_H

#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/routes.h"
#include "model/spec.h"

struct file_facts;
struct files;

enum link_kind { LINK_FILE, LINK_BLOB, LINK_NODE };

#define LINK_SCOPE_MAX 3

struct file_ref {
    enum link_kind kind;
    /* The account and the share or container; for a node: the job's ROWID-GUID, the node's rank in
     * the job, the id of the output directory. No element contains a newline. NULL ends the
     * list. */
    const char *scope[LINK_SCOPE_MAX];
    const char *path; /* relative to the share, or to the output directory */
};

/* The URL https://HOST/files/{account}/{share}/{path}?sv=..., /blobs/..., or
 * /nodes/{job}/{rank}/{directory}/{path}?..., in the arena. */
const char *link_create(struct request *r, const struct file_ref *f, int64_t expires_us);
/* Checks the link in the request's query. AZSTORAGE_LINK_EXPIRED: it has no valid signature of this
 * daemon, or has expired. */
int link_check(struct request *r, const struct file_ref *f, struct err *e) MUST_CHECK;

/* Handlers of GET and HEAD of download links, with byte ranges. */

/* --- common parts of downloads (download.c) --------------------------------------------------- */

#define LOOK_AGAIN 1

/* A reply with a file of a share, or with the part that the request's Range asks for. */
struct file_reply {
    const char *folder, *path; /* as in struct file_place */
    const char *range;         /* NULL: the whole file */
    /* Checks the opened file before anything is sent: adds headers, and may refuse the request.
     * NULL: sends the file with its own ETag and Last-Modified. *content_type replaces
     * "application/octet-stream". Returns LOOK_AGAIN if this is not the wanted file; then the file
     * is closed, and `again` is called. */
    int (*look)(struct request *r, void *ctx, const struct file_facts *facts,
                const char **content_type, struct err *e);
    /* `again` not NULL: if a file cannot be opened, `look` is called without facts, and returns
     * LOOK_AGAIN or 0. `opened` is called after the last call of `look`. */
    void (*again)(struct request *r, void *ctx);
    void (*opened)(void *ctx);
    void *ctx;      /* argument of these functions; the request owns it */
    int missing;    /* the kind of error if the file cannot be opened */
    size_t at_once; /* most bytes to read at the opening, as in struct files_open */
    /* Called after `look` with the MD5 of the bytes that will be sent; `look` must refuse more than
     * at_once bytes. NULL: no MD5 is needed. */
    void (*hashed)(struct request *r, const uint8_t md5[]);
    bool framed; /* sends the bytes as a structured message */
    bool later;  /* the handler has already returned, so the reply is sent with request_finish() */
};
REPLIED reply_file(struct request *r, struct files *files, const struct file_reply *what);

/* The part of a file that is sent. */
struct file_slice {
    int status; /* 200 or 206 */
    uint64_t first, len;
};
/* Computes the part of a file of this size, and adds its headers to the reply. `range`: the wanted
 * range; NULL: all. AZSTORAGE_RANGE: it begins at or after the end. */
int storage_slice(struct request *r, const char *range, uint64_t size, struct file_slice *out,
                  struct err *e) MUST_CHECK;
/* The value of the header with the wanted range: x-ms-range, or else Range; NULL: none. */
const char *range_header(const struct request *r);
/* `range`, or NULL if the request's If-Range is neither the ETag nor the Last-Modified of the
 * reply: then the client has a part of another version, and needs the whole file. */
const char *range_if_same(struct request *r, const char *range);
/* Adds ETag and Last-Modified of a file without notes. */
void reply_file_state(struct request *r, int64_t mtime_us);

/* A reply with a file on a node's own disk, or with the part that the request's Range asks for. */
struct output_dir;
struct fleet;
struct node_file {
    struct fleet *fleet;
    const struct output_dir *at;
    const char *path, *content_type;
};
/* Sends a file of a node. 0: request_finish() will be called later. ERR_UNAVAILABLE,
 * ERR_FILE_NOT_FOUND. */
int send_node_file(struct request *r, const struct node_file *what, struct err *e) MUST_CHECK;

#endif
