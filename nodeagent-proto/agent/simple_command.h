/* SPDX-License-Identifier: MIT
 *
 * A command line that consists of plain words needs no shell, and starting a shell costs more than
 * many commands.
 */
#ifndef NODEAGENT_PROTO_AGENT_SIMPLE_COMMAND_H
#define NODEAGENT_PROTO_AGENT_SIMPLE_COMMAND_H

#include "lib/arena.h"

/* In a child. Executes the same program in the same environment as `bash -c` would (PWD, SHLVL and
 * _ are set as by the shell). Returns if the line needs a shell, if its first word is a builtin, if
 * the environment changes the behaviour of a shell, or if the program cannot be executed; then the
 * caller runs bash, which writes the message. Allocations are in the arena. */
void plain_exec(const char *command_line, char **env, struct arena *a);

#endif
