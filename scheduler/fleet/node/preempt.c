/* SPDX-License-Identifier: MIT */
#include "scheduler/fleet/node/preempt.h"

#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/node/node_priv.h"

void fleet_node_preempt(struct fleet *fl, int64_t node_id)
{
    static const struct failure why = {
        .code = FAIL_NODE_RECLAIMED,
        .message = "The node was preempted: what it held is gone, and others have it for a while",
        .step = "connect",
        .remedy = "none needed: the node is prepared again when it comes back",
        .exit_code = -1};
    struct node_rt *rt = node_rt_find(fl, node_id);
    if (!rt)
        return;
    node_rt_close(rt);
    node_connect_pause(rt);
    node_tell_gone(rt);
    node_lose(rt, &why);
}
