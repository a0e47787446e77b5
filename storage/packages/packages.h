/* SPDX-License-Identifier: MIT
 *
 * The packages room: archives of applications, as they were when they were activated. Each is
 * copied from a container into a folder of the daemon's own, and kept under its hash. What users
 * write into the container afterwards changes nothing. Whether it is an archive that may be
 * unpacked (nodeagent-proto/agent/zip/zip.h) is seen on a node, as in the service.
 *
 *   packages_keep(): copy -> sum -> rename to HASH.zip -> callback, which writes the row
 *
 * A file without a row is removed (packages_sweep()), but never while one is being kept, whose row
 * is not written yet.
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

/* The folder must be there. */
struct packages *packages_create(const struct packages_config *c);
/* Calls back, with ERR_UNAVAILABLE, whoever waits: the server stops. */
void packages_end_requests(struct packages *p);
/* Beside files_stop(). `stopped` runs when nothing is under way, but for an archive that takes
 * long, which is left behind; `p` is gone then. */
void packages_stop(struct packages *p, void (*stopped)(void *ctx), void *ctx);

#define PACKAGE_HASH 65 /* bytes of a hash as text, with its NUL */
struct package_kept {
    char hash[PACKAGE_HASH]; /* SHA-256 in hexadecimal digits */
    int64_t size;            /* of the archive */
};
/* With a `why`, `kept` is NULL; ERR_FILE_NOT_FOUND: there is no such file. Called once, on the
 * loop, never inside the call. */
typedef void (*package_keeping)(void *ctx, const struct err *why, const struct package_kept *kept);
void packages_keep(struct packages *p, const struct file_place *from, package_keeping cb,
                   void *ctx);

/* The same of bytes, which it takes over (malloc). */
void packages_keep_bytes(struct packages *p, char *bytes, size_t n, package_keeping cb, void *ctx);

/* Where the archive with this hash is; arena-owned. */
struct file_place packages_place(const struct packages *p, struct arena *a, const char *hash);
/* Removes archives that no row has, soon. */
void packages_sweep(struct packages *p);

#endif
