/* SPDX-License-Identifier: MIT
 *
 * Patterns of a task's output files, relative to its working directory: * and ? match within a
 * name, ** across directories, [a-c] any of these characters, [!a] any other character. A name that
 * begins with a dot matches only a pattern with the dot. Pure.
 */
#ifndef MODEL_BATCH_PATTERNS_H
#define MODEL_BATCH_PATTERNS_H

#include <stdbool.h>

#include "lib/arena.h"

/* A pattern in parts: a directory of the task and the pattern below it. */
struct batch_pattern {
    const char *base;    /* relative to the task's directory, without wildcards: "wd/out", "" */
    const char *pattern; /* of paths below it */
    bool wild;           /* it has wildcards: then it matches any number of files */
    bool outside;        /* it leaves the task's directory: it matches nothing */
};

/* Texts are the arena's. Absolute patterns and too many ".." are `outside`. */
struct batch_pattern batch_pattern_parse(struct arena *a, const char *text);
bool batch_pattern_matches(const char *pattern, const char *path);

#endif
