/* SPDX-License-Identifier: MIT
 *
 * Whether a node's disk has room for anything new. A node whose disk has less than the site wants
 * free, or cannot be written to, is closed: what runs there goes on, and nothing new begins. Once
 * it holds nothing and is still closed, it is unusable, with that reason. It opens by itself.
 */
#ifndef SCHEDULER_FLEET_NODE_ROOM_H
#define SCHEDULER_FLEET_NODE_ROOM_H

#include "scheduler/fleet/node/node.h"

enum room {
    ROOM_ASKED, /* the node has been asked; the runs that it holds are woken when it answers */
    ROOM_LEFT,
    ROOM_NONE
};
/* What the node says in answer to a question of `since_us` (monotonic) or later. */
enum room node_room_since(struct node_rt *rt, int64_t since_us);
/* Why nothing new begins there; NULL: something may. Borrowed until the next turn. */
const char *node_room_closed(const struct node_rt *rt);

#endif
