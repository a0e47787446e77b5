/* SPDX-License-Identifier: MIT
 *
 * Command lines in the rules of Azure Batch on Linux: there is no shell, so nothing is expanded.
 * Words are separated by blanks. A backslash makes the next character literal; single quotes make
 * all characters between them literal; between double quotes only a backslash before a double quote
 * or a backslash is special.
 */
#ifndef MODEL_BATCH_ARGV_H
#define MODEL_BATCH_ARGV_H

#include <stddef.h>

#include "lib/arena.h"

/* Splits the command line into words: *out is an array of the words, followed by a NULL, in the
 * arena. A quote that is never closed reaches to the end of the text. Returns the number of
 * words. */
size_t batch_argv(struct arena *a, const char *command_line, const char ***out);

#endif
