/* SPDX-License-Identifier: MIT
 *
 * The operations on a whole share or container that both planes have.
 */
#ifndef API_PLANE_STORAGE_PLANE_SHARES_H
#define API_PLANE_STORAGE_PLANE_SHARES_H

#include "api/plane/storage/data_plane.h"

/* Fails with ERR_INVALID_NAME if no share or container can have this name. */
int plane_check_name(const char *name, struct err *e) MUST_CHECK;
/* Fails with 404 unless the account has the share or container that the path names. Reads the row
 * again, because it may have changed since the access check. If another share has got the name
 * meanwhile, it counts as missing. */
int plane_share(struct request *r, struct err *e) MUST_CHECK;

/* Creates the share that the path names, with the request's metadata. `s`: the members that differ
 * between the planes. */
REPLIED plane_make_share(struct request *r, struct share *s);
/* Writes the row of the grant's share, which the caller has changed. */
REPLIED plane_update_share(struct request *r);
REPLIED plane_delete_share(struct request *r);
/* Carries out the request's lease action on the grant's share. */
REPLIED plane_lease_share(struct request *r);

#endif
