/* SPDX-License-Identifier: MIT
 *
 * Ends all uses of a uid, because another job may get the uid only when no process and no file of
 * it is left. To be called as root in a worker process.
 */
#ifndef NODEAGENT_PROTO_AGENT_LEASE_END_H
#define NODEAGENT_PROTO_AGENT_LEASE_END_H

#include <sys/types.h>

#include "lib/err.h"

/* Kills the processes of `uid` and waits until they have ended. ERR_UNAVAILABLE: some have not
 * ended after some seconds. `helper` is a uid that no process has. During the call, the caller has
 * the effective id `uid`: the killed processes cannot signal the caller, but they can lower its
 * priority permanently. */
int lease_end_processes(uid_t uid, uid_t helper, struct err *e) MUST_CHECK;
/* Gives all files of `uid` in the tree `dir` to the agent. Follows no symbolic link and enters no
 * mount. Files of other uids keep their owner, even if the job has made hard links to them
 * there. -1: some files could not be given; all others were. */
int lease_end_files(uid_t uid, const char *dir, struct err *e) MUST_CHECK;
/* Removes the uid's shared memory, semaphores and message queues. Files in /tmp are not removed,
 * because a job may have left output there on purpose, and no other job gets the uid soon. */
void lease_end_rest(uid_t uid);

#endif
