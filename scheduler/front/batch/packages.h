/* SPDX-License-Identifier: MIT
 *
 * Packages of applications on nodes: resolves a reference, and names the package's directory and
 * variable.
 */
#ifndef SCHEDULER_FRONT_BATCH_PACKAGES_H
#define SCHEDULER_FRONT_BATCH_PACKAGES_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/rows.h"

struct storage;

/* A reference, and the package that it selects now. */
struct batch_package_use {
    bool by_default; /* the reference names no version */
    struct batch_package package;
};
/* `version` NULL or "": the default version. Returns 1: found; 0: there is no such application or
 * version, or it is not active; -1: error. */
int batch_package_find(struct storage *st, struct arena *a, int64_t account_id,
                       const char *application, const char *version, struct batch_package_use *out,
                       struct err *e) MUST_CHECK;

/* AZ_BATCH_APP_PACKAGE_app01_1_0; on pools with an image of Windows ..._APP01#1.0. Without the
 * version, if the reference has none. In the arena. */
const char *batch_package_variable(struct arena *a, const struct batch_package_use *use,
                                   bool windows);

/* The value of the variable: the path, below the node's root, that links to the unpacked archive.
 * For a task: each archive has its own path. */
const char *batch_package_directory(struct arena *a, const struct batch_package_use *use);
/* For a pool: the path stays the same, and the link's target changes when a node is prepared
 * again. */
const char *batch_pool_package_directory(struct arena *a, const struct batch_package_use *use);

#endif
