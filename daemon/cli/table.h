/* SPDX-License-Identifier: MIT
 *
 * A table as text: one line for each row, aligned columns, two blanks between them. Other machines
 * or users may have chosen the texts, so `?` replaces characters that could control the terminal or
 * mislead its reader, also in messages.
 */
#ifndef DAEMON_CLI_TABLE_H
#define DAEMON_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

struct table_column {
    const char *name;
    bool right; /* aligned to the right */
    bool elide; /* may be cut if the table is wider than the screen */
};

enum table_colour { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD, TABLE_COLOURS };

struct table_cell {
    const char *text; /* in the arena */
    enum table_colour colour;
};

struct table {
    const struct table_column *columns; /* borrowed */
    size_t n_columns;
    /* row after row; when the table is printed, all rows must be complete */
    struct table_cell *cells;
    size_t n, cap;
    struct arena arena;
};

/* The place where a table is printed. */
struct table_screen {
    int width; /* columns; 0: no limit */
    bool colours;
};

void table_init(struct table *t, const struct table_column *columns, size_t n);
/* Adds the next cell of the row; after the last column, the first cell of the next row. NULL and ""
 * are shown as `-`. Copies the text. */
void table_add(struct table *t, enum table_colour colour, const char *text);
void table_addf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_print(const struct table *t, const struct table_screen *screen, FILE *out);
void table_free(struct table *t);

/* The length in bytes of the first character. 0: the character must not be printed on a terminal,
 * because it is a control character, changes the direction of text, or is not UTF-8. */
size_t table_character(const char *text);
/* The length in bytes of the first `n` characters of valid UTF-8. */
int table_bytes_of(const char *text, int n);
/* Replaces each character for which table_character() returns 0 by `?`. */
void table_clean(char *text);
/* Prints a line after table_clean(); `fmt` is without a newline. */
void table_say(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The width and colours of `out`. If it is not a terminal: no limit and no colours. */
struct table_screen table_screen_of(FILE *out);
/* Appends an amount like "17.3G": binary units, at most four digits. */
void table_bytes(long long bytes, struct strbuf *out);

#endif
