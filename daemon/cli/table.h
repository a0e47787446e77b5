/* SPDX-License-Identifier: MIT
 *
 * A table as text: one line for each row, aligned columns, two blanks between them. Texts may come
 * from other machines, so characters that could move a terminal or mislead its reader are shown as
 * `?`, also in messages.
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
    const char *text; /* arena */
    enum table_colour colour;
};

struct table {
    const struct table_column *columns; /* borrowed */
    size_t n_columns;
    struct table_cell *cells; /* row after row; all rows must be complete at the print */
    size_t n, cap;
    struct arena arena;
};

/* The place where a table is printed. */
struct table_screen {
    int width; /* columns; 0: no limit */
    bool colours;
};

void table_init(struct table *t, const struct table_column *columns, size_t n);
/* The next cell of the row, or of the next row. NULL and "" are shown as `-`. Copies. */
void table_add(struct table *t, enum table_colour colour, const char *text);
void table_addf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_print(const struct table *t, const struct table_screen *screen, FILE *out);
void table_free(struct table *t);

/* The length in bytes of the first character. 0: a terminal must not get it, because it is a
 * control character, turns the order of following characters around, or is not UTF-8. */
size_t table_character(const char *text);
/* The length in bytes of the first `n` characters of valid UTF-8. */
int table_bytes_of(const char *text, int n);
/* Replaces such characters by `?`. */
void table_clean(char *text);
/* Prints a line, cleaned so; `fmt` is without the line's end. */
void table_say(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* No limit and no colours unless `out` is a terminal. */
struct table_screen table_screen_of(FILE *out);
/* "17.3G": binary units, at most four digits. */
void table_bytes(long long bytes, struct strbuf *out);

#endif
