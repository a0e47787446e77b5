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

/* If a pattern has more parts, the further parts are ignored. */
#define GLOB_PARTS_MAX 256

bool glob_is_pattern(const char *text);
/* Paths are relative, without "." and "..". */
bool glob_match(const char *pattern, const char *path);
/* True: a file below the directory may match; false: none can. "" is the directory to which
 * patterns are relative. */
bool glob_may_hold(const char *pattern, const char *directory);

/* A pattern, split into a directory and a pattern below it. For example, with bounds "/n", the text
 * "../std*.txt" relative to "/n/t/wd" gives below "t" and pattern "std*.txt". */
struct glob_place {
    const char *below; /* the directory relative to the bounds: all parts before the first wildcard,
                          and never the last part; "": the bounds themselves */
    const char *pattern; /* the pattern below this directory */
    bool is_pattern;     /* `pattern` contains wildcards */
};
/* `text` is absolute or relative to `from`. The result is in the arena. ERR_INVALID_PATH: the text
 * leaves `bounds`, or has more than GLOB_PARTS_MAX parts. */
int glob_place(struct arena *a, const char *bounds, const char *from, const char *text,
               struct glob_place *out, struct err *e) MUST_CHECK;

#endif
