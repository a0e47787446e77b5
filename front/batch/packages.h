/* SPDX-License-Identifier: MIT
 *
 * Packages of applications on nodes: which one a reference means, where it is there, and what its
 * variable is called.
 */
#ifndef FRONT_BATCH_PACKAGES_H
#define FRONT_BATCH_PACKAGES_H

#include "model/batch/rows.h"
#include "packages/packages.h"
#include "scheduler/fleet/script.h"

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

/* A node as packages come to it. `root`: its own; `batch_root`: AZ_BATCH_NODE_ROOT_DIR. */
struct batch_package_node {
    struct files *files;
    const struct packages *packages;
    const char *root, *batch_root;
};
/* The value of the variable: below `batch_root`, and another one for another archive. */
const char *batch_package_directory(struct arena *a, const struct batch_package_node *node,
                                    const struct batch_package_use *use);
/* Adds the steps that make the directory: the archive is sent and unpacked once for its hash. */
void batch_package_steps(struct script *sc, struct arena *a, const struct script_label *label,
                         const struct batch_package_node *node,
                         const struct batch_package_use *use);

#endif
