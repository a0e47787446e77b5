/* SPDX-License-Identifier: MIT
 *
 * Volumes as steps of a script: mounts a list of volumes on one node, and unmounts them. plan.h
 * decides the steps of each volume.
 */
#ifndef SCHEDULER_FLEET_MOUNT_MOUNTS_H
#define SCHEDULER_FLEET_MOUNT_MOUNTS_H

#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/mount/plan.h"
#include "scheduler/fleet/script/script.h"

struct mount_secret; /* a text with a key, allocated by mounts_add() */

/* Volumes of a pool, or of a run, on one node. Texts are borrowed. */
struct node_mounts {
    const struct node_rt *rt;
    struct arena *a; /* borrowed: the script's */
    struct script *script;
    const char *mount_root; /* the parent of the targets, below the node root */
    /* "node", or the run and its attempt; also the name of the folder for keys and logs */
    const char *owner;
    const char *task_prefix; /* the beginning of the ids of the mount commands */
    /* list of allocated keys; the owner of the arena calls mounts_wipe() at the end */
    struct mount_secret **secrets;
};

/* True: the list must not be mounted yet, for one of three reasons: the first export of a file
 * server since the daemon's start has not ended; strict mode delays its creation; the key for the
 * daemon's shares is being made. `owner` as in struct node_mounts. Wakes (kind, id) when the reason
 * has ended or failed; then call this again. Call this before the script with the mounts begins. */
bool mounts_await(const struct node_rt *rt, const char *owner, const struct mount_list *list,
                  const struct wake_kind *kind, int64_t id);
/* Makes the volumes that are folders of the daemon accessible to runs with separate accounts, even
 * if the node was prepared before such accounts existed. */
void mounts_open_shares(const struct node_mounts *m, const struct mount_list *list);
/* Lists the daemon's folders behind these volumes on a local node in `reach`, which has room for
 * one folder of each volume. Returns how many there are. */
size_t mounts_folders(const struct node_rt *rt, struct arena *a, const struct mount_list *list,
                      const char **reach);
/* Adds the steps that mount `list`, in its order. False: a volume cannot be mounted (*why); the
 * script must not be run. */
bool mounts_add(const struct node_mounts *m, const struct mount_list *list, struct failure *why);
/* Adds the steps that unmount the volumes of `list`, the last first. A failure of these steps does
 * not end the script. */
void mounts_remove(const struct node_mounts *m, const struct mount_list *list);
/* Called when the volumes of `owner` on this node are unmounted, were never mounted, or the node
 * was given up: makes their key invalid. */
void mounts_over(struct fleet *fl, const char *node, const char *owner);
/* Wipes the texts with keys that mounts_add() made. */
void mounts_wipe(struct mount_secret *secrets);

/* Adds the steps that unmount everything below the node root and remove the files of mount
 * commands. Before this, no process may use files below the node root any more. A failed unmount
 * fails the script, because no file below the mount may be removed then. */
void mount_release_steps(const struct node_rt *rt, struct script *sc, struct arena *a);

#endif
