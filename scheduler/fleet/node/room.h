/* SPDX-License-Identifier: MIT
 *
 * Whether a node's disk has space for new runs. A node is closed if its disk has less free space
 * than the site requires, or cannot be written: running work continues, and nothing new begins. If
 * it is still closed when it has no allocation, it becomes unusable, with the same reason. It opens
 * by itself when its disk has enough space again.
 */
#ifndef SCHEDULER_FLEET_NODE_ROOM_H
#define SCHEDULER_FLEET_NODE_ROOM_H

#include "scheduler/fleet/node/node.h"

enum room {
    ROOM_ASKED, /* the node was asked; its runs are woken by the answer */
    ROOM_LEFT,
    ROOM_NONE
};
/* The state of the disk by an answer to a question that was sent at `since_us` (monotonic) or
 * later. */
enum room node_room_since(struct node_rt *rt, int64_t since_us);
/* Why no run may start on the node; NULL: runs may start. Borrowed until the caller returns to the
 * loop. */
const char *node_room_closed(const struct node_rt *rt);

#endif
