/* SPDX-License-Identifier: MIT
 *
 * Command lines as Azure Batch runs them on Linux: no shell is in between, so nothing is expanded.
 * Words are separated by blanks. A backslash takes the next character as it is; so do single quotes
 * all between them; between double quotes a backslash counts before a double quote and a backslash
 * alone.
 */
#ifndef MODEL_BATCH_ARGV_H
#define MODEL_BATCH_ARGV_H

#include <stddef.h>

#include "lib/arena.h"

/* The words, and a NULL behind them; all of it is the arena's. An open quote ends with the text.
 * Returns how many. */
size_t batch_argv(struct arena *a, const char *command_line, const char ***out);

#endif
