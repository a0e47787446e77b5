/* SPDX-License-Identifier: MIT
 *
 * Deadlines in a binary heap, at most one for each (kind, id). A hash table for each kind contains
 * their positions, so that setting, moving and removing a deadline takes logarithmic time.
 * Deadlines at the same instant are in the order of kind and id.
 */
#ifndef LIB_DEADLINES_H
#define LIB_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadline {
    int64_t at_us;
    int kind;
    int64_t id; /* not 0 */
};

struct deadlines;

/* Makes an empty set for kinds 0 to n_kinds - 1. The caller frees it. */
struct deadlines *deadlines_new(int n_kinds);
void deadlines_free(struct deadlines *d);
/* False: there is no deadline for this id. */
bool deadlines_get(const struct deadlines *d, int kind, int64_t id, int64_t *at_us);
/* Sets the deadline of this id, or moves it. */
void deadlines_set(struct deadlines *d, int kind, int64_t id, int64_t at_us);
void deadlines_remove(struct deadlines *d, int kind, int64_t id);
/* The earliest deadline; false: there is none. */
bool deadlines_first(const struct deadlines *d, struct deadline *out);

#endif
