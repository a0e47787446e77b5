/* SPDX-License-Identifier: MIT
 *
 * What roles let people do with an account's data, for those who have no request at hand.
 */
#ifndef API_PLANE_STORAGE_ROLES_H
#define API_PLANE_STORAGE_ROLES_H

#include "api/access/access.h"
#include "model/resource.h"

/* 1: a role of theirs lets them read what is in a share or container; 0: none does; -1. */
int roles_read(const struct access *x, struct arena *a, const struct principal *who,
               const struct storage_account *account, enum share_kind kind, const char *share,
               struct err *e) MUST_CHECK;

#endif
