/* SPDX-License-Identifier: MIT
 *
 * One agent serves a node root at a time: the holder of the lock on ROOT/agent.lock.
 */
#ifndef NODEAGENT_PROTO_AGENT_LOCK_H
#define NODEAGENT_PROTO_AGENT_LOCK_H

#include "lib/err.h"

/* Takes the lock, waiting a few seconds for an agent whose link has just ended. Kills an agent that
 * has the owner of this one (NODE_OWNER_VARIABLE): a daemon has one link to a node, so that agent's
 * link is dead, but the machine does not know it yet (the network was away, a session hangs, the
 * agent was stopped). Tasks continue. Returns the descriptor that holds the lock, or -1. */
int lock_take(const char *root, struct err *e) MUST_CHECK;

#endif
