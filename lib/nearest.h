/* SPDX-License-Identifier: MIT
 *
 * "Did you mean": the most likely intended name for a misspelt one.
 */
#ifndef LIB_NEAREST_H
#define LIB_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *given;
    const char *name; /* the best offer so far; NULL: none is near. Borrowed */
    size_t distance;
};

/* Begins a search for `given` (borrowed). */
struct nearest nearest_to(const char *given);

/* Offers a name (borrowed). A name is near if at most a third of the letters of `given` must be
 * changed, inserted, removed, or swapped with a neighbour; case does not count. Among equally near
 * names the first is kept. */
void nearest_offer(struct nearest *n, const char *name);

/* " (did you mean --state-dir?)" with the prefix "--", or "" if no name is near. Returns `out`. */
#define NEAREST_SIZE 96
const char *nearest_words(const struct nearest *n, const char *prefix, char out[NEAREST_SIZE]);

#endif
