/* SPDX-License-Identifier: MIT
 *
 * The files of a task, opened with the rights of the account that it runs as: they may be on a
 * volume where nobody else may write, root included (NFS with root_squash), and whatever the
 * account could do with links it could do anyway. Below the node root, where only root may make
 * directories, the missing ones are made as root, without following links, and given to the
 * account; nothing that is there already is ever given away.
 */
#ifndef NODEAGENT_PROTO_AGENT_OUTPUTS_H
#define NODEAGENT_PROTO_AGENT_OUTPUTS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

struct outputs {                   /* borrowed */
    const struct account *account; /* NULL: the agent's own rights */
    const char *root;              /* the node root */
};

/* Opens a file for appending, made if missing, its parents too. -1 on failure. */
int outputs_open(const struct outputs *o, const char *path, struct err *e) MUST_CHECK;
/* The same, but never waits for the other end of a FIFO, which a job may have put there. */
int outputs_open_log(const struct outputs *o, const char *path);
/* Opens it for reading, without waiting for the other end of a FIFO. -1 on failure. */
int outputs_open_read(const struct outputs *o, const char *path);
/* Makes `dir` the working directory; made if missing. */
int outputs_enter(const struct outputs *o, const char *dir, struct err *e) MUST_CHECK;

#endif
