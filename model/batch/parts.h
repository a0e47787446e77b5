/* SPDX-License-Identifier: MIT
 *
 * Parts of stored documents of Azure Batch that become separate documents: the job of a schedule,
 * the manager of a job, an automatic pool. A path is names separated by dots. Texts are in the
 * arena.
 */
#ifndef MODEL_BATCH_PARTS_H
#define MODEL_BATCH_PARTS_H

#include <jansson.h>

#include "lib/arena.h"

/* The part at the path; NULL: none. Borrowed from `doc`. */
json_t *batch_part(const json_t *doc, const char *path);
/* The secrets of that part, by their paths in it; NULL: none. */
const char *batch_part_secrets(struct arena *a, const char *secrets, const char *path);

#endif
