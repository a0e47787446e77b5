/* SPDX-License-Identifier: MIT
 *
 * Patterns of paths, as Azure Batch has them: "*", "?", "[a-c]" and "[!abc]" within a part of the
 * path, and "**" for any number of directories. What begins with a dot is matched by a part that
 * begins with one alone. Pure.
 */
#ifndef MODEL_GLOB_H
#define MODEL_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"

/* The rest of a longer pattern counts for nothing. */
#define GLOB_PARTS_MAX 256

bool glob_is_pattern(const char *text);
/* Paths are relative, without "." and "..". */
bool glob_match(const char *pattern, const char *path);
/* Whether something below the directory may match; "" is where patterns begin. */
bool glob_may_hold(const char *pattern, const char *directory);

/* A pattern below a directory: within "/n", "/n/t/wd" and "../std*.txt" are "t" and "std*.txt". */
struct glob_place {
    const char *below; /* the bounds, as far as the pattern has no wildcards; its last part is never
                          in it; "": the bounds themselves */
    const char *pattern; /* the rest */
    bool is_pattern;     /* it has wildcards */
};
/* `text` is absolute or below `from`. ERR_INVALID_PATH: it leads out of `bounds`, or has more than
 * GLOB_PARTS_MAX parts. Arena-owned. */
int glob_place(struct arena *a, const char *bounds, const char *from, const char *text,
               struct glob_place *out, struct err *e) MUST_CHECK;

#endif
