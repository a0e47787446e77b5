/* SPDX-License-Identifier: MIT
 *
 * A table for people: each column as wide as its widest cell, two blanks between them.
 */
#ifndef DAEMON_COLUMNS_H
#define DAEMON_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

struct columns {
    size_t n_columns, n_cells;
    char **cells; /* row by row; owned */
};

/* The cells are copied. `titles` is the first row. */
void columns_begin(struct columns *c, const char *const *titles, size_t n);
void columns_add(struct columns *c, const char *const *cells);
/* Prints and frees. */
void columns_end(struct columns *c, FILE *out);

#endif
