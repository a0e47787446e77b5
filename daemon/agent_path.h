/* SPDX-License-Identifier: MIT
 *
 * Where the node agent's program is.
 */
#ifndef DAEMON_AGENT_PATH_H
#define DAEMON_AGENT_PATH_H

#include "lib/err.h"

/* $BATCHAI_NODE, else beside this program, else in the installation's libexec. Caller frees; NULL:
 * err. */
char *agent_path_find(struct err *e) MUST_CHECK;

#endif
