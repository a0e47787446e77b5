/* SPDX-License-Identifier: MIT
 *
 * A pool's properties as the resource manager has them (schema_rm_pool_properties) and its document
 * in the data plane (schema_batch_pool): each out of the other. json_t as in model/schema.h.
 */
#ifndef MODEL_BATCH_RM_WORDS_H
#define MODEL_BATCH_RM_WORDS_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"
#include "lib/err.h"

/* The members of a document that properties ask for, to be accepted by the data plane's table; what
 * is taken away (startTask: {}) is null. ERR_INVALID_PROPERTY: an id is none. */
int rm_pool_to_plane(const json_t *properties, json_t **out, struct err *e) MUST_CHECK;
/* The properties of a document; its size, which is in columns, is not in them. `account`: its id as
 * a resource, below which applications and certificates are. */
json_t *rm_pool_from_plane(const json_t *doc, const char *account);
/* Whether a member of a document says how large the pool is to be. */
bool rm_pool_is_size(const char *name);
/* Where a property of the data plane is in a body: "startTask.commandLine" ->
 * "properties.startTask.commandLine". Arena. */
const char *rm_pool_place(struct arena *a, const char *path);

/* "sha1-0a0e4f": a certificate's name. False: it is none; else both parts are the arena's. */
bool rm_certificate_name(struct arena *a, const char *name, const char **algorithm,
                         const char **thumbprint);

#endif
