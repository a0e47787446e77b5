/* SPDX-License-Identifier: MIT
 *
 * The errors of this service: XML and x-ms-error-code, as clients of the storage data plane expect.
 */
#ifndef API_AZSTORAGE_ERRORS_H
#define API_AZSTORAGE_ERRORS_H

#include "api/http/error.h"

#define AZSTORAGE_OWN(X)                                                                           \
    X(AZSTORAGE_LINK_EXPIRED, 403, "AuthenticationFailed", 0)                                      \
    X(AZSTORAGE_RANGE, 416, "InvalidRange", 0)                                                     \
    X(AZSTORAGE_AUTHENTICATION, 403, "AuthenticationFailed", 0)                                    \
    X(AZSTORAGE_AUTHORIZATION, 403, "AuthorizationFailure", 0)                                     \
    X(AZSTORAGE_SOURCE_ADDRESS, 403, "AuthorizationSourceIPMismatch", 0)                           \
    X(AZSTORAGE_PROTOCOL, 403, "AuthorizationProtocolMismatch", 0)                                 \
    X(AZSTORAGE_SERVICE, 403, "AuthorizationServiceMismatch", 0)                                   \
    X(AZSTORAGE_RESOURCE_TYPE, 403, "AuthorizationResourceTypeMismatch", 0)                        \
    X(AZSTORAGE_PERMISSION, 403, "AuthorizationPermissionMismatch", 0)
enum { ERROR_OWN_KINDS(AZSTORAGE_KINDS, AZSTORAGE_OWN) };

struct error_words azstorage_words(int kind);
struct replied *azstorage_error(struct request *r, struct error_words words, const struct err *e);

#endif
