/* SPDX-License-Identifier: MIT
 *
 * Immediate deletion of groups (detachment): all names in a group become free in one transaction,
 * in a few statements, however many resources it has. Its resources are ended and removed
 * afterwards, as after any deletion: by the code that removes groups, accounts and shares, and by
 * st_vault_expire(). The log of changes (changes.h) does not report a detachment.
 */
#ifndef STORAGE_DETACHMENT_H
#define STORAGE_DETACHMENT_H

#include "storage/sql/detachment.h"
#include "storage/storage.h"

/* Stands for the subscription's id in the rows of detached groups. It is stored in databases, so
 * this text must never change. */
#define GROUPS_DETACHED "buried"

/* Removes a group from its subscription, and ends strict mode's delays of deletions in it. The
 * group keeps its state until all of its resources are marked as deleting. */
int st_group_detach(struct storage *, int64_t id, int64_t now_us, struct err *) MUST_CHECK;
/* Marks the resources of detached groups, as st_mark_deleting() does: group after group, until
 * `limit` rows are written; *more: not all groups are marked. */
int st_detached_mark(struct storage *, int64_t now_us, int limit, bool *more,
                     struct err *) MUST_CHECK;
/* Removes role assignments at a scope, and below it. */
int st_roles_detach(struct storage *, const char *scope, struct err *) MUST_CHECK;

#endif
