/* SPDX-License-Identifier: MIT
 *
 * A command line of az as words and options. All texts are in the line's arena, or borrowed from
 * the arguments.
 */
#ifndef DAEMON_CLI_AZ_LINE_H
#define DAEMON_CLI_AZ_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

struct az_option {
    const char *name; /* as typed: "-g" or "--resource-group" */
    const char **values;
    size_t n;
};

struct az_line {
    struct arena *arena;
    const char **words; /* the words before the first option: "batchai", "cluster", "list" */
    size_t n_words;
    struct az_option *options;
    size_t n;
};

/* Reads arguments. "--name=x" and "-nx" become an option with a value. */
void az_line_read(struct arena *a, char *const *args, size_t n, struct az_line *out);
/* Makes a line from words without options; blanks separate them in `words`. */
void az_line_of(struct arena *a, const char *words, struct az_line *out);

/* All words, with one blank between them. */
const char *az_line_words(const struct az_line *l);
/* If the line begins with the words `from`, replaces them by `to` and returns true. */
bool az_line_reword(struct az_line *l, const char *from, const char *to);

/* Below, `names` are all names of one option, separated by blanks: "-g --resource-group". */
struct az_option *az_line_find(const struct az_line *l, const char *names);
/* The first value of an option; NULL if the option or its value is missing. */
const char *az_line_value(const struct az_line *l, const char *names);
void az_line_drop(struct az_line *l, const char *names);
/* Adds an option with a value at the end; `value` NULL: without a value. Copies the texts. */
void az_line_put(struct az_line *l, const char *name, const char *value);

/* {"az", ..., NULL}, for execvp(). */
const char **az_line_args(const struct az_line *l);
/* Adds the line in a form for people: quoted for a shell, with "..." in place of passwords and
 * keys. */
void az_line_show(const struct az_line *l, struct strbuf *out);

#endif
