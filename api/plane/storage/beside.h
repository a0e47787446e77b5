/* SPDX-License-Identifier: MIT
 *
 * The tier and rehydration of a blob (tiers.h), and whether it is sealed. They are members of the
 * JSON text of properties in the blob's row, but a request that sets all properties keeps them.
 */
#ifndef API_PLANE_STORAGE_BESIDE_H
#define API_PLANE_STORAGE_BESIDE_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"
#include "model/resource.h"

#define BESIDE_TIER        "x-ms-access-tier"
#define BESIDE_REHYDRATION "x-ms-rehydration" /* {"to", "standard", "high"} */
#define BESIDE_SEALED      "x-ms-blob-sealed"

/* The names of tiers, ended by NULL. */
extern const char *const beside_tiers[];
/* Whether this is the name of a tier, in exact upper and lower case; false for NULL. */
bool beside_tier_is_known(const char *tier);

/* beside_open() returns the properties as an object that the caller owns. beside_close() stores an
 * object as the properties, and takes it over. */
json_t *beside_open(const struct share_item *i);
void beside_close(struct arena *a, struct share_item *i, json_t *doc);

/* Copies the members of this header from the text of earlier properties. */
void beside_keep(struct arena *a, const char *was, struct share_item *i);
/* Removes the members of this header. */
void beside_drop(struct arena *a, struct share_item *i);

/* No bytes can be appended to a sealed append blob. */
bool beside_is_sealed(const struct share_item *i);
void beside_seal(struct arena *a, struct share_item *i);

#endif
