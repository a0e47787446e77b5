/* SPDX-License-Identifier: MIT
 *
 * Bodies that become a file as a whole: a blob's or a block's.
 */
#ifndef API_AZBLOB_PUT_PRIV_H
#define API_AZBLOB_PUT_PRIV_H

#include "api/azblob/handlers.h"
#include "api/azstorage/turns.h"
#include "shares/journal.h"

struct put;

struct put_kind {
    /* Writes the rows of a file that is made, or will be; NULL: there are none. */
    int (*note)(struct put *p, const struct file_result *f, struct err *e);
    /* The reply, once the file is in its place. */
    struct replied *(*reply)(struct put *p, const struct file_result *f);
    bool takes_turns; /* and has conditions */
};

struct put {
    struct request *r; /* NULL: the client is gone */
    struct files *files;
    struct blob blob;
    struct share_item item;
    const struct put_kind *kind;
    struct turn turn;
    bool in_turn;
    struct file_upload *upload; /* owned; NULL: small, or not opened yet */
    size_t length;              /* of a small one */
    bool small;
    bool calling; /* a call of files/ is under way */
    bool ended;   /* the body is complete */
    bool failed;
    bool has_md5, is_new;
    bool has_crc64;
    uint64_t crc64;
    struct journal_entry entry; /* of a blob whose bytes the journal has */
    uint8_t md5[FILES_MD5];
    char *piece; /* owned: what is collected; as large as `room` */
    size_t n, room;
};

/* Reads the body of the request. `p` (calloc; blob, item, kind, is_new and MD5 are set) becomes the
 * room's. */
struct replied *put_start(struct request *r, struct put *p);

#endif
