/* SPDX-License-Identifier: MIT
 *
 * Refuses headers and parameters that the data planes do not serve, if a client that relies on them
 * would lose something. Accepts values that ask for what the daemon does anyway. Ignores headers
 * that no operation of Azure Storage has. docs/storage.md lists for users what is refused, and what
 * is accepted without effect.
 */
#ifndef API_PLANE_STORAGE_ASKED_H
#define API_PLANE_STORAGE_ASKED_H

#include "api/http/request.h"

/* Call before a handler. Fails with AZSTORAGE_HEADER_UNSUPPORTED, AZSTORAGE_QUERY_UNSUPPORTED or
 * AZSTORAGE_SNAPSHOTS; the error names the header or parameter. */
int asked_check(struct request *r, struct err *e) MUST_CHECK;

/* For a request that no route serves: a sentence about the operation of Azure Storage that its
 * `comp` names; NULL: no operation has this `comp`. */
const char *asked_operation(struct request *r);

#endif
