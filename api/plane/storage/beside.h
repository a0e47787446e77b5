/* SPDX-License-Identifier: MIT
 *
 * The properties of a blob that requests which set all properties anew do not touch: its tier and
 * rehydration (tiers.h), and whether it is sealed. They are members of the JSON text with the other
 * properties, in the blob's row.
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
/* Whether it is such a name, in its own case; NULL: it is not. */
bool beside_tier_is_known(const char *tier);

/* The properties as an object of the caller's; notes an object, and takes it over. */
json_t *beside_open(const struct share_item *i);
void beside_close(struct arena *a, struct share_item *i, json_t *doc);

/* Copies these members from the text of earlier properties. */
void beside_keep(struct arena *a, const char *was, struct share_item *i);
/* Removes these members. */
void beside_drop(struct arena *a, struct share_item *i);

/* A sealed append blob takes no further bytes. */
bool beside_is_sealed(const struct share_item *i);
void beside_seal(struct arena *a, struct share_item *i);

#endif
