/* SPDX-License-Identifier: MIT
 *
 * The patterns that name a task's output files, relative to its working directory: * and ? match
 * within a name, ** across directories, [a-c] one of these characters, [!a] any other. Names that
 * begin with a dot are matched by a pattern that has the dot, not by wildcards. Pure.
 */
#ifndef MODEL_BATCH_PATTERNS_H
#define MODEL_BATCH_PATTERNS_H

#include <stdbool.h>

#include "lib/arena.h"

/* What a pattern is about: a directory of the task and what is matched below it. */
struct batch_pattern {
    const char *base;    /* relative to the task's directory, without wildcards: "wd/out", "" */
    const char *pattern; /* of paths below it */
    bool wild;           /* it has wildcards: then it names any number of files */
    bool outside;        /* it leads out of the task's directory: it matches nothing */
};

/* Texts are the arena's. Absolute patterns and too many ".." are `outside`. */
struct batch_pattern batch_pattern_parse(struct arena *a, const char *text);
bool batch_pattern_matches(const char *pattern, const char *path);

#endif
