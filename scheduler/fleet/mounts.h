/* SPDX-License-Identifier: MIT
 *
 * Volumes as steps of a script: mounting a list of them on one node, and taking them away. What is
 * done for which volume is mount_plan.h's to say.
 */
#ifndef SCHEDULER_FLEET_MOUNTS_H
#define SCHEDULER_FLEET_MOUNTS_H

#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/mount_plan.h"
#include "scheduler/fleet/script.h"

struct mount_secret; /* a text made here that holds a key */

/* Volumes of a cluster, or of a job, on one node. Texts are borrowed. */
struct mounts {
    const struct node_rt *rt;
    struct arena *a; /* borrowed: the script's */
    struct script *script;
    const char *mount_root; /* where they go, below the node root */
    const char *owner; /* "node", or the job and its attempt: names a folder for keys and logs */
    const char *task_prefix;       /* of the ids of their commands */
    struct mount_secret **secrets; /* those who hold the arena end with mounts_wipe() */
};

/* Opens those that are folders of the daemon's to jobs with accounts of their own, also where the
 * node was prepared before there were any. */
void mounts_open_shares(const struct mounts *m, const struct mount_list *list);
/* Adds the steps that mount `list`, in its order. False: one of them cannot be mounted, for *why;
 * the script is not to be run. */
bool mounts_add(const struct mounts *m, const struct mount_list *list, struct failure *why);
/* Adds the steps that take them away, the last first; none of them ends the script. */
void mounts_remove(const struct mounts *m, const struct mount_list *list);
/* Overwrites what mounts_add() made of keys. */
void mounts_wipe(struct mount_secret *secrets);

/* Adds the steps that take away whatever is mounted below the node root, and what mounting left
 * behind. Nothing may run there any more. What cannot be unmounted fails the script: nothing below
 * it may then be removed. */
void mount_release_steps(const struct node_rt *rt, struct script *sc, struct arena *a);

#endif
