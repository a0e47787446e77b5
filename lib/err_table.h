/* SPDX-License-Identifier: MIT
 *
 * The list of all kinds of errors that rooms raise. The service that the client uses chooses the
 * status and code of the reply for each kind (api/NAME/errors.c). Kinds that only one service has
 * are not here; their numbers begin at ERR_OWN.
 */
#ifndef LIB_ERR_TABLE_H
#define LIB_ERR_TABLE_H

#define ERR_TABLE(X)                                                                               \
    X(ERR_NONE)                                                                                    \
    ERR_REQUEST_KINDS(X)                                                                           \
    ERR_CORE_KINDS(X)                                                                              \
    ERR_FAULT_KINDS(X)

/* The request, or its sender, is the cause. Code that reads requests raises these errors. */
#define ERR_REQUEST_KINDS(X)                                                                       \
    X(ERR_BAD_REQUEST)                                                                             \
    X(ERR_INVALID_CONTENT) /* the body does not match its type: not JSON, not a form, not XML */   \
    X(ERR_INVALID_QUERY)                                                                           \
    X(ERR_INVALID_PATH)                                                                            \
    X(ERR_MISSING_API_VERSION)                                                                     \
    X(ERR_UNKNOWN_API_VERSION)                                                                     \
    X(ERR_BODY_TOO_LARGE)                                                                          \
    X(ERR_UNSUPPORTED_MEDIA)                                                                       \
    X(ERR_METHOD_NOT_ALLOWED)                                                                      \
    X(ERR_ROUTE_NOT_FOUND)                                                                         \
    X(ERR_NO_TOKEN)                                                                                \
    X(ERR_INVALID_TOKEN)                                                                           \
    X(ERR_EXPIRED_TOKEN)                                                                           \
    X(ERR_FORBIDDEN) /* the caller is authenticated, but has no permission */

/* The requested operation is not possible. Model, storage, scheduler and services raise these
 * errors. */
#define ERR_CORE_KINDS(X)                                                                          \
    X(ERR_INVALID_PROPERTY)                                                                        \
    X(ERR_MISSING_PROPERTY)                                                                        \
    X(ERR_INVALID_NAME)                                                                            \
    X(ERR_NOT_ON_MOUNT_ROOT)                                                                       \
    X(ERR_NOT_SUPPORTED)                                                                           \
    X(ERR_GROUP_NOT_FOUND)                                                                         \
    X(ERR_RESOURCE_NOT_FOUND)                                                                      \
    X(ERR_WORKSPACE_NOT_FOUND)                                                                     \
    X(ERR_EXPERIMENT_NOT_FOUND)                                                                    \
    X(ERR_CLUSTER_NOT_FOUND)                                                                       \
    X(ERR_FILE_SERVER_NOT_FOUND)                                                                   \
    X(ERR_JOB_NOT_FOUND)                                                                           \
    X(ERR_OUTPUT_DIRECTORY_NOT_FOUND)                                                              \
    X(ERR_FILE_NOT_FOUND)                                                                          \
    X(ERR_MACHINE_NOT_FOUND)                                                                       \
    X(ERR_CONFLICT)                                                                                \
    X(ERR_BEING_DELETED)                                                                           \
    X(ERR_QUOTA)

/* Neither the request nor its sender is the cause. */
#define ERR_FAULT_KINDS(X)                                                                         \
    X(ERR_INTERNAL)                                                                                \
    X(ERR_STORAGE)                                                                                 \
    X(ERR_UNAVAILABLE)  /* not now; perhaps in a moment */                                         \
    X(ERR_ENDED_DAEMON) /* this work has crashed the daemon before, and is not started again */    \
    X(ERR_NODE)                                                                                    \
    X(ERR_NODE_LOST)                                                                               \
    X(ERR_PROTOCOL)                                                                                \
    X(ERR_IO)                                                                                      \
    X(ERR_CONFIG)                                                                                  \
    X(ERR_ALREADY_RUNNING)                                                                         \
    X(ERR_SCHEMA_TOO_NEW)                                                                          \
    X(ERR_SCHEMA_TOO_OLD)

#endif
