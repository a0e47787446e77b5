/* SPDX-License-Identifier: MIT
 *
 * Ends the use of a uid: another job may have the uid only when no process and file of it is left.
 * For a worker that is root.
 */
#ifndef NODEAGENT_PROTO_AGENT_LEASE_END_H
#define NODEAGENT_PROTO_AGENT_LEASE_END_H

#include <sys/types.h>

#include "lib/err.h"

/* Kills the processes of `uid` and waits until they have ended: ERR_UNAVAILABLE after some seconds.
 * `helper` is a uid that nobody has. Meanwhile the caller has the effective id of its victims: they
 * may not signal it, but may lower its priority for good. */
int lease_end_processes(uid_t uid, uid_t helper, struct err *e) MUST_CHECK;
/* Gives everything of `uid` in the tree `dir` to the agent. Follows no link and enters no mount.
 * Files of other uids keep their owner, even if they are linked there. */
int lease_end_files(uid_t uid, const char *dir, struct err *e) MUST_CHECK;
/* Removes the uid's shared memory, semaphores and message queues. Files in /tmp stay: a job may
 * mean to leave output there, and no other job gets the uid soon. */
void lease_end_rest(uid_t uid);

#endif
