/* SPDX-License-Identifier: MIT
 *
 * The user's end of a terminal in a job: copies bytes between descriptors of this process and the
 * daemon, until the command ends.
 */
#ifndef DAEMON_CLI_TERMINAL_H
#define DAEMON_CLI_TERMINAL_H

#include "daemon/cli/cli.h"
#include "daemon/cli/terminal_link.h"

#define TERMINAL_LOST                                                                              \
    255 /* the exit code of a command that could not be run or was lost, as ssh's */

struct terminal_io {
    int in, out, err;
    /* `in` is a terminal in raw mode for the command; `~.` at the beginning of a line leaves the
     * command */
    bool raw;
};

/* Adds the size and type of this process's terminal to `ask`: {"rows": ..., "columns": ..., "term":
 * ...}. */
void terminal_add_size(json_t *ask);
/* Whether standard input and output are a terminal. */
bool terminal_is_here(void);
/* Returns the command's exit code, 128 + N if signal N ended it, or TERMINAL_LOST after a message
 * on standard error. The terminal's settings are restored. */
int terminal_serve(struct terminal_link *l, const struct terminal_io *io);
/* The path BELOW/GROUP/WORKSPACE/EXPERIMENT/JOB/terminal of a job that jobs_find() has found.
 * Caller frees. */
char *terminal_path(struct daemon_client *c, const json_t *job);

#endif
