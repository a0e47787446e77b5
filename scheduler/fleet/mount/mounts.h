/* SPDX-License-Identifier: MIT
 *
 * Volumes as steps of a script: mounts a list of them on one node, and unmounts them. plan.h
 * decides what is done for which volume.
 */
#ifndef SCHEDULER_FLEET_MOUNT_MOUNTS_H
#define SCHEDULER_FLEET_MOUNT_MOUNTS_H

#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/mount/plan.h"
#include "scheduler/fleet/script/script.h"

struct mount_secret; /* a text with a key in it, made here */

/* Volumes of a pool, or of a run, on one node. Texts are borrowed. */
struct node_mounts {
    const struct node_rt *rt;
    struct arena *a; /* borrowed: the script's */
    struct script *script;
    const char *mount_root; /* where the volumes are mounted, below the node root */
    const char *owner; /* "node", or the run and its attempt: names a folder for keys and logs */
    const char *task_prefix;       /* begins the ids of their commands */
    struct mount_secret **secrets; /* the owner of the arena calls mounts_wipe() at the end */
};

/* True: nothing may mount a file server of the list yet: it is exported again for the first time
 * since the daemon started, and its export may be gone; or a test wants its creation to take a
 * while. When that is over, or has failed, (kind, id) is woken, and has to ask again. Call it
 * before the script with the mounts is begun. */
bool mounts_await(const struct node_rt *rt, const struct mount_list *list,
                  const struct wake_kind *kind, int64_t id);
/* Opens the volumes that are folders of the daemon's to runs with accounts of their own, even if
 * the node was prepared before such accounts were in use. */
void mounts_open_shares(const struct node_mounts *m, const struct mount_list *list);
/* The folders of the daemon's that these volumes are on a local node; `reach` has room for one
 * each. Returns how many. */
size_t mounts_folders(const struct node_rt *rt, struct arena *a, const struct mount_list *list,
                      const char **reach);
/* Adds the steps that mount `list`, in its order. False: a volume cannot be mounted (*why); the
 * script must not be run. */
bool mounts_add(const struct node_mounts *m, const struct mount_list *list, struct failure *why);
/* Adds the steps that unmount them, the last first. No failure of these ends the script. */
void mounts_remove(const struct node_mounts *m, const struct mount_list *list);
/* Overwrites the texts with keys that mounts_add() made. */
void mounts_wipe(struct mount_secret *secrets);

/* Adds the steps that unmount everything below the node root and remove what mounting left behind.
 * Nothing may run there any more. A failed unmount fails the script, because nothing below the
 * mount may be removed then. */
void mount_release_steps(const struct node_rt *rt, struct script *sc, struct arena *a);

#endif
