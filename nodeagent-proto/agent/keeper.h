/* SPDX-License-Identifier: MIT
 *
 * The supervisor of a task that is over and has left processes behind (task_spec.keep_children).
 */
#ifndef NODEAGENT_PROTO_AGENT_KEEPER_H
#define NODEAGENT_PROTO_AGENT_KEEPER_H

#include "nodeagent-proto/agent/record.h"

/* Has it kill all of them, and waits until it is gone, but not for long. One that is gone already:
 * nothing happens. */
void keeper_end(const struct start_record *r);

#endif
