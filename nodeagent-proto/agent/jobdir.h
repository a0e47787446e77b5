/* SPDX-License-Identifier: MIT
 *
 * The agent keeps the directory of a job that left no files in it for a later job (small_record.h
 * explains why), with the empty directory "shared" in it. It is kept below ROOT/accounts, which
 * only root can enter. Root becomes its owner before its entries are checked, so no process can add
 * a file after the check.
 */
#ifndef NODEAGENT_PROTO_AGENT_JOBDIR_H
#define NODEAGENT_PROTO_AGENT_JOBDIR_H

#include <stdbool.h>
#include <sys/types.h>

/* Keeps `path`, which is the entry `name` of the directory `holder`. False: it is not a job's
 * directory or not empty, or another directory is kept already; then the caller must remove
 * `path`. */
bool jobdir_keep(const char *root, const char *path, int holder, const char *name);
/* Renames the kept directory to `path` and gives it to the account, mode 0700. False: no directory
 * is kept, or `path` exists. */
bool jobdir_take(const char *root, const char *path, int holder, const char *name, uid_t uid,
                 gid_t gid);

#endif
