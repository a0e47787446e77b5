/* SPDX-License-Identifier: MIT
 *
 * Amounts of slots, GPUs, cores and memory (struct capacity).
 */
#ifndef MODEL_CAPACITY_H
#define MODEL_CAPACITY_H

#include <stdbool.h>

#include "lib/arena.h"
#include "model/resource.h"

/* Whether each amount of `need` is at most the amount of `has`. */
bool capacity_fits(const struct capacity *has, const struct capacity *need);
/* Raises each amount in *most to the amount of `other`, if that is more. */
void capacity_raise(struct capacity *most, const struct capacity *other);
/* Returns a text such as "1 slot, 2 GPUs, 4 cores and 512 MiB of memory", without the amounts that
 * are 0; in the arena. */
const char *capacity_text(struct arena *a, const struct capacity *c);

#endif
