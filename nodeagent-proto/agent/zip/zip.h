/* SPDX-License-Identifier: MIT
 *
 * Zip archives of untrusted origin: read, checked and unpacked. Refused, with a message that names
 * the entry: paths that leave the directory (absolute, "..", drives) or occur twice, entries other
 * than regular files and directories, encryption, methods other than stored and deflated,
 * overlapping data, wrong sizes or checksums, and more entries or bytes than the limits.
 *
 * All functions block: they are for worker threads, and for programs on nodes. Errors are
 * ERR_INVALID_CONTENT (the archive) or ERR_IO (the file, or the target directory).
 */
#ifndef NODEAGENT_PROTO_AGENT_ZIP_ZIP_H
#define NODEAGENT_PROTO_AGENT_ZIP_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <minizip/unzip.h>

#include "lib/err.h"

/* Bounds of the unpacked content. */
struct zip_limits {
    uint64_t bytes; /* of all files together */
    size_t entries;
};
#define ZIP_BYTES_MAX   (UINT64_C(16) << 30)
#define ZIP_ENTRIES_MAX 100000
extern const struct zip_limits zip_usual_limits;

struct zip_entry {
    const char *path; /* with "/" between its parts, and no "/" at the end */
    bool is_directory, is_program;
    uint64_t size;
    unz64_file_pos place; /* for zip.c */
};

struct zip;

/* Reads the directory of the archive in the file `fd`; `fd` is borrowed. */
int zip_open(int fd, const struct zip_limits *limits, struct zip **out, struct err *e) MUST_CHECK;
void zip_close(struct zip *z); /* NULL is accepted */

size_t zip_entries(const struct zip *z);
const struct zip_entry *zip_entry(const struct zip *z, size_t i);

/* zip_read() passes the bytes of entry `i` to `sink` in pieces. To stop, `sink` sets *e and returns
 * -1. */
typedef int (*zip_sink)(void *ctx, const void *bytes, size_t n, struct err *e);
int zip_read(struct zip *z, size_t i, zip_sink sink, void *ctx, struct err *e) MUST_CHECK;

/* Writes all entries below an empty directory. Everybody may read the files and nobody may write
 * them; programs are executable. An archive made on Windows has no modes, so none of its files is
 * executable. When this returns, the files are on the disk. */
int zip_unpack(struct zip *z, int directory, struct err *e) MUST_CHECK;

#endif
