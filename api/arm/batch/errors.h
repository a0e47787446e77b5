/* SPDX-License-Identifier: MIT
 *
 * The error codes of Microsoft.Batch: the codes that all providers behind Azure Resource Manager
 * have, some with other names, and some of its own.
 */
#ifndef API_ARM_BATCH_ERRORS_H
#define API_ARM_BATCH_ERRORS_H

#include "api/arm/errors.h"
#include "api/http/request.h"

#define BATCHRM_OWN(X)                                                                             \
    X(BATCHRM_TAKEN, 409, "AccountAlreadyExists", 0)                                               \
    X(BATCHRM_OTHER_LOCATION, 409, "InvalidResourceLocation", 0)                                   \
    X(BATCHRM_QUOTA, 409, "SubscriptionQuotaExceeded", 0)                                          \
    X(BATCHRM_NO_AUTO_STORAGE, 409, "AutoStorageNotConfigured", 0)                                 \
    X(BATCHRM_NO_STORAGE_ACCOUNT, 400, "AutoStorageAccountNotFound", 0)                            \
    X(BATCHRM_APPLICATION_NOT_FOUND, 404, "ApplicationNotFound", 0)                                \
    X(BATCHRM_PACKAGE_NOT_FOUND, 404, "ApplicationPackageNotFound", 0)                             \
    X(BATCHRM_PACKAGES_NOT_EMPTY, 409, "ApplicationPackagesNotEmpty", 0)                           \
    X(BATCHRM_NO_UPDATES, 409, "ApplicationPackageUpdateNotAllowed", 0)                            \
    X(BATCHRM_NOT_ACTIVE, 409, "RequestedDefaultVersionNotActive", 0)                              \
    X(BATCHRM_NO_BLOB, 409, "ApplicationPackageBlobNotFound", 0)                                   \
    X(BATCHRM_TOO_MANY, 409, "ApplicationQuotaReached", 0)                                         \
    X(BATCHRM_KEYS_OFF, 409, "SharedKeyAuthenticationDisabled", 0)                                 \
    X(BATCHRM_POOL_NOT_FOUND, 404, "PoolNotFound", 0)                                              \
    X(BATCHRM_POOL_DELETING, 409, "PoolBeingDeleted", 0)                                           \
    X(BATCHRM_POOL_RESIZING, 409, "PoolBeingResized", 0)                                           \
    X(BATCHRM_CERTIFICATE_NOT_FOUND, 404, "CertificateNotFound", 0)                                \
    X(BATCHRM_CERTIFICATE_IN_USE, 409, "CertificateInUse", 0)                                      \
    X(BATCHRM_PACKAGE_REFERENCES, 409, "InvalidApplicationPackageReferences", 0)                   \
    X(BATCHRM_POOL_QUOTA, 409, "PoolQuotaReached", 0)                                              \
    X(BATCHRM_STATE, 409, "OperationInvalidForCurrentState", 0)                                    \
    X(BATCHRM_FIXED, 400, "PropertyCannotBeUpdated", 0)                                            \
    X(BATCHRM_FORMULA, 400, "AutoScalingFormulaSyntaxError", 0)                                    \
    X(BATCHRM_FORMULA_TOO_LONG, 400, "AutoScalingFormulaTooLong", 0)                               \
    X(BATCHRM_CONDITION, 412, "ConditionNotMet", 0)                                                \
    X(BATCHRM_INVALID_BODY, 400, "InvalidRequestBody", 0)                                          \
    X(BATCHRM_INVALID_VALUE, 400, "InvalidPropertyValue", 0)
enum { BATCHRM_KINDS = ARM_KINDS_END - 1, BATCHRM_OWN(ERROR_KIND) };

#endif
