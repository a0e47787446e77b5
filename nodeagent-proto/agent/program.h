/* SPDX-License-Identifier: MIT
 *
 * Programs of the machine: finds them, and runs those that change something (run_tool.h runs those
 * that answer questions).
 */
#ifndef NODEAGENT_PROTO_AGENT_PROGRAM_H
#define NODEAGENT_PROTO_AGENT_PROGRAM_H

#include "lib/err.h"
#include "lib/strbuf.h"

/* The path of the executable, found in PATH; NULL: not found. Caller frees. */
char *program_in_path(const char *name);
/* Like program_in_path(), and then searches the usual directories: a login's PATH often lacks the
 * sbin directories. */
char *program_find(const char *name);

/* Runs argv[0] (found as program_find() does) with `input` on its stdin (NULL: nothing) and waits
 * for it. Appends its output to `said`. Returns its exit code, 128 + signal if it was killed, or -1
 * if it could not be run. Not to be called on the agent's loop. */
int program_run(const char *const *argv, const char *input, struct strbuf *said,
                struct err *e) MUST_CHECK;

#endif
