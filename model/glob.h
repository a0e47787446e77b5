/* SPDX-License-Identifier: MIT
 *
 * Patterns of paths in the syntax of Azure Batch: "*", "?", "[a-c]" and "[!abc]" within a part of
 * the path, and "**" for any number of directories. A name that begins with a dot matches only a
 * part that begins with a dot. Pure.
 */
#ifndef MODEL_GLOB_H
#define MODEL_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"

/* The rest of a longer pattern is ignored. */
#define GLOB_PARTS_MAX 256

bool glob_is_pattern(const char *text);
/* Paths are relative, without "." and "..". */
bool glob_match(const char *pattern, const char *path);
/* Whether a file below the directory may match; "" is the base of patterns. */
bool glob_may_hold(const char *pattern, const char *directory);

/* A pattern relative to a directory. With bounds "/n", the text "../std*.txt" from "/n/t/wd" gives
 * below "t" and pattern "std*.txt". */
struct glob_place {
    const char *below; /* the path from the bounds to the first wildcard, without the last part; "":
                          the bounds themselves */
    const char *pattern; /* the rest */
    bool is_pattern;     /* it has wildcards */
};
/* `text` is absolute or below `from`. ERR_INVALID_PATH: it leaves `bounds`, or has more than
 * GLOB_PARTS_MAX parts. In the arena. */
int glob_place(struct arena *a, const char *bounds, const char *from, const char *text,
               struct glob_place *out, struct err *e) MUST_CHECK;

#endif
