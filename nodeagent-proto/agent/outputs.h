/* SPDX-License-Identifier: MIT
 *
 * Opens the files of a task with the rights of the task's account, for two reasons: on some volumes
 * only the account may write, and not even root (NFS with root_squash); and through a symbolic link
 * the account gets no further rights. Below the node root only root may make directories, so
 * missing directories are made with root's rights, without following symbolic links, and given to
 * the account. Existing files and directories never change their owner.
 */
#ifndef NODEAGENT_PROTO_AGENT_OUTPUTS_H
#define NODEAGENT_PROTO_AGENT_OUTPUTS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

struct outputs {                   /* all members are borrowed */
    const struct account *account; /* NULL: the agent's rights */
    const char *root;              /* the node root */
};

/* Opens a file for appending; makes the file and its parents if they are missing. Never waits for
 * the other end of a FIFO, which a job may have put there. -1 on failure. */
int outputs_open_log(const struct outputs *o, const char *path);
/* Opens the file for reading, without waiting for the other end of a FIFO. -1 on failure. */
int outputs_open_read(const struct outputs *o, const char *path);
/* The files of a command's standard output and standard error. */
struct output_files {
    const char *out_path, *error_path;
    int out, error; /* descriptors of the open files */
};
/* Makes `dir` if it is missing, and makes it the working directory. Then opens the files of a
 * command for appending; makes missing files and parents. */
int outputs_enter(const struct outputs *o, const char *dir, struct output_files *f,
                  struct err *e) MUST_CHECK;

#endif
