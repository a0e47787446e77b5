/* SPDX-License-Identifier: MIT
 *
 * What the login service calls errors, where the token endpoint does not answer in OAuth's shape.
 */
#ifndef API_AAD_ERRORS_H
#define API_AAD_ERRORS_H

#include "api/http/error.h"

#define AAD_OWN(X) X(AAD_TOO_MANY_LOGINS, 429, "TooManyRequests", ADDS_TRY_AGAIN)
enum { ERROR_OWN_KINDS(AAD_KINDS, AAD_OWN) };

struct error_words aad_words(int kind);

#endif
