/* SPDX-License-Identifier: MIT
 *
 * Converts a struct err to an HTTP error. Each service has one table that maps kinds of errors to
 * its own codes, as lists of rows X(kind, status, code, adds):
 *
 *   #define NAME_ERRORS(X) HTTP_ERRORS(X) X(ERR_CONFLICT, 409, "Conflict", 0) ...
 *   #define NAME_OWN(X)    X(NAME_TOO_LONG, 400, "TooLong", 0) ...
 *   enum { ERROR_OWN_KINDS(name_kinds, NAME_OWN) };     if the service has its own kinds
 *   ERROR_TABLE(name_words, NAME_ERRORS, NAME_OWN)      or NO_OWN_ERRORS
 *
 * A table does not compile if a kind of err_table.h has no row (-Wswitch) or two rows.
 */
#ifndef API_HTTP_ERROR_H
#define API_HTTP_ERROR_H

#include <jansson.h>

#include "api/http/service.h"

/* Rows for requests that no service gets, for unreadable requests, and for internal failures.
 * Services that have the same codes use these rows, too. */
#define HTTP_ERRORS(X)                                                                             \
    X(ERR_BAD_REQUEST, 400, "BadRequest", 0)                                                       \
    X(ERR_INVALID_CONTENT, 400, "InvalidRequestContent", 0)                                        \
    X(ERR_INVALID_QUERY, 400, "InvalidQueryParameterValue", 0)                                     \
    X(ERR_INVALID_PATH, 400, "InvalidPath", 0)                                                     \
    X(ERR_MISSING_API_VERSION, 400, "MissingApiVersionParameter", ADDS_GATEWAY_CAUSE)              \
    X(ERR_UNKNOWN_API_VERSION, 400, "NoRegisteredProviderFound", ADDS_GATEWAY_CAUSE)               \
    X(ERR_BODY_TOO_LARGE, 413, "RequestEntityTooLarge", ADDS_GATEWAY_CAUSE)                        \
    X(ERR_UNSUPPORTED_MEDIA, 415, "UnsupportedMediaType", 0)                                       \
    X(ERR_METHOD_NOT_ALLOWED, 405, "MethodNotAllowed", ADDS_GATEWAY_CAUSE)                         \
    X(ERR_ROUTE_NOT_FOUND, 404, "InvalidResourceType", ADDS_GATEWAY_CAUSE)                         \
    X(ERR_NO_TOKEN, 401, "AuthenticationFailed", ADDS_LOG_IN | ADDS_GATEWAY_CAUSE)                 \
    X(ERR_INVALID_TOKEN, 401, "InvalidAuthenticationToken", ADDS_LOG_IN | ADDS_GATEWAY_CAUSE)      \
    X(ERR_EXPIRED_TOKEN, 401, "ExpiredAuthenticationToken", ADDS_LOG_IN | ADDS_GATEWAY_CAUSE)      \
    X(ERR_FORBIDDEN, 403, "AuthorizationFailed", ADDS_GATEWAY_CAUSE)                               \
    X(ERR_INTERNAL, 500, "InternalServerError", ADDS_SERVICE_CAUSE)                                \
    X(ERR_STORAGE, 500, "StorageFailure", ADDS_SERVICE_CAUSE)                                      \
    X(ERR_UNAVAILABLE, 503, "ServiceUnavailable", ADDS_TRY_AGAIN | ADDS_SERVICE_CAUSE)             \
    X(ERR_ENDED_DAEMON, 409, "DaemonEndedDuringRequest", 0)                                        \
    X(ERR_NODE, 500, "NodeFailure", ADDS_SERVICE_CAUSE)                                            \
    X(ERR_NODE_LOST, 500, "NodeLost", ADDS_SERVICE_CAUSE)                                          \
    X(ERR_PROTOCOL, 500, "NodeProtocolError", ADDS_SERVICE_CAUSE)                                  \
    X(ERR_IO, 500, "IoError", ADDS_SERVICE_CAUSE)                                                  \
    X(ERR_CONFIG, 500, "ConfigurationError", ADDS_SERVICE_CAUSE)                                   \
    X(ERR_ALREADY_RUNNING, 500, "StateDirectoryInUse", ADDS_SERVICE_CAUSE)                         \
    X(ERR_SCHEMA_TOO_NEW, 500, "DatabaseFromNewerVersion", ADDS_SERVICE_CAUSE)                     \
    X(ERR_SCHEMA_TOO_OLD, 500, "DatabaseFromOlderVersion", ADDS_SERVICE_CAUSE)

