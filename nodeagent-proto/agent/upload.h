/* SPDX-License-Identifier: MIT
 *
 * Files that come in parts, and archives that are unpacked.
 */
#ifndef NODEAGENT_PROTO_AGENT_UPLOAD_H
#define NODEAGENT_PROTO_AGENT_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

struct file_piece {
    int64_t offset; /* 0: begins anew */
    const void *bytes;
    size_t n;
    bool last; /* the file is whole, and takes the place of what is at its path */
    mode_t mode;
};
/* Adds a piece of the file `path`, which lies beside it until it is whole. ERR_CONFLICT: what comes
 * before is not there. */
int file_write_piece(const char *path, const struct file_piece *piece, struct err *e) MUST_CHECK;

/* Makes the directory `target` of what is in an archive, which is removed; what is there already
 * stays as it is. Nobody sees a part of it. */
int archive_unpack(const char *archive, const char *target, struct err *e) MUST_CHECK;

#endif
