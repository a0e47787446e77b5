/* SPDX-License-Identifier: MIT
 *
 * Ends the supervisor of a task whose command has ended but left processes behind
 * (task_spec.keep_children).
 */
#ifndef NODEAGENT_PROTO_AGENT_KEEPER_H
#define NODEAGENT_PROTO_AGENT_KEEPER_H

#include "nodeagent-proto/agent/record.h"

/* Orders the supervisor to kill these processes, and waits for a limited time until the supervisor
 * has ended. Does nothing if the supervisor has ended already. */
void keeper_end(const struct start_record *r);

#endif
