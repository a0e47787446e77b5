/* SPDX-License-Identifier: MIT
 *
 * A command in a running job, for `exec`, `ssh` and `shell`.
 */
#ifndef DAEMON_CLI_ENTER_H
#define DAEMON_CLI_ENTER_H

#include <jansson.h>

#include "daemon/cli/client.h"

/* Runs the line in the job (as lists show it), on one of its nodes (NULL: the first); "": a shell.
 * In a terminal it has a terminal of its own. Returns the exit code of the command, or -1. */
int enter_job(struct daemon_client *c, const json_t *job, const char *node, const char *line,
              struct err *e) MUST_CHECK;

#endif
