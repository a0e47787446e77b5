/* SPDX-License-Identifier: MIT
 *
 * What a number must leave behind before another job may have it: nothing. For a worker, as root.
 */
#ifndef NODEAGENT_PROTO_AGENT_LEASE_END_H
#define NODEAGENT_PROTO_AGENT_LEASE_END_H

#include <sys/types.h>

#include "lib/err.h"

/* Kills what runs as `uid` and waits until it is gone: ERR_UNAVAILABLE if it is not, after some
 * seconds. `uid` + 1 is nobody's. */
int lease_end_processes(uid_t uid, struct err *e) MUST_CHECK;
/* Gives what belongs to `uid` in the tree `dir` to us. No link is followed, no mount entered; what
 * belongs to others stays theirs, be it linked there. */
int lease_end_files(uid_t uid, const char *dir, struct err *e) MUST_CHECK;
/* Removes its shared memory, semaphores and message queues. What it left in /tmp stays: output may
 * be meant to be there, and no other job gets the number soon. */
void lease_end_rest(uid_t uid);

#endif
