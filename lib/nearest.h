/* SPDX-License-Identifier: MIT
 *
 * "Did you mean": the name that a misspelt name was probably to be.
 */
#ifndef LIB_NEAREST_H
#define LIB_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *given;
    const char *name; /* the best that was offered so far; NULL: none is near. Borrowed */
    size_t distance;
};

/* Looks for what `given` (borrowed) was to be. */
struct nearest nearest_to(const char *given);

/* Offers a name (borrowed). A name is near if at most a third of the letters of `given` must be
 * changed, put in, left out, or swapped with the letter beside; case does not count. The first of
 * the names that are equally near stays. */
void nearest_offer(struct nearest *n, const char *name);

/* " (did you mean --state-dir?)" with the prefix "--", or "" if no name is near. Returns `out`. */
#define NEAREST_SIZE 96
const char *nearest_words(const struct nearest *n, const char *prefix, char out[NEAREST_SIZE]);

#endif