/* Rows of the daemon's internal failures, for a service that has one code for all of them. */
#define ERROR_FAULTS(X, code)                                                                      \
    X(ERR_INTERNAL, 500, code, 0)                                                                  \
    X(ERR_STORAGE, 500, code, 0)                                                                   \
    X(ERR_NODE, 500, code, 0)                                                                      \
    X(ERR_PROTOCOL, 500, code, 0)                                                                  \
    X(ERR_CONFIG, 500, code, 0)                                                                    \
    X(ERR_ALREADY_RUNNING, 500, code, 0)                                                           \
    X(ERR_SCHEMA_TOO_NEW, 500, code, 0)                                                            \
    X(ERR_SCHEMA_TOO_OLD, 500, code, 0)
/* Rows of missing resources, for a service that has one code for all of them. */
#define ERRORS_NOT_FOUND(X, code)                                                                  \
    X(ERR_GROUP_NOT_FOUND, 404, code, 0)                                                           \
    X(ERR_RESOURCE_NOT_FOUND, 404, code, 0)                                                        \
    X(ERR_WORKSPACE_NOT_FOUND, 404, code, 0)                                                       \
    X(ERR_EXPERIMENT_NOT_FOUND, 404, code, 0)                                                      \
    X(ERR_CLUSTER_NOT_FOUND, 404, code, 0)                                                         \
    X(ERR_FILE_SERVER_NOT_FOUND, 404, code, 0)                                                     \
    X(ERR_JOB_NOT_FOUND, 404, code, 0)                                                             \
    X(ERR_OUTPUT_DIRECTORY_NOT_FOUND, 404, code, 0)                                                \
    X(ERR_MACHINE_NOT_FOUND, 404, code, 0)

/* For a service in which these kinds of errors never occur: if one does, it is a bug and the reply
 * is 500. */
#define NO_CORE_ERRORS(X)     ERR_CORE_KINDS(ERROR_FAULT_ROW)
#define ERROR_FAULT_ROW(kind) ERROR_CASE(kind, 500, "InternalServerError", ADDS_SERVICE_CAUSE)

#define NO_OWN_ERRORS(X)

#define ERROR_CASE(kind, status, code, adds)                                                       \
    case kind:                                                                                     \
        return (struct error_words){status, code, adds};
#define ERROR_ROW(kind, status, code, adds)  {status, code, adds},
#define ERROR_KIND(kind, status, code, adds) kind,
#define ERROR_OWN_KINDS(first, LIST)         first = ERR_OWN - 1, LIST(ERROR_KIND)

#define ERROR_TABLE(name, LIST, OWN)                                                               \
    struct error_words name(int kind)                                                              \
    {                                                                                              \
        static const struct error_words own[] = {OWN(ERROR_ROW){0}};                               \
        if (kind >= ERR_OWN)                                                                       \
            return error_own(own, sizeof own / sizeof own[0] - 1, kind);                           \
        switch ((enum err_code)kind) {                                                             \
            LIST(ERROR_CASE)                                                                       \
        case ERR_NONE:                                                                             \
        case ERR_CODES:                                                                            \
            break;                                                                                 \
        }                                                                                          \
        return error_fault;                                                                        \
    }

extern const struct error_words error_fault; /* for a bug of the daemon */
struct error_words error_own(const struct error_words *own, size_t n, int kind);

/* The table for services without their own. */
struct error_words http_words(int kind);
/* The HTTP status and code of a kind of error in service `s` (NULL: no service was found). */
struct error_words error_words(const struct service *s, int kind);
/* {"error":{"code","message"[,"target"]}}; new reference. */
json_t *error_body(struct error_words words, const struct err *e);

#endif
