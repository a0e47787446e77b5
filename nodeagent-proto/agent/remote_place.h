/* SPDX-License-Identifier: MIT
 *
 * The files of remote commands, in ROOT/ssh: a socket for each job, open to the job's account
 * alone, and in bin/ this program, also as `ssh`. The directory belongs to the agent; every account
 * may pass through it.
 */
#ifndef NODEAGENT_PROTO_AGENT_REMOTE_PLACE_H
#define NODEAGENT_PROTO_AGENT_REMOTE_PLACE_H

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

/* Makes the job's socket in place of the socket of an earlier agent, and the program if it is
 * missing. Returns the socket: it listens and does not block. */
int remote_place(const char *root, const char *job, const struct account *as,
                 struct err *e) MUST_CHECK;
void remote_displace(const char *root, const char *job);
/* Removes the programs and sockets: no job needs them any more. */
void remote_clear(const char *root);

#endif
