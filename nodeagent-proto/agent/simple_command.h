/* SPDX-License-Identifier: MIT
 *
 * A command line that consists of plain words needs no shell, and starting a shell costs more than
 * many commands.
 */
#ifndef NODEAGENT_PROTO_AGENT_SIMPLE_COMMAND_H
#define NODEAGENT_PROTO_AGENT_SIMPLE_COMMAND_H

#include "lib/arena.h"

/* For a child. Executes the program of the line in the environment that `bash -c` would give it
 * (PWD, SHLVL and _ are set as by the shell). Returns if the line needs a shell, if its first word
 * is a builtin, if the environment changes the behaviour of a shell, or if the program cannot be
 * executed. Then the caller runs bash, and that writes the message. Allocations are in the
 * arena. */
void plain_exec(const char *command_line, char **env, struct arena *a);

#endif
