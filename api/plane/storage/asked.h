/* SPDX-License-Identifier: MIT
 *
 * What requests ask for and the data planes do not serve: headers and parameters of the service's
 * operations that would be a loss to whoever relies on them, if they were passed over. A value that
 * asks for what is done anyway is taken. What no operation of the service knows is ignored.
 *
 * docs/storage.md has the same list for people, and that of what is taken without effect.
 */
#ifndef API_PLANE_STORAGE_ASKED_H
#define API_PLANE_STORAGE_ASKED_H

#include "api/http/request.h"

/* Before a handler: AZSTORAGE_HEADER_UNSUPPORTED, AZSTORAGE_QUERY_UNSUPPORTED or
 * AZSTORAGE_SNAPSHOTS, with the name. */
int asked_check(struct request *r, struct err *e) MUST_CHECK;

#endif
