/* SPDX-License-Identifier: MIT
 *
 * Reads the text of a seed, YAML or JSON, as a tree, and finds the line of a value.
 */
#ifndef API_TESTING_SEED_SEED_DOC_H
#define API_TESTING_SEED_SEED_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

#define SEED_DEPTH_MAX 64
#define SEED_STEPS_MAX 32 /* the most parts of a path */

/* A path from the top of the tree: names of members, and numbers of items as text. */
struct seed_path {
    const char *step[SEED_STEPS_MAX];
    size_t n;
};

/* The caller frees *out. A text that begins with { is read as JSON. YAML aliases are copied; an
 * error contains line and column. */
int seed_doc_read(const char *text, size_t n, json_t **out, struct err *e) MUST_CHECK;

/* Line and column (from 1) of the key or item at a path; if the path does not exist, of its nearest
 * parent. False: the place was not found. */
bool seed_doc_place(const char *text, size_t n, const struct seed_path *path, size_t *line,
                    size_t *column);

#endif
