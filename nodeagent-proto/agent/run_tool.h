/* SPDX-License-Identifier: MIT
 *
 * Runs programs of the machine that answer questions, and reads their output.
 */
#ifndef NODEAGENT_PROTO_AGENT_RUN_TOOL_H
#define NODEAGENT_PROTO_AGENT_RUN_TOOL_H

#include "lib/err.h"

/* Runs argv[0], found in PATH or in the usual directories, with empty stdin, and waits for it;
 * after 10 s it is killed. *out is its stdout, at most 64 KiB; the caller frees. Fails if the
 * program could not be run or did not exit with 0. Not to be called on the agent's loop. */
int ask_program(const char *const *argv, char **out, struct err *e) MUST_CHECK;

#endif
