/* SPDX-License-Identifier: MIT
 *
 * Writes the bytes of a log: unchanged, or on a terminal as text that cannot do more than change
 * its colours.
 */
#ifndef DAEMON_CLI_LOG_LINES_H
#define DAEMON_CLI_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct log_lines {
    FILE *out;
    /* the writer that wrote last to this output; shared by all writers of the output */
    struct log_lines **writer;
    char *process; /* owned */
    bool prefixed; /* lines begin with `process` */
    bool inside;   /* the text so far does not end with a newline */
    bool terminal;
    char escape[32]; /* an incomplete escape sequence */
    size_t n_escape;
    char character[5]; /* an incomplete character of several bytes */
    size_t n_character;
};

/* All writers to one output share *writer, and must not be moved. */
void log_lines_init(struct log_lines *l, FILE *out, struct log_lines **writer, const char *process,
                    size_t len);
/* -1: nobody reads the output any more. */
int log_lines_add(struct log_lines *l, const char *bytes, size_t n);
void log_lines_end(struct log_lines *l);

#endif
