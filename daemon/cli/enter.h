/* SPDX-License-Identifier: MIT
 *
 * Runs a command in a running job, for `exec`, `ssh` and `shell`.
 */
#ifndef DAEMON_CLI_ENTER_H
#define DAEMON_CLI_ENTER_H

#include <jansson.h>

#include "daemon/cli/client.h"

struct entered {
    json_t *job;      /* as lists show it */
    json_int_t index; /* of an array; -1: the job is not an array */
    const char *node; /* a node of the job; NULL: the first */
};

/* Runs the command line in the job; "": a shell. If this program has a terminal, the command gets
 * one too. Returns the exit code of the command, or -1. */
int enter_job(struct daemon_client *c, const struct entered *at, const char *line,
              struct err *e) MUST_CHECK;

#endif
