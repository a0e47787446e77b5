/* SPDX-License-Identifier: MIT
 *
 * Refuses headers and parameters that the data planes do not serve, if a client that relies on them
 * would lose something. Accepts values that ask only for the behaviour that the daemon has anyway.
 * Ignores headers that no operation of the service knows. docs/storage.md has this list for users,
 * and a list of what is accepted without effect.
 */
#ifndef API_PLANE_STORAGE_ASKED_H
#define API_PLANE_STORAGE_ASKED_H

#include "api/http/request.h"

/* Call before a handler: AZSTORAGE_HEADER_UNSUPPORTED, AZSTORAGE_QUERY_UNSUPPORTED or
 * AZSTORAGE_SNAPSHOTS, with the name. */
int asked_check(struct request *r, struct err *e) MUST_CHECK;

/* For a request that fits no operation here: a sentence about the operation that its `comp` names;
 * NULL: no operation of the service has this `comp`. */
const char *asked_operation(struct request *r);

#endif
