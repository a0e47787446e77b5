/* SPDX-License-Identifier: MIT
 *
 * The error codes of Azure Resource Manager and of the providers behind it.
 */
#ifndef API_ARM_ERRORS_H
#define API_ARM_ERRORS_H

#include "api/http/error.h"

/* The codes of the real service, as far as they were observed. */
#define ARM_ERRORS(X)                                                                              \
    HTTP_ERRORS(X)                                                                                 \
    X(ERR_INVALID_PROPERTY, 400, "InvalidParameter", 0)                                            \
    X(ERR_MISSING_PROPERTY, 400, "MissingRequiredProperty", 0)                                     \
    X(ERR_INVALID_NAME, 400, "InvalidResourceName", 0)                                             \
    X(ERR_NOT_ON_MOUNT_ROOT, 400, "OutputDirectoryNotOnMountRoot", 0)                              \
    X(ERR_NOT_SUPPORTED, 400, "FeatureNotSupported", 0)                                            \
    X(ERR_GROUP_NOT_FOUND, 404, "ResourceGroupNotFound", ADDS_GATEWAY_CAUSE)                       \
    X(ERR_RESOURCE_NOT_FOUND, 404, "ResourceNotFound", ADDS_GATEWAY_CAUSE)                         \
    X(ERR_WORKSPACE_NOT_FOUND, 404, "WorkspaceNotFound", 0)                                        \
    X(ERR_EXPERIMENT_NOT_FOUND, 404, "ExperimentNotFound", 0)                                      \
    X(ERR_CLUSTER_NOT_FOUND, 404, "ClusterNotFound", 0)                                            \
    X(ERR_FILE_SERVER_NOT_FOUND, 404, "FileServerNotFound", 0)                                     \
    X(ERR_JOB_NOT_FOUND, 404, "JobNotFound", 0)                                                    \
    X(ERR_OUTPUT_DIRECTORY_NOT_FOUND, 404, "OutputDirectoryNotFound", 0)                           \
    X(ERR_FILE_NOT_FOUND, 404, "FileNotFound", 0)                                                  \
    X(ERR_MACHINE_NOT_FOUND, 404, "MachineNotFound", 0)                                            \
    X(ERR_CONFLICT, 409, "Conflict", 0)                                                            \
    X(ERR_BEING_DELETED, 409, "ResourceBeingDeleted", 0)                                           \
    X(ERR_QUOTA, 409, "QuotaExceeded", 0)

/* Errors of ARM itself. The numbers of a provider's own errors follow after these. */
#define ARM_OWN(X)                                                                                 \
    X(ARM_SUBSCRIPTION_NOT_FOUND, 404, "SubscriptionNotFound", ADDS_GATEWAY_CAUSE)                 \
    X(ARM_PROVIDER_NOT_FOUND, 404, "InvalidResourceNamespace", ADDS_GATEWAY_CAUSE)                 \
    X(ARM_GROUP_BEING_DELETED, 409, "ResourceGroupBeingDeleted", ADDS_GATEWAY_CAUSE)               \
    X(ARM_OPERATION_NOT_FOUND, 404, "OperationNotFound", 0)                                        \
    X(ARM_LINKED_FORBIDDEN, 403, "LinkedAuthorizationFailed", ADDS_GATEWAY_CAUSE)
enum { ERROR_OWN_KINDS(ARM_KINDS, ARM_OWN) ARM_KINDS_END };

struct error_words arm_words(int kind);

#endif
