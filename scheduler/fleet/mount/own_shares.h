/* SPDX-License-Identifier: MIT
 *
 * Keys with which machines mount shares and containers from the daemon itself, where no rule mounts
 * them (nodeagent-proto/login/share_server.h). There is a key for a pool's volumes on a node, and a
 * key for the volumes of each run there; a key gives access to the folders of its volumes only. The
 * daemon keeps no private half of a key: the private half is sent when the volumes are mounted, and
 * a further preparation or start makes another key.
 */
#ifndef SCHEDULER_FLEET_MOUNT_OWN_SHARES_H
#define SCHEDULER_FLEET_MOUNT_OWN_SHARES_H

#include "scheduler/fleet/fleet_priv.h"
#include "scheduler/fleet/mount/plan.h"

/* The `owner` of the volumes of a pool; other owners are runs. */
#define OWN_SHARES_NODE "node"

/* A key for the volumes of an owner on a node, from its request until it is sent. */
struct own_key {
    struct own_key *next;
    struct fleet *fleet;
    char *node, *owner;
    const struct wake_kind *kind; /* wakes (kind, id) when the key is made, or has failed */
    int64_t id;
    bool made;
    struct err why; /* if `made`: why no key could be made; code ERR_NONE: the key is ready */
    char *private_key, *host_key, *user;
};

/* Requests a key if volumes of the list need a key. True: wait until (kind, id) is woken; false:
 * nothing to wait for. */
bool own_shares_await(const struct node_rt *rt, const char *owner, const struct mount_list *list,
                      const struct wake_kind *kind, int64_t id);
/* The key that was made for the volumes of `owner`, to be sent; NULL: there is none. Borrowed. */
const struct own_key *own_shares_key(const struct node_rt *rt, const char *owner);
/* The data for planning; NULL: the daemon serves no shares to this node. `work_dir`: the folder on
 * the node for the key. In the arena. */
const struct mount_own *own_shares_plan(const struct node_rt *rt, struct arena *a,
                                        const char *owner, const char *work_dir);
/* Frees the key in memory: it was sent, or is not needed any more. */
void own_shares_forget(struct fleet *fl, const char *node, const char *owner);
/* Makes the keys of an owner invalid (NULL: all keys of the node). Called when nothing is mounted
 * with them any more, or the node was given up. */
void own_shares_take_back(struct fleet *fl, const char *node, const char *owner);
/* Called when the preparation of a node begins: makes the keys of all its runs invalid. */
void own_shares_end_runs(const struct node_rt *rt);
/* Called at the start: removes the keys of nodes that do not exist any more. */
void own_shares_start(struct fleet *fl);
void own_shares_free(struct fleet *fl);

#endif
