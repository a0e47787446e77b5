/* SPDX-License-Identifier: MIT
 *
 * Converts a pool's properties in the resource manager (schema_rm_pool_properties) to its document
 * in the data plane (schema_batch_pool), and back. json_t as in model/schema.h.
 */
#ifndef MODEL_BATCH_RM_WORDS_H
#define MODEL_BATCH_RM_WORDS_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"
#include "lib/err.h"

/* Converts the given properties to members of the document, which the data plane's table must still
 * check. A member that the request removes (startTask: {}) becomes null. ERR_INVALID_PROPERTY: the
 * properties contain an invalid id. */
int rm_pool_to_plane(const json_t *properties, json_t **out, struct err *e) MUST_CHECK;
/* Converts a document to properties, without the pool's size, which is stored in columns. `account`
 * is the resource id of the Batch account, the parent of applications and certificates. */
json_t *rm_pool_from_plane(const json_t *doc, const char *account);
/* True: the document's member of this name belongs to the pool's size. */
bool rm_pool_is_size(const char *name);
/* The place of a data plane's property in a body: "startTask.commandLine" ->
 * "properties.startTask.commandLine". In the arena. */
const char *rm_pool_place(struct arena *a, const char *path);

/* Splits the name of a certificate ("sha1-0a0e4f") into two parts in the arena. False: the text is
 * not such a name. */
bool rm_certificate_name(struct arena *a, const char *name, const char **algorithm,
                         const char **thumbprint);

#endif
