/* SPDX-License-Identifier: MIT
 *
 * Only one agent at a time serves a node root: the agent that holds the lock on ROOT/agent.lock.
 */
#ifndef NODEAGENT_PROTO_AGENT_LOCK_H
#define NODEAGENT_PROTO_AGENT_LOCK_H

#include "lib/err.h"

/* Takes the lock; waits a few seconds for an agent whose link has just ended. Kills an agent with
 * the same owner (NODE_OWNER_VARIABLE) as this agent: a daemon has only one link to a node, so the
 * link of that agent is dead, although that agent has not noticed it yet (the network was
 * interrupted, a session hangs, the agent was stopped). Tasks continue. Returns the descriptor that
 * holds the lock, or -1. */
int lock_take(const char *root, struct err *e) MUST_CHECK;

#endif
