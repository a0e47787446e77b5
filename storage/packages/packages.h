/* SPDX-License-Identifier: MIT
 *
 * Packages: archives of applications, unchanged since their activation. Each is copied from a
 * container into a folder that only the daemon uses, and kept under its hash. Later changes in the
 * container have no effect. A node checks whether it is an archive that may be unpacked
 * (nodeagent-proto/agent/zip/zip.h), as in the real service.
 *
 *   packages_keep(): copy -> sum -> rename to HASH.zip -> callback, which writes the row
 *
 * A file without a row is marked, and removed a week later (packages_sweep(), also daily), but
 * never during a keep, because its row is not written yet.
 */
#ifndef STORAGE_PACKAGES_PACKAGES_H
#define STORAGE_PACKAGES_PACKAGES_H

#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "storage/folders/files.h"

struct loop;
struct log;
struct packages;
struct storage;

struct packages_config { /* all borrowed; dir is copied */
    struct loop *loop;
    struct files *files;
    struct storage *storage;
    const struct log *log;
    const char *dir;
};

/* The folder must exist. */
struct packages *packages_create(const struct packages_config *c);
/* Calls back with ERR_UNAVAILABLE for all pending calls: the server stops. */
void packages_end_requests(struct packages *p);
/* Call with files_stop(). `stopped` runs when no work is left; a slow archive is abandoned. `p` is
 * freed then. */
void packages_stop(struct packages *p, void (*stopped)(void *ctx), void *ctx);

#define PACKAGE_HASH 65 /* bytes of a hash as text, with its NUL */
struct package_kept {
    char hash[PACKAGE_HASH]; /* SHA-256 in hexadecimal digits */
    int64_t size;            /* size of the archive in bytes */
};
/* If `why` is set, `kept` is NULL; ERR_FILE_NOT_FOUND: there is no such file. Called once, on the
 * loop, never inside the call. */
typedef void (*package_keeping)(void *ctx, const struct err *why, const struct package_kept *kept);
void packages_keep(struct packages *p, const struct file_place *from, package_keeping cb,
                   void *ctx);

/* Like packages_keep(), for bytes (malloc'ed); frees them. */
void packages_keep_bytes(struct packages *p, char *bytes, size_t n, package_keeping cb, void *ctx);

/* The place of the archive with this hash; in the arena. */
struct file_place packages_place(const struct packages *p, struct arena *a, const char *hash);
/* Schedules a look for archives without a row. */
void packages_sweep(struct packages *p);

#endif
