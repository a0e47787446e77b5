/* SPDX-License-Identifier: MIT
 *
 * Requests whose whole body becomes one file: a blob or a block.
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
 *   NEW           nothing has been done
 *   COLLECTING    collects all bytes of a small body
 *   LOOKING       checks whether a large blob, or a block of a leased or archived blob, may be put,
 *                 before a byte of its body is read
 *   OPENING       opens the upload of a large body; again if its file must be in the hidden folder
 *   RECEIVING     collects a piece, while none is being written
 *   WRITING       writes a piece, and collects the next
 *   WAITING       has all bytes; another request holds the blob's turn (write_lock.h)
 *   CHECKING      holds the turn; reads the blob's row and the facts of the file at its place
 *   STAGING       writes a small blob's bytes to a file that nobody sees
 *   KEEPING       waits for the sync of its row, and of its bytes in the journal
 *   PLACING_KEPT  puts the file, whose bytes the journal has, in its place
 *   PLACING       puts any other file in its place (a blob's file by placing.c)
 *   OVER          the reply is finished; ignores the rest of the body
 *
 * The frames of a structured body are removed while it is collected. An error in them is replied
 * only when the whole body has arrived.
 *
 * A block begins with COLLECTING or OPENING, or with LOOKING before them, and enters PLACING when
 * its body is complete. An error leads to OVER. If another blob's directory or file is at the place
 * of a small blob, the small blob's file must be in the hidden folder: the put enters STAGING
 * again, or PLACING if it is not staged.
 */
#ifndef API_PLANE_BLOB_PUT_PRIV_H
#define API_PLANE_BLOB_PUT_PRIV_H

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/structured.h"
#include "api/plane/storage/write_lock.h"
#include "storage/shares/journal.h"

struct blob_put;

struct put_kind {
    /* Sets the members of the item that depend on the file; NULL: a block, which has no row. */
    void (*fill)(struct blob_put *p, const struct file_result *f);
    /* Makes the reply after the file is in its place. */
    struct replied *(*reply)(struct blob_put *p, const struct file_result *f);
    /* Checks, when the facts of the blob's file are known (NULL: there is none), whether the put
     * may go on. Of a blob: may choose the hidden folder as its place. */
    int (*check)(struct blob_put *p, const struct file_facts *there, struct err *e);
    bool takes_turns; /* whether the put needs the blob's turn and checks conditions */
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
    struct request *r; /* NULL: the client has disconnected */
    struct files *files;
    struct blob blob;
    /* of a block: the blob, if its row refuses the block; NULL: it does not */
    const struct blob *block_of;
    struct share_item item;
    const struct put_kind *kind;
    enum put_phase phase;
    bool small;       /* the body is a single piece */
    bool is_complete; /* the client has sent the whole body */
    bool is_new, has_md5, has_crc64;
    bool has_time; /* whether the file gets the modification time mtime_ns */
    int64_t mtime_ns;
    uint8_t md5[FILES_MD5];
    uint64_t crc64;
    char *piece; /* owned: the collected bytes; `room` bytes large */
    size_t n, room;
    size_t length; /* length of a small body */
    bool framed;   /* the body is a structured message */
    struct structured frames;
    bool is_bad; /* the structured message is wrong, for the reason `bad`; its rest is ignored */
    struct err bad;
    struct turn turn;
    struct file_upload *upload; /* owned; NULL: not opened or staged yet */
    struct file_result staged;  /* the result of staging a small blob */
    struct file_facts was;      /* the file at the blob's place, if any */
    bool has_was, looks_elsewhere;
    /* set in CHECKING: the place of the blob's name, unless the present file is elsewhere */
    struct file_place named;
    bool leaves_aside;          /* opened in the hidden folder, and placed at `named` */
    struct journal_entry entry; /* used in KEEPING and PLACING_KEPT */
    struct placing placing;     /* used in PLACING */
};

/* Reads the body of the request, and takes over `p`. The caller has allocated `p` with calloc, and
 * set blob, item, kind, is_new and MD5. */
struct replied *put_start(struct request *r, struct blob_put *p);

#endif
