/* SPDX-License-Identifier: MIT
 *
 * The error codes of Microsoft.Storage: the codes that all providers behind Azure Resource Manager
 * have, and some of its own.
 */
#ifndef API_ARM_STORAGE_ERRORS_H
#define API_ARM_STORAGE_ERRORS_H

#include "api/arm/errors.h"

#define STORAGE_RM_OWN(X)                                                                          \
    X(STORAGE_RM_INVALID_NAME, 400, "AccountNameInvalid", 0)                                       \
    X(STORAGE_RM_TAKEN, 409, "StorageAccountAlreadyTaken", 0)                                      \
    X(STORAGE_RM_EXISTS, 409, "StorageAccountAlreadyExists", 0)                                    \
    X(STORAGE_RM_OTHER_LOCATION, 409, "InvalidResourceLocation", 0)                                \
    X(STORAGE_RM_NO_PUBLIC_ACCESS, 409, "PublicAccessNotPermitted", 0)                             \
    X(STORAGE_RM_SHARE_NOT_FOUND, 404, "ShareNotFound", 0)                                         \
    X(STORAGE_RM_CONTAINER_NOT_FOUND, 404, "ContainerNotFound", 0)                                 \
    X(STORAGE_RM_NOT_MADE, 409, "StorageAccountIsNotProvisioned", 0)                               \
    X(STORAGE_RM_BUSY, 409, "StorageAccountOperationInProgress", 0)                                \
    X(STORAGE_RM_LEASED, 409, "LeaseAlreadyPresent", 0)
enum { STORAGE_RM_KINDS = ARM_KINDS_END - 1, STORAGE_RM_OWN(ERROR_KIND) };

struct error_words storage_rm_words(int kind);

#endif
