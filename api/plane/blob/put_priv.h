/* SPDX-License-Identifier: MIT
 *
 * Bodies that become a file as a whole: a blob's or a block's.
 *
 *   small:  COLLECTING ------------------------.
 *                                              v
 *   large:  LOOKING --> OPENING --> RECEIVING --> WAITING --> CHECKING --> STAGING --> KEEPING
 *                                    |     ^                     |            |           |
 *                                    v     |                     v            |           v
 *                                    WRITING                  PLACING <-------'     PLACING_KEPT
 *                                                                |                        |
 *                                                                '--------> OVER <--------'
 *
 *   NEW           nothing is done yet
 *   COLLECTING    a small body is collected as a whole
 *   LOOKING       whether a large blob may be put, before a byte of its body is read
 *   OPENING       the upload of a large body is opened; again, if the blob has to go aside
 *   RECEIVING     a piece is collected, and none is being written
 *   WRITING       a piece is being written, while the next is collected
 *   WAITING       all bytes are there, and the blob's turn is another's
 *   CHECKING      the blob's turn has come: its row is read, and the file at its place looked at
 *   STAGING       a small blob's bytes go to a file that nobody sees
 *   KEEPING       its row, and its bytes in the journal, wait for their sync
 *   PLACING_KEPT  the file whose bytes the journal has gets its place
 *   PLACING       any other file gets its place (a blob's as placing.c says)
 *   OVER          the reply is finished; the rest of the body is thrown away
 *
 * A structured body is taken apart while it is collected; if it is wrong, that is answered when all
 * of it has come.
 *
 * A block starts with COLLECTING or OPENING, and goes to PLACING when its body is complete. An
 * error leads to OVER. A small blob whose place turns out to be taken by another blob's directory
 * or file goes aside: back to STAGING, or to PLACING again if it is not staged.
 */
#ifndef API_PLANE_BLOB_PUT_PRIV_H
#define API_PLANE_BLOB_PUT_PRIV_H

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/structured.h"
#include "api/plane/storage/write_lock.h"
#include "storage/shares/journal.h"

struct blob_put;

struct put_kind {
    /* Fills in the item's members that depend on the file; NULL: nothing is noted. */
    void (*fill)(struct blob_put *p, const struct file_result *f);
    /* Makes the reply after the file is in its place. */
    struct replied *(*reply)(struct blob_put *p, const struct file_result *f);
    bool takes_turns; /* and has conditions */
};

enum put_phase {
    PUT_NEW,
    PUT_COLLECTING,
    PUT_LOOKING,
    PUT_OPENING,
    PUT_RECEIVING,
    PUT_WRITING,
    PUT_WAITING,
    PUT_CHECKING,
    PUT_STAGING,
    PUT_KEEPING,
    PUT_PLACING_KEPT,
    PUT_PLACING,
    PUT_OVER
};

struct blob_put {
    struct request *r; /* NULL: the client is gone */
    struct files *files;
    struct blob blob;
    struct share_item item;
    const struct put_kind *kind;
    enum put_phase phase;
    bool small;       /* the body is a single piece */
    bool is_complete; /* the client has sent the whole body */
    bool is_new, has_md5, has_crc64;
    bool has_time; /* its file gets mtime_ns */
    int64_t mtime_ns;
    uint8_t md5[FILES_MD5];
    uint64_t crc64;
    char *piece; /* owned: the collected bytes; `room` bytes large */
    size_t n, room;
    size_t length; /* of a small body */
    bool framed;   /* the body is a structured message */
    struct structured frames;
    bool is_bad; /* of a structured message, for this reason; the rest is thrown away */
    struct err bad;
    struct turn turn;
    struct file_upload *upload; /* owned; NULL: not opened or staged yet */
    struct file_result staged;  /* how a small blob was staged */
    struct file_facts was;      /* the file at the blob's place, if any */
    bool has_was, looks_elsewhere;
    struct journal_entry entry; /* KEEPING and PLACING_KEPT */
    struct placing placing;     /* PLACING */
};

/* Reads the body of the request. Takes over `p` (from calloc; blob, item, kind, is_new and MD5 are
 * set). */
struct replied *put_start(struct request *r, struct blob_put *p);

#endif
