/* SPDX-License-Identifier: MIT
 *
 * Groups that go at once: all names in one are free in the same transaction, in a few statements
 * however much it holds. What it held is ended and removed behind that, as after any deletion: by
 * whoever removes groups, accounts and shares, and by st_vault_expire(). Changes do not tell of it.
 */
#ifndef STORAGE_BURIAL_H
#define STORAGE_BURIAL_H

#include "storage/sql/burial.h"
#include "storage/storage.h"

#define GROUPS_BURIED "buried" /* no subscription's id */

/* Takes a group out of its subscription, and ends the deletions of what is in it, so that nobody
 * waits for the time that they are to take. It is in the state in which it was until all in it is
 * marked as being deleted. */
int st_group_bury(struct storage *, int64_t id, int64_t now_us, struct err *) MUST_CHECK;
/* Marks what is in buried groups, as st_mark_deleting() does: group after group, until `limit` rows
 * are written; *more: not all groups are marked. */
int st_buried_mark(struct storage *, int64_t now_us, int limit, bool *more,
                   struct err *) MUST_CHECK;
/* Role assignments at a scope, and below it. */
int st_roles_bury(struct storage *, const char *scope, struct err *) MUST_CHECK;

#endif
