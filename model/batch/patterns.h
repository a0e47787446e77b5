/* SPDX-License-Identifier: MIT
 *
 * Patterns of a task's output files, relative to its working directory: * and ? match within a
 * name, ** across directories, [a-c] matches any of the characters a to c, and [!a] any character
 * except a. A name that begins with a dot matches only a pattern with the dot. Pure.
 */
#ifndef MODEL_BATCH_PATTERNS_H
#define MODEL_BATCH_PATTERNS_H

#include <stdbool.h>

#include "lib/arena.h"

/* A pattern in parts: a directory of the task and the pattern below it. */
struct batch_pattern {
    const char *base;    /* relative to the task's directory, without wildcards: "wd/out", "" */
    const char *pattern; /* the pattern of paths relative to `base` */
    bool wild;           /* true: the pattern contains wildcards and may match several files */
    bool outside;        /* true: it leaves the task's directory, so it matches no file */
};

/* The result's texts are in the arena. A pattern that is absolute or has too many ".." becomes
 * `outside`. */
struct batch_pattern batch_pattern_parse(struct arena *a, const char *text);
bool batch_pattern_matches(const char *pattern, const char *path);

#endif
