/* SPDX-License-Identifier: MIT
 *
 * Ends a number's use: another job may have it only when nothing of it is left. For a process that
 * is root and ends soon, as a worker is.
 */
#ifndef NODEAGENT_PROTO_AGENT_LEASE_END_H
#define NODEAGENT_PROTO_AGENT_LEASE_END_H

#include <sys/types.h>

#include "lib/err.h"

/* Kills what runs as `uid` and waits until it is gone: ERR_UNAVAILABLE if it is not, after some
 * seconds. `helper` is a uid that nobody has. Meanwhile the caller has the effective id of its
 * victims: these may not signal it, but may lower its priority for good. */
int lease_end_processes(uid_t uid, uid_t helper, struct err *e) MUST_CHECK;
/* Makes everything in the tree `dir` that belongs to `uid` ours. Follows no link and enters no
 * mount. Files of others stay theirs, even if they are linked there. */
int lease_end_files(uid_t uid, const char *dir, struct err *e) MUST_CHECK;
/* Removes its shared memory, semaphores and message queues. Files in /tmp stay: a job may mean to
 * leave output there, and no other job gets the number soon. */
void lease_end_rest(uid_t uid);

#endif
