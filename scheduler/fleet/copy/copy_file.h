/* SPDX-License-Identifier: MIT
 *
 * Copies one file to a node, over its link, piece by piece: a file of the daemon, or the content of
 * a foreign URL. There is one pending operation at a time: opening the file, reading a piece, or a
 * request to the node. So a halt, which may come at any moment, waits for one callback at most.
 */
#ifndef SCHEDULER_FLEET_COPY_COPY_FILE_H
#define SCHEDULER_FLEET_COPY_COPY_FILE_H

#include "model/spec.h"
#include "nodeagent-proto/link/node.h"
#include "scheduler/fleet/transfer/transfer.h"
#include "storage/folders/files.h"

/* Texts are borrowed until the end. */
struct carry_what {
    struct files *files;
    struct file_place from;
    struct transfers *transfers; /* NULL: no URL can be read */
    const char *url;             /* the URL of the file, instead of `from`; NULL: `from` is used */
    /* set if `from` is an archived blob, whose file is refused; NULL: it is not */
    const struct archived_blob *archived;
    const char *as, *path; /* the file's owner and its path on the node */
    int mode;
};

struct carry;
/* `why` NULL: the file is on the node. ERR_UNAVAILABLE: the server of the URL was silent for too
 * long, or the link to the node is closed. */
typedef void (*carry_done)(void *ctx, const struct err *why);
struct carry *carry_begin(struct node_link *link, const struct carry_what *what, carry_done done,
                          void *ctx);
/* Halts: `done` is not called any more, and the borrowed arguments are not read any more. */
void carry_halt(struct carry *c);

/* The largest file that is accepted from a URL (bytes). */
#define CARRY_MAX (INT64_C(1) << 40)

#endif
