/* SPDX-License-Identifier: MIT
 *
 * Splits a command line in one pass. The words stand one behind the other in one block of the
 * arena.
 */
#include "model/batch/argv.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies the text up to the closing quote to *to; returns the text after it. */
static const char *take_quoted(const char *s, char quote, char **to)
{
    for (; *s && *s != quote; s++) {
        if (quote == '"' && *s == '\\' && (s[1] == '"' || s[1] == '\\'))
            s++;
        *(*to)++ = *s;
    }
    return *s ? s + 1 : s;
}

static const char *take_word(const char *s, char **to)
{
    while (*s && !is_blank(*s)) {
        if (*s == '\'' || *s == '"') {
            s = take_quoted(s + 1, *s, to);
            continue;
        }
        if (*s == '\\' && s[1])
            s++;
        *(*to)++ = *s++;
    }
    return s;
}

size_t batch_argv(struct arena *a, const char *command_line, const char ***out)
{
    size_t len = strlen(command_line), n = 0;
    /* Every word except the last takes at least two bytes of the text: a character and a blank. */
    const char **argv = arena_alloc(a, (len / 2 + 2) * sizeof *argv);
    char *to = arena_alloc(a, len + 2);
    const char *s = command_line;
    for (;;) {
        while (is_blank(*s))
            s++;
        if (!*s)
            break;
        argv[n++] = to;
        s = take_word(s, &to);
        *to++ = '\0';
    }
    *out = argv;
    return n;
}
