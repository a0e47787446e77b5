/* SPDX-License-Identifier: MIT
 *
 * A start that failed on a node whose disk has no room, or cannot be written to, says nothing about
 * the run: it is queued again, and the node is closed. So the node is asked before such a failure
 * counts.
 */
#include "scheduler/run/run_priv.h"

enum room room_of(struct live_run *run, struct run_slot *slot, int64_t at_us)
{
    if (!slot->tenant.node || at_us == 0 || run->row.attempt >= ATTEMPTS_MAX)
        return ROOM_LEFT;
    return node_room_since(slot->tenant.node, at_us);
}

struct failure room_failure(struct live_run *run, const struct run_slot *slot,
                            const struct failure *why)
{
    struct failure f = *why;
    f.code = FAIL_NODE_DISK;
    f.node = slot->node_name;
    f.message = front_say(words_of(run), &run->a, "The {run} could not start there (%s): %s",
                          why->message, node_room_closed(slot->tenant.node));
    return f;
}
