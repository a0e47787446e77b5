/* SPDX-License-Identifier: MIT
 *
 * Nodes that are taken away for a while, as a cloud does with low-priority ones: what ran there is
 * queued again, and the node is prepared anew when it can be reached again.
 */
#ifndef SCHEDULER_FLEET_NODE_PREEMPT_H
#define SCHEDULER_FLEET_NODE_PREEMPT_H

#include <stdint.h>

struct fleet;

void fleet_node_preempt(struct fleet *fl, int64_t node_id);

#endif
