/* SPDX-License-Identifier: MIT
 *
 * Packages of applications on nodes: which one a reference means, where it is there, and what its
 * variable is called.
 */
#ifndef SCHEDULER_FRONT_BATCH_PACKAGES_H
#define SCHEDULER_FRONT_BATCH_PACKAGES_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/rows.h"

struct storage;

/* A reference, and what it means now. */
struct batch_package_use {
    bool by_default; /* it names no version */
    struct batch_package package;
};
/* `version` NULL or "": the default one. A getter: 0: there is no such application or version, or
 * it is not active. */
int batch_package_find(struct storage *st, struct arena *a, int64_t account_id,
                       const char *application, const char *version, struct batch_package_use *out,
                       struct err *e) MUST_CHECK;

/* AZ_BATCH_APP_PACKAGE_app01_1_0; on pools with an image of Windows ..._APP01#1.0. Without the
 * version, if the reference has none. Arena-owned. */
const char *batch_package_variable(struct arena *a, const struct batch_package_use *use,
                                   bool windows);

/* The value of the variable: the directory, below the node's root, to which the unpacked archive is
 * linked. Another one for another archive; */
const char *batch_package_directory(struct arena *a, const struct batch_package_use *use);
/* for what a pool has, always the same: what is behind it changes when a node is prepared anew. */
const char *batch_pool_package_directory(struct arena *a, const struct batch_package_use *use);

#endif
