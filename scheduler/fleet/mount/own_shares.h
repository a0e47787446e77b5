/* SPDX-License-Identifier: MIT
 *
 * Keys with which machines mount shares and containers from the daemon itself, where no rule mounts
 * them (nodeagent-proto/login/share_server.h). The volumes of a pool on a node have a key, and so
 * have the volumes of each run there; a key opens the folders of these volumes. The daemon keeps no
 * private half: it is sent when the volumes are mounted, and a further preparation or start makes
 * another key.
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
    const struct wake_kind *kind; /* wakes (kind, id) when it is made */
    int64_t id;
    bool made;
    struct err why; /* after the making: why it failed; code ERR_NONE: the key is there */
    char *private_key, *host_key, *user;
};

/* Asks for a key if volumes of the list need one. True: wait until (kind, id) is woken. */
bool own_shares_await(const struct node_rt *rt, const char *owner, const struct mount_list *list,
                      const struct wake_kind *kind, int64_t id);
/* The key that was made for the volumes of `owner`, to be sent; NULL: there is none. Borrowed. */
const struct own_key *own_shares_key(const struct node_rt *rt, const char *owner);
/* The data for planning; NULL: the daemon serves no shares to this node. `work_dir`: the folder on
 * the node for the key. In the arena. */
const struct mount_own *own_shares_plan(const struct node_rt *rt, struct arena *a,
                                        const char *owner, const char *work_dir);
/* The key was sent, or is not wanted any more. */
void own_shares_forget(struct fleet *fl, const char *node, const char *owner);
/* Takes the keys of an owner back (NULL: all of the node), when nothing is mounted any more. */
void own_shares_take_back(struct fleet *fl, const char *node, const char *owner);
/* At the start: removes the keys of nodes that are gone. */
void own_shares_start(struct fleet *fl);
void own_shares_free(struct fleet *fl);

#endif
