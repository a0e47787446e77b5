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
/* The same; if `quiet` it shows nothing, as under --json. */
void progress_begin_unless(struct progress *p, bool quiet);
/* Shows the text if it is time for one, and the terminal takes it; without a line's end. */
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "12M of 1.5G: WHAT"; `all` 0: it is not known. The amount is in front, because the line is cut to
 * the terminal's width. */
void progress_say_bytes(struct progress *p, const char *what, int64_t done, int64_t all);
/* How long it takes already. */
int64_t progress_us(const struct progress *p);
void progress_end(struct progress *p);

#endif
