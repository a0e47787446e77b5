/* SPDX-License-Identifier: MIT */
#include "api/plane/secret/secret_errors.h"

#include <string.h>
#include <strings.h>

#include "api/http/request.h"
#include "lib/jsontext.h"

#define SECRET_ERRORS(X)                                                                           \
    X(ERR_BAD_REQUEST, 400, "BadParameter", 0)                                                     \
    X(ERR_INVALID_CONTENT, 400, "BadParameter", 0)                                                 \
    X(ERR_INVALID_QUERY, 400, "BadParameter", 0)                                                   \
    X(ERR_INVALID_PATH, 400, "BadParameter", 0)                                                    \
    X(ERR_MISSING_API_VERSION, 400, "BadParameter", 0)                                             \
    X(ERR_UNKNOWN_API_VERSION, 400, "BadParameter", 0)                                             \
    X(ERR_BODY_TOO_LARGE, 413, "RequestEntityTooLarge", 0)                                         \
    X(ERR_UNSUPPORTED_MEDIA, 415, "UnsupportedMediaType", 0)                                       \
    X(ERR_METHOD_NOT_ALLOWED, 405, "MethodNotAllowed", 0)                                          \
    X(ERR_ROUTE_NOT_FOUND, 404, "NotFound", 0)                                                     \
    X(ERR_NO_TOKEN, 401, "Unauthorized", ADDS_LOG_IN)                                              \
    X(ERR_INVALID_TOKEN, 401, "Unauthorized", ADDS_LOG_IN)                                         \
    X(ERR_EXPIRED_TOKEN, 401, "Unauthorized", ADDS_LOG_IN)                                         \
    X(ERR_FORBIDDEN, 403, "Forbidden", 0)                                                          \
    ERROR_FAULTS(X, "InternalError")                                                               \
    X(ERR_UNAVAILABLE, 503, "ServiceUnavailable", ADDS_TRY_AGAIN)                                  \
    X(ERR_ENDED_DAEMON, 409, "DaemonEndedDuringRequest", 0)                                        \
    X(ERR_NODE_LOST, 500, "InternalError", 0)                                                      \
    X(ERR_IO, 500, "InternalError", 0)                                                             \
    NO_CORE_ERRORS(X)

ERROR_TABLE(secret_words, SECRET_ERRORS, SECRET_OWN)

static const struct {
    int kind;
    const char *code;
} inner[] = {{SECRET_NO_POLICY, "AccessDenied"},
             {SECRET_NO_ROLE, "ForbiddenByRbac"},
             {SECRET_DISABLED, "SecretDisabled"},
             {SECRET_IS_DELETED, "ObjectIsDeletedButRecoverable"}};

/* Kinds of objects that Azure's vaults have, but vaults of this daemon have not. */
static const struct {
    const char *path, *what;
} unserved[] = {{"/keys", "keys"},
                {"/deletedkeys", "keys"},
                {"/certificates", "certificates"},
                {"/deletedcertificates", "certificates"},
                {"/storage", "keys of storage accounts"},
                {"/deletedstorage", "keys of storage accounts"},
                {"/rng", "random numbers"}};

/* Whether the path names such a kind. The error then names the kind, instead of "not found". */
static bool is_unserved(const struct request *r, const char **what)
{
    for (size_t i = 0; i < sizeof unserved / sizeof *unserved; i++) {
        size_t n = strlen(unserved[i].path);
        if (strncasecmp(r->path, unserved[i].path, n) != 0 || !strchr("/?", r->path[n]))
            continue;
        *what = unserved[i].what;
        return true;
    }
    return false;
}

struct replied *secret_error(struct request *r, struct error_words words, const struct err *e)
{
    const char *what;
    if (e->code == ERR_ROUTE_NOT_FOUND && is_unserved(r, &what))
        return reply_json(
            r, 501,
            json_pack("{s:{s:s, s:o}}", "error", "code", "NotImplemented", "message",
                      json_sprintf("batchaid serves the secrets of vaults, not %s.", what)));
    json_t *o = json_pack("{s:s, s:o}", "code", words.code, "message", jsontext_string(e->msg));
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++)
        if (inner[i].kind == e->code)
            json_object_set_new(o, "innererror", json_pack("{s:s}", "code", inner[i].code));
    return reply_json(r, words.status, json_pack("{s:o}", "error", o));
}
