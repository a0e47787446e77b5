/* SPDX-License-Identifier: MIT
 *
 * Download links: signed, expiring URLs to one file of a share, of a container, or on a node's own
 * disk. They have the form of the service's SAS URLs (sv, sr, sig, se, sp). The path names the
 * account, so that links need no host names.
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
    /* Account and share or container; for a node: the job's ROWID-GUID, the node's rank in the job,
     * the output directory's id. None contains a newline. NULL: no more. */
    const char *scope[LINK_SCOPE_MAX];
    const char *path; /* below the share, or below the output directory */
};

/* https://HOST/files/{account}/{share}/{path}?sv=..., /blobs/..., or
 * /nodes/{job}/{rank}/{directory}/{path}?...; arena-owned. */
const char *link_create(struct request *r, const struct file_ref *f, int64_t expires_us);
/* AZSTORAGE_LINK_EXPIRED unless the request's query has a valid signature of this daemon that has
 * not expired. */
int link_check(struct request *r, const struct file_ref *f, struct err *e) MUST_CHECK;

/* GET and HEAD of such a link, with byte ranges. */

/* --- common parts of downloads (download.c) --------------------------------------------------- */

#define LOOK_AGAIN 1

/* A reply with a file of a share, or with the part that the request's Range asks for. */
struct file_reply {
    const char *folder, *path; /* struct file_place */
    const char *range;         /* NULL: the whole file */
    /* Checks the file before anything is sent: adds headers, and may refuse. NULL: sends the file
     * with its own ETag and Last-Modified. `content_type` replaces "application/octet-stream".
     * LOOK_AGAIN: the opened file is not the wanted one; it is closed, and `again` continues. */
    int (*look)(struct request *r, void *ctx, const struct file_facts *facts,
                const char **content_type, struct err *e);
    /* If `again` is not NULL, `look` is also called, without facts, for a file that cannot be
     * opened; it returns LOOK_AGAIN or 0. `opened`: `look` was called, and will not be called
     * again. */
    void (*again)(struct request *r, void *ctx);
    void (*opened)(void *ctx);
    void *ctx;      /* for these functions; the request's */
    int missing;    /* the kind of error if the file cannot be opened */
    size_t at_once; /* see struct files_open */
    /* Called after `look`, with the MD5 of the sent bytes; `look` must refuse more than at_once
     * bytes. NULL: no MD5 is needed. */
    void (*hashed)(struct request *r, const uint8_t md5[]);
    bool framed; /* the bytes go as a structured message */
    bool later;  /* the handler has returned already: reply with request_finish() */
};
REPLIED reply_file(struct request *r, struct files *files, const struct file_reply *what);

/* The part of a file of this size that a request asks for; adds the matching headers to the reply.
 */
struct file_slice {
    int status; /* 200 or 206 */
    uint64_t first, len;
};
/* `range`: the wanted range; NULL: all. AZSTORAGE_RANGE: beyond the end. */
int storage_slice(struct request *r, const char *range, uint64_t size, struct file_slice *out,
                  struct err *e) MUST_CHECK;
/* The header with the wanted range: x-ms-range, or else Range. */
const char *range_header(const struct request *r);
/* The range. NULL: the request's If-Range is neither the ETag nor the Last-Modified of the reply,
 * so the client has a part of another version of the file. */
const char *range_if_same(struct request *r, const char *range);
/* ETag and Last-Modified of a file without notes. */
void reply_file_state(struct request *r, int64_t mtime_us);

/* A reply with a file on a node's own disk, or with the part that the request's Range asks for. */
struct output_dir;
struct fleet;
struct node_file {
    struct fleet *fleet;
    const struct output_dir *at;
    const char *path, *content_type;
};
/* 0: request_finish() will answer. ERR_UNAVAILABLE, ERR_FILE_NOT_FOUND. */
int send_node_file(struct request *r, const struct node_file *what, struct err *e) MUST_CHECK;

#endif
