/* SPDX-License-Identifier: MIT
 *
 * A line on standard error, if that is a terminal. It shows what a command is doing if that takes
 * longer than a second. It is overwritten, and removed at the end.
 */
#ifndef DAEMON_CLI_PROGRESS_H
#define DAEMON_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool terminal, shown;
    int64_t begun_us, shown_us; /* monotonic */
};

void progress_begin(struct progress *p);
/* Like progress_begin(); if `quiet` nothing is shown, for example with --json. */
void progress_begin_unless(struct progress *p, bool quiet);
/* Shows the text if the last one is old enough and the terminal takes text; `fmt` is without a
 * newline. */
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shows "12M of 1.5G: WHAT"; `all` 0: the whole amount is not known. The amount is first, because
 * the line is cut to the terminal's width. */
void progress_say_bytes(struct progress *p, const char *what, int64_t done, int64_t all);
/* How long the work has taken so far. */
int64_t progress_us(const struct progress *p);
void progress_end(struct progress *p);

#endif
