/* SPDX-License-Identifier: MIT
 *
 * Writes the bytes of a log: as they are, or on a terminal as text that cannot do more than colour
 * itself.
 */
#ifndef DAEMON_CLI_LOG_LINES_H
#define DAEMON_CLI_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct log_lines {
    FILE *out;
    /* which of them wrote last to the output; shared by all of one output */
    struct log_lines **writer;
    char *process; /* owned */
    bool prefixed; /* lines begin with `process` */
    bool inside;   /* the last text did not end a line */
    bool terminal;
    char escape[32]; /* a sequence that has begun */
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
