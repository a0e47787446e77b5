/* SPDX-License-Identifier: MIT
 *
 * The files of a task, opened with the rights of the account that it runs as. They may be on a
 * volume where nobody else may write, not even root (NFS with root_squash); and links then give the
 * account nothing that it could not do anyway. Below the node root only root may make directories,
 * so missing ones are made as root, without following links, and given to the account. Nothing that
 * exists already is ever given away.
 */
#ifndef NODEAGENT_PROTO_AGENT_OUTPUTS_H
#define NODEAGENT_PROTO_AGENT_OUTPUTS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

struct outputs {                   /* borrowed */
    const struct account *account; /* NULL: the agent's own rights */
    const char *root;              /* the node root */
};

/* Opens a file for appending, but never waits for the other end of a FIFO, which a job may have put
 * there; makes it and its parents if they are missing. -1 on failure. */
int outputs_open_log(const struct outputs *o, const char *path);
/* Opens it for reading, without waiting for the other end of a FIFO. -1 on failure. */
int outputs_open_read(const struct outputs *o, const char *path);
/* Makes `dir` if it is missing, and the working directory; then opens the files of a command for
 * appending, made if they are missing with their parents. */
int outputs_enter(const struct outputs *o, const char *dir, const char *out_path,
                  const char *error_path, int *out, int *error, struct err *e) MUST_CHECK;

#endif
