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

/* The document's members for the given properties, to be accepted by the data plane's table; a
 * removed member (startTask: {}) is null. ERR_INVALID_PROPERTY: an invalid id. */
int rm_pool_to_plane(const json_t *properties, json_t **out, struct err *e) MUST_CHECK;
/* The properties of a document, without the pool's size, because that is in columns. `account`: its
 * resource id, the parent of applications and certificates. */
json_t *rm_pool_from_plane(const json_t *doc, const char *account);
/* Whether a member of a document belongs to the pool's size. */
bool rm_pool_is_size(const char *name);
/* The place of a data plane's property in a body: "startTask.commandLine" ->
 * "properties.startTask.commandLine". In the arena. */
const char *rm_pool_place(struct arena *a, const char *path);

/* Splits a certificate's name, "sha1-0a0e4f". False: not such a name; otherwise both parts are in
 * the arena. */
bool rm_certificate_name(struct arena *a, const char *name, const char **algorithm,
                         const char **thumbprint);

#endif
