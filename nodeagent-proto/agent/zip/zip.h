/* SPDX-License-Identifier: MIT
 *
 * Zip archives of strangers: read, checked and unpacked. What is not plain is refused, with a
 * message that names the entry: names that lead out (absolute, "..", drives) or come twice, entries
 * that are no regular file or directory, encryption, methods other than stored and deflated, data
 * that overlap, sizes or sums that do not hold, and more entries or bytes than the limits. So
 * nothing that was unpacked can surprise whoever uses it.
 *
 * Everything here blocks: for worker threads, and for programs on nodes. Errors are
 * ERR_INVALID_CONTENT (the archive) or ERR_IO (the file, or where it goes).
 */
#ifndef NODEAGENT_PROTO_AGENT_ZIP_ZIP_H
#define NODEAGENT_PROTO_AGENT_ZIP_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <minizip/unzip.h>

#include "lib/err.h"

/* What an archive may unpack to. */
struct zip_limits {
    uint64_t bytes; /* of all files together */
    size_t entries;
};
#define ZIP_BYTES_MAX   (UINT64_C(16) << 30)
#define ZIP_ENTRIES_MAX 100000
extern const struct zip_limits zip_usual_limits;

struct zip_entry {
    const char *path; /* with "/" between its parts, and none at the end */
    bool is_directory, is_program;
    uint64_t size;
    unz64_file_pos place; /* for zip.c */
};

struct zip;

/* Reads the directory of the archive in this file, which is borrowed. */
int zip_open(int fd, const struct zip_limits *limits, struct zip **out, struct err *e) MUST_CHECK;
void zip_close(struct zip *z); /* NULL is accepted */

size_t zip_entries(const struct zip *z);
const struct zip_entry *zip_entry(const struct zip *z, size_t i);

/* Hands over the bytes of a file in pieces. `sink` returns -1 with *e set to stop. */
typedef int (*zip_sink)(void *ctx, const void *bytes, size_t n, struct err *e);
int zip_read(struct zip *z, size_t i, zip_sink sink, void *ctx, struct err *e) MUST_CHECK;

/* Writes all of it below an empty directory. Files can be read by everybody and written by nobody;
 * programs can be run. An archive that does not say which files are programs, as those made on
 * Windows do not, has nothing else. On disk when it returns. */
int zip_unpack(struct zip *z, int directory, struct err *e) MUST_CHECK;

#endif
