/* SPDX-License-Identifier: MIT
 *
 * The directory of a job that left no files in it is kept for a later job (small_record.h has the
 * reason), with its empty directory for all of the job's nodes. It is kept below ROOT/accounts,
 * which only root can enter. It becomes root's before it is searched, so no process can add a file
 * after the search.
 */
#ifndef NODEAGENT_PROTO_AGENT_JOBDIR_H
#define NODEAGENT_PROTO_AGENT_JOBDIR_H

#include <stdbool.h>
#include <sys/types.h>

/* Keeps `path`, the entry `name` of the directory `holder`, instead of removing it. False: not a
 * job's directory, not empty, or another directory is kept already; then the caller removes it. */
bool jobdir_keep(const char *root, const char *path, int holder, const char *name);
/* Renames the kept directory to `path` and gives it to the account, mode 0700. False: none is kept,
 * or `path` exists. */
bool jobdir_take(const char *root, const char *path, int holder, const char *name, uid_t uid,
                 gid_t gid);

#endif
