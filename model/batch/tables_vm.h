/* SPDX-License-Identifier: MIT
 *
 * Parts of the tables of pools: machines, networks, mounts; private to model/batch/.
 */
#ifndef MODEL_BATCH_TABLES_VM_H
#define MODEL_BATCH_TABLES_VM_H

#include <jansson.h>

#include "lib/err.h"
#include "model/schema.h"

extern const struct schema schema_batch_vm, schema_batch_cloud_service, schema_batch_network,
    schema_batch_mount, schema_batch_upgrade_policy, schema_batch_pool_identity;

/* Checks of an extension of virtual machines and of its settings, for the tables of both planes. */
int batch_check_extension(json_t *extension, const char *path, struct err *e);
int batch_check_extension_settings(const json_t *settings, const char *path, struct err *e);

#endif
