/* SPDX-License-Identifier: MIT
 *
 * Files that come in parts, and unpacking of archives.
 */
#ifndef NODEAGENT_PROTO_AGENT_UPLOAD_H
#define NODEAGENT_PROTO_AGENT_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

struct file_piece {
    int64_t offset; /* 0: begins the file anew */
    const void *bytes;
    size_t n;
    bool last; /* the last piece: the file is now complete, and replaces the file at its path */
    mode_t mode;
};
/* Adds a piece to the file `path`; until it is complete, the file has a temporary name.
 * ERR_CONFLICT: an earlier piece is missing. */
int file_write_piece(const char *path, const struct file_piece *piece, struct err *e) MUST_CHECK;

/* Makes the directory `target` from an archive, and removes the archive; an existing directory
 * stays unchanged. Readers see the whole directory or nothing. */
int archive_unpack(const char *archive, const char *target, struct err *e) MUST_CHECK;

#endif
