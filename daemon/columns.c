/* SPDX-License-Identifier: MIT */
#include "daemon/columns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

void columns_begin(struct columns *c, const char *const *titles, size_t n)
{
    *c = (struct columns){.n_columns = n};
    columns_add(c, titles);
}

void columns_add(struct columns *c, const char *const *cells)
{
    c->cells = xrealloc(c->cells, (c->n_cells + c->n_columns) * sizeof *c->cells);
    for (size_t i = 0; i < c->n_columns; i++)
        c->cells[c->n_cells++] = xstrdup(cells[i]);
}

static int width_of(const struct columns *c, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < c->n_cells; i += c->n_columns)
        width = strlen(c->cells[i]) > width ? strlen(c->cells[i]) : width;
    return (int)width;
}

void columns_end(struct columns *c, FILE *out)
{
    int *widths = xcalloc(c->n_columns, sizeof *widths);
    for (size_t i = 0; i < c->n_columns; i++)
        widths[i] = width_of(c, i);
    for (size_t row = 0; row < c->n_cells; row += c->n_columns)
        for (size_t i = 0; i < c->n_columns; i++) {
            bool last = i + 1 == c->n_columns;
            fprintf(out, "%-*s%s", last ? 0 : widths[i], c->cells[row + i], last ? "\n" : "  ");
            free(c->cells[row + i]);
        }
    free(widths);
    free(c->cells);
    *c = (struct columns){0};
}
