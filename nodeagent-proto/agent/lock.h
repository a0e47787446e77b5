/* SPDX-License-Identifier: MIT
 *
 * One agent serves a node root at a time: the one that holds ROOT/agent.lock.
 */
#ifndef NODEAGENT_PROTO_AGENT_LOCK_H
#define NODEAGENT_PROTO_AGENT_LOCK_H

#include "lib/err.h"

/* Names the daemon that an agent works for, and the machine as that daemon calls it. In the agent's
 * environment; not set for a local node. */
#define LOCK_OWNER_VARIABLE "BATCHAI_NODE_OWNER"

/* Takes the lock, waiting a few seconds for an agent whose link has just ended. One that works for
 * the same owner is ended: a daemon has one link to a machine, so that agent's is dead and only the
 * machine does not know it yet (the network was away, a session hangs). Tasks go on. Returns the
 * descriptor that holds the lock, or -1. */
int lock_take(const char *root, struct err *e) MUST_CHECK;

#endif
