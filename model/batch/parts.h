/* SPDX-License-Identifier: MIT
 *
 * Parts of stored documents of Azure Batch that become documents of their own: the job of a
 * schedule, the manager of a job, the pool that is made for one. A path is names with dots between
 * them. Texts are the arena's.
 */
#ifndef MODEL_BATCH_PARTS_H
#define MODEL_BATCH_PARTS_H

#include <jansson.h>

#include "lib/arena.h"

/* The part at the path; NULL: there is none. Borrowed from `doc`. */
json_t *batch_part(const json_t *doc, const char *path);
/* The secrets of that part, by their paths in it; NULL: it has none. */
const char *batch_part_secrets(struct arena *a, const char *secrets, const char *path);

#endif
