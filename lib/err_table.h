/* SPDX-License-Identifier: MIT
 *
 * Every error that can leave the daemon, once: X(symbol, HTTP status, code on the wire).
 * Only api/error.c reads the status and code columns; everybody else speaks of the symbol.
 * Codes are the real service's where it was seen to use one, ARM's otherwise.
 */
#ifndef LIB_ERR_TABLE_H
#define LIB_ERR_TABLE_H

#define ERR_TABLE(X)                                                                               \
    X(ERR_NONE, 200, "OK")                                                                         \
    /* The request itself. */                                                                      \
    X(ERR_BAD_REQUEST, 400, "BadRequest")                                                          \
    X(ERR_TOO_MANY_LOGINS, 429, "TooManyRequests")                                                 \
    X(ERR_INVALID_JSON, 400, "InvalidRequestContent")                                              \
    X(ERR_INVALID_PROPERTY, 400, "InvalidParameter")                                               \
    X(ERR_MISSING_PROPERTY, 400, "MissingRequiredProperty")                                        \
    X(ERR_INVALID_NAME, 400, "InvalidResourceName")                                                \
    X(ERR_INVALID_QUERY, 400, "InvalidQueryParameterValue")                                        \
    X(ERR_INVALID_PATH, 400, "InvalidPath")                                                        \
    X(ERR_MISSING_API_VERSION, 400, "MissingApiVersionParameter")                                  \
    X(ERR_UNKNOWN_API_VERSION, 400, "NoRegisteredProviderFound")                                   \
    X(ERR_NOT_ON_MOUNT_ROOT, 400, "OutputDirectoryNotOnMountRoot")                                 \
    X(ERR_NOT_SUPPORTED, 400, "FeatureNotSupported")                                               \
    X(ERR_BODY_TOO_LARGE, 413, "RequestEntityTooLarge")                                            \
    X(ERR_UNSUPPORTED_MEDIA, 415, "UnsupportedMediaType")                                          \
    X(ERR_METHOD_NOT_ALLOWED, 405, "MethodNotAllowed")                                             \
    X(ERR_ROUTE_NOT_FOUND, 404, "InvalidResourceType")                                             \
    /* Who asks. */                                                                                \
    X(ERR_NO_TOKEN, 401, "AuthenticationFailed")                                                   \
    X(ERR_INVALID_TOKEN, 401, "InvalidAuthenticationToken")                                        \
    X(ERR_EXPIRED_TOKEN, 401, "ExpiredAuthenticationToken")                                        \
    X(ERR_LINK_EXPIRED, 403, "AuthenticationFailed")                                               \
    /* What is not there. */                                                                       \
    X(ERR_SUBSCRIPTION_NOT_FOUND, 404, "SubscriptionNotFound")                                     \
    X(ERR_GROUP_NOT_FOUND, 404, "ResourceGroupNotFound")                                           \
    X(ERR_RESOURCE_NOT_FOUND, 404, "ResourceNotFound")                                             \
    X(ERR_WORKSPACE_NOT_FOUND, 404, "WorkspaceNotFound")                                           \
    X(ERR_EXPERIMENT_NOT_FOUND, 404, "ExperimentNotFound")                                         \
    X(ERR_CLUSTER_NOT_FOUND, 404, "ClusterNotFound")                                               \
    X(ERR_FILE_SERVER_NOT_FOUND, 404, "FileServerNotFound")                                        \
    X(ERR_JOB_NOT_FOUND, 404, "JobNotFound")                                                       \
    X(ERR_OPERATION_NOT_FOUND, 404, "OperationNotFound")                                           \
    X(ERR_OUTPUT_DIRECTORY_NOT_FOUND, 404, "OutputDirectoryNotFound")                              \
    X(ERR_FILE_NOT_FOUND, 404, "FileNotFound")                                                     \
    X(ERR_MACHINE_NOT_FOUND, 404, "MachineNotFound")                                               \
    X(ERR_PROVIDER_NOT_FOUND, 404, "InvalidResourceNamespace")                                     \
    /* What it collides with. */                                                                   \
    X(ERR_CONFLICT, 409, "Conflict")                                                               \
    X(ERR_IMMUTABLE_PROPERTY, 409, "PropertyChangeNotAllowed")                                     \
    X(ERR_BEING_DELETED, 409, "ResourceBeingDeleted")                                              \
    X(ERR_QUOTA, 409, "QuotaExceeded")                                                             \
    X(ERR_CLUSTER_QUOTA, 409, "ClusterQuotaReached")                                               \
    X(ERR_RANGE, 416, "InvalidRange")                                                              \
    /* Ours. */                                                                                    \
    X(ERR_INTERNAL, 500, "InternalServerError")                                                    \
    X(ERR_STORAGE, 500, "StorageFailure")                                                          \
    X(ERR_UNAVAILABLE, 503, "ServiceUnavailable")                                                  \
    /* Operational failures: they never answer a request, they land in errors[] and the log. */    \
    X(ERR_NODE, 500, "NodeFailure")                                                                \
    X(ERR_NODE_LOST, 500, "NodeLost")                                                              \
    X(ERR_PROTOCOL, 500, "NodeProtocolError")                                                      \
    X(ERR_IO, 500, "IoError")                                                                      \
    X(ERR_CONFIG, 500, "ConfigurationError")                                                       \
    X(ERR_ALREADY_RUNNING, 500, "StateDirectoryInUse")                                             \
    X(ERR_SCHEMA_TOO_NEW, 500, "DatabaseFromNewerVersion")

#endif
