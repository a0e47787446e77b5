/* SPDX-License-Identifier: MIT
 *
 * A command line that is only words: what the shell would do with it can be done without the shell,
 * and starting one costs more than many a command.
 */
#ifndef NODEAGENT_PROTO_AGENT_SIMPLE_COMMAND_H
#define NODEAGENT_PROTO_AGENT_SIMPLE_COMMAND_H

#include "lib/arena.h"

/* In a child. Executes the program that `bash -c` would, in the environment that it would give it
 * (PWD, SHLVL and _ are the shell's). Returns if the line has anything that a shell reads, if its
 * first word is the shell's own, if the environment changes what a shell does, or if the program
 * cannot be executed: what is to be said then, bash says. What it needs is in the arena. */
void plain_exec(const char *command_line, char **env, struct arena *a);

#endif
