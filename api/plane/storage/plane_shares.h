/* SPDX-License-Identifier: MIT
 *
 * The operations on a whole share or container that are alike in both planes.
 */
#ifndef API_PLANE_STORAGE_PLANE_SHARES_H
#define API_PLANE_STORAGE_PLANE_SHARES_H

#include "api/plane/storage/data_plane.h"

/* ERR_INVALID_NAME: no share or container can be made with this name. */
int plane_check_name(const char *name, struct err *e) MUST_CHECK;
/* 404 unless the account has the share or container that the path names. Reads its row again,
 * because it may have changed since the head came; if another share got the name meanwhile, it is
 * not the request's. */
int plane_share(struct request *r, struct err *e) MUST_CHECK;

/* Makes the share of the path, with the metadata of the request. `s`: the members that differ
 * between the planes. */
REPLIED plane_make_share(struct request *r, struct share *s);
/* Writes the changed row of the grant's share. */
REPLIED plane_update_share(struct request *r);
REPLIED plane_delete_share(struct request *r);
/* Acts on the lease of the grant's share as the request says. */
REPLIED plane_lease_share(struct request *r);

#endif
