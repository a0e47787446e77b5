/* SPDX-License-Identifier: MIT
 *
 * One file on its way to a node, over its link, piece by piece: a file of the daemon's, or what a
 * URL of others leads to. One thing is under way at a time: the file is opened, a piece is read, or
 * a request to the node waits for its answer. So the end, which may be asked for at any moment, has
 * to wait for one callback at most.
 */
#ifndef SCHEDULER_FLEET_COPY_COPY_FILE_H
#define SCHEDULER_FLEET_COPY_COPY_FILE_H

#include "nodeagent-proto/link/node.h"
#include "scheduler/fleet/transfer/transfer.h"
#include "storage/folders/files.h"

/* Texts are borrowed until the end. */
struct carry_what {
    struct files *files;
    struct file_place from;
    struct transfers *transfers; /* NULL: no URLs */
    const char *url;             /* instead of `from`; NULL: none */
    const char *as, *path;       /* on the node */
    int mode;
};

struct carry;
/* `why` NULL: the file is there. ERR_UNAVAILABLE: the other end was silent for too long. */
typedef void (*carry_done)(void *ctx, const struct err *why);
struct carry *carry_begin(struct node_link *link, const struct carry_what *what, carry_done done,
                          void *ctx);
/* `done` does not run any more, and nothing that was given is looked at. */
void carry_halt(struct carry *c);

/* The largest file that is taken from a URL. */
#define CARRY_MAX (INT64_C(1) << 40)

#endif
