/* SPDX-License-Identifier: MIT
 *
 * Finds the programs that run on nodes.
 */
#ifndef DAEMON_SERVE_AGENT_PATH_H
#define DAEMON_SERVE_AGENT_PATH_H

#include "lib/err.h"

/* Checks $BATCHAI_NODE, then the directory of this program, then the libexec directory of the
 * installation. Caller frees; NULL: error. */
char *agent_path_find(struct err *e) MUST_CHECK;
/* The path of batchai-cmd, which is installed beside the agent; it may not exist. Caller frees. */
char *agent_path_of_cmd(const char *agent_path);

#endif
