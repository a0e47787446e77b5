/* SPDX-License-Identifier: MIT
 *
 * A group goes at once: all names in it are free in the same transaction, those of
 * accounts too, and what it holds is ended and removed behind that, as after any deletion. Folders
 * of storage accounts are called as their accounts, so they are renamed with them; if the
 * transaction is lost, they get their names back.
 */
#ifndef API_TESTING_SEED_DETACH_GROUP_H
#define API_TESTING_SEED_DETACH_GROUP_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

struct storage;

struct burial {
    struct storage *st;
    struct arena *a;         /* outlives it */
    const char *storage_dir; /* of the folders of accounts */
    int64_t now_us;
    int64_t vaults_after; /* deleted vaults up to this id are somebody else's */
    struct renamed {
        const char *from, *to;
        struct renamed *next;
    } * renamed; /* so far, the last first */
};

/* Inside a transaction. Without the roles at it and the vaults deleted in it, for whoever removes
 * all of these in its subscription; and with them. */
int bury_group(struct burial *b, const struct resource_group *g, struct err *e) MUST_CHECK;
int bury_group_alone(struct burial *b, const struct resource_group *g, struct err *e) MUST_CHECK;
/* Vaults that were deleted in a group, which may be gone itself; NULL: in all of a subscription. */
int bury_deleted(struct burial *b, const char *subscription, const char *group,
                 struct err *e) MUST_CHECK;
/* The transaction was taken back. */
void bury_undo(struct burial *b);

#endif
