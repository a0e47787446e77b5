/* SPDX-License-Identifier: MIT
 *
 * The error codes of the hosts of vaults. Some errors have an inner code, which distinguishes
 * errors that share a code.
 */
#ifndef API_PLANE_SECRET_SECRET_ERRORS_H
#define API_PLANE_SECRET_SECRET_ERRORS_H

#include "api/http/error.h"

#define SECRET_OWN(X)                                                                              \
    X(SECRET_BAD_PARAMETER, 400, "BadParameter", 0)                                                \
    X(SECRET_NO_VAULT, 404, "VaultNotFound", 0)                                                    \
    X(SECRET_NOT_FOUND, 404, "SecretNotFound", 0)                                                  \
    X(SECRET_NO_CONTACTS, 404, "ContactsNotFound", 0)                                              \
    X(SECRET_NO_POLICY, 403, "Forbidden", 0)                                                       \
    X(SECRET_NO_ROLE, 403, "Forbidden", 0)                                                         \
    X(SECRET_DISABLED, 403, "Forbidden", 0)                                                        \
    X(SECRET_PURGE_PROTECTED, 403, "Forbidden", 0)                                                 \
    X(SECRET_IS_DELETED, 409, "Conflict", 0)                                                       \
    X(SECRET_IS_THERE, 409, "Conflict", 0)
enum { ERROR_OWN_KINDS(SECRET_KINDS, SECRET_OWN) };

struct error_words secret_words(int kind);
/* {"error": {"code", "message", "innererror"}} */
struct replied *secret_error(struct request *r, struct error_words words, const struct err *e);

#endif
