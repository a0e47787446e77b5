/* SPDX-License-Identifier: MIT
 *
 * Detaches a group at once: one transaction frees all names in the group, including those of
 * accounts. As after any deletion, its resources are stopped and removed later. The folders of
 * storage accounts have the names of their accounts, so they are renamed too; if the transaction
 * fails, they get their old names back.
 */
#ifndef API_TESTING_SEED_DETACH_GROUP_H
#define API_TESTING_SEED_DETACH_GROUP_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

struct storage;

struct detachment {
    struct storage *st;
    struct arena *a;         /* must exist longer than the detachment */
    const char *storage_dir; /* the directory with the folders of accounts */
    int64_t now_us;
    /* deleted vaults with ids up to this existed before the seed, so they stay */
    int64_t vaults_after;
    struct renamed {
        const char *from, *to;
        struct renamed *next;
    } * renamed; /* the renames that were done, the last one first */
};

/* Detach a group, inside a transaction. detach_group() leaves its roles and deleted vaults, for a
 * caller that removes those of the whole subscription; detach_group_alone() removes them too. */
int detach_group(struct detachment *b, const struct resource_group *g, struct err *e) MUST_CHECK;
int detach_group_alone(struct detachment *b, const struct resource_group *g,
                       struct err *e) MUST_CHECK;
/* Detaches the deleted vaults of a group, which may be deleted itself; `group` NULL: those of the
 * whole subscription. */
int detach_deleted(struct detachment *b, const char *subscription, const char *group,
                   struct err *e) MUST_CHECK;
/* Call when the transaction was rolled back: gives the folders their old names back. */
void detach_undo(struct detachment *b);

#endif
