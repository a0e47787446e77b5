/* SPDX-License-Identifier: MIT
 *
 * The error codes of batchaid's own operations: the resource manager's codes, because the clients
 * are the same, and a few more.
 */
#ifndef API_ADMIN_ERRORS_H
#define API_ADMIN_ERRORS_H

#include "api/arm/errors.h"

#define ADMIN_OWN(X)                                                                               \
    X(ADMIN_UPGRADE_REQUIRED, 426, "UpgradeRequired", 0)                                           \
    X(ADMIN_TOO_MANY_STREAMS, 429, "TooManyStreams", ADDS_TRY_AGAIN)
enum { ERROR_OWN_KINDS(ADMIN_KINDS, ADMIN_OWN) };

#endif
