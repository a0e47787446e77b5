/* SPDX-License-Identifier: MIT
 *
 * Refuses headers and parameters that the data planes do not serve, if a client that relies on them
 * would lose something. Accepts values that ask only for the behaviour that the daemon has anyway.
 * Ignores headers that no operation of the service knows.
 *
 * docs/storage.md has the same list for users, and a list of what is accepted without effect.
 */
#ifndef API_PLANE_STORAGE_ASKED_H
#define API_PLANE_STORAGE_ASKED_H

#include "api/http/request.h"

/* Call before a handler: AZSTORAGE_HEADER_UNSUPPORTED, AZSTORAGE_QUERY_UNSUPPORTED or
 * AZSTORAGE_SNAPSHOTS, with the name. */
int asked_check(struct request *r, struct err *e) MUST_CHECK;

/* Of a request for no operation here: what its `comp` would have been, as a sentence; NULL: no
 * operation of the service has it. */
const char *asked_operation(struct request *r);

#endif
