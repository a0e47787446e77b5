/* SPDX-License-Identifier: MIT
 *
 * The supervisor of a task that has ended and has left processes behind (task_spec.keep_children).
 */
#ifndef NODEAGENT_PROTO_AGENT_KEEPER_H
#define NODEAGENT_PROTO_AGENT_KEEPER_H

#include "nodeagent-proto/agent/record.h"

/* Orders the supervisor to kill these processes, and waits until it has ended, for a limited time.
 * Does nothing if the supervisor has ended already. */
void keeper_end(const struct start_record *r);

#endif
