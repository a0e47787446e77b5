/* SPDX-License-Identifier: MIT
 *
 * The directory of a job that left nothing in it is kept for a later job (see small_record.h for
 * why): with its empty directory for all of the job's nodes, below ROOT/accounts, where nobody but
 * root gets. It is root's before it is looked through, so nothing can come into it after that.
 */
#ifndef NODEAGENT_PROTO_AGENT_JOBDIR_H
#define NODEAGENT_PROTO_AGENT_JOBDIR_H

#include <stdbool.h>
#include <sys/types.h>

/* Keeps `path`, the entry `name` of the directory `holder`, instead of removing it. False: it is no
 * job's directory, there is something in it, or one is kept already; it is to be removed. */
bool jobdir_keep(const char *root, const char *path, int holder, const char *name);
/* Gives the one that is kept the name `path` and to the account, mode 0700. False: none is kept, or
 * there is something of that name. */
bool jobdir_take(const char *root, const char *path, int holder, const char *name, uid_t uid,
                 gid_t gid);

#endif
