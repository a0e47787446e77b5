/* SPDX-License-Identifier: MIT
 *
 * The error codes of the token endpoint (codes of OAuth) and of sessions (codes of batchaid).
 */
#ifndef API_LOGIN_ERRORS_H
#define API_LOGIN_ERRORS_H

#include "api/http/error.h"

#define AAD_OWN(X)                                                                                 \
    X(AAD_TOO_MANY_LOGINS, 429, "TooManyRequests", ADDS_TRY_AGAIN)                                 \
    X(AAD_WRONG_LOGIN, 401, "InvalidLogin", 0)                                                     \
    X(AAD_BAD_LOGIN, 400, "InvalidParameter", 0)
enum { ERROR_OWN_KINDS(AAD_KINDS, AAD_OWN) };

#endif
