/* SPDX-License-Identifier: MIT
 *
 * Logins as two services: their routes, their errors and their structs. The login service has paths
 * and errors of Azure's directory and of OAuth; the paths and errors of sessions are those of
 * batchaid's own API (docs/admin-api.md).
 */
#include "api/http/auth.h"
#include "api/http/request.h"
#include "api/login/aad.h"
#include "api/login/errors.h"
#include "api/login/login.h"
#include "api/login/routes.h"

#define AAD_ERRORS(X) HTTP_ERRORS(X) NO_CORE_ERRORS(X)
static ERROR_TABLE(aad_words, AAD_ERRORS, AAD_OWN)

#define FORM_MAX (64 * 1024) /* a login takes some hundred bytes */

    /* {tenant} is "adfs"; some clients put it into the path twice. */
    static const struct route routes[] = {
        {"GET", "/{tenant}/.well-known/openid-configuration", 0, 0, openid_configuration,
         "OpenId_Get"},
        {"GET", "/{tenant}/v2.0/.well-known/openid-configuration", 0, 0, openid_configuration,
         "OpenId_GetV2"},
        {"GET", "/{authority}/{tenant}/.well-known/openid-configuration", 0, 0,
         openid_configuration, "OpenId_GetTenant"},
        {"GET", "/{authority}/{tenant}/v2.0/.well-known/openid-configuration", 0, 0,
         openid_configuration, "OpenId_GetTenantV2"},
        {"GET", "/adfs/discovery/keys", 0, 0, signing_keys, "OpenId_Keys"},
        {"POST", "/{tenant}/oauth2/token", 0, ROUTE_FORM, token_create, "Token_Create"},
        {"POST", "/{tenant}/oauth2/v2.0/token", 0, ROUTE_FORM, token_create, "Token_CreateV2"},
        {"POST", "/{authority}/{tenant}/oauth2/token", 0, ROUTE_FORM, token_create,
         "Token_CreateTenant"},
        {"POST", "/{authority}/{tenant}/oauth2/v2.0/token", 0, ROUTE_FORM, token_create,
         "Token_CreateTenantV2"},
        {"POST", "/{tenant}/oauth2/devicecode", 0, ROUTE_FORM, device_create, "Device_Create"},
        {"GET", "/adfs/oauth2/deviceauth", 0, 0, device_page, "Device_Page"},
        {"POST", "/adfs/oauth2/deviceauth", 0, ROUTE_FORM, device_confirm, "Device_Confirm"},
        {"GET", "/adfs/oauth2/authorize", 0, 0, authorize_page, "Authorize_Page"},
        {"POST", "/adfs/oauth2/authorize", 0, ROUTE_FORM, authorize_confirm, "Authorize_Confirm"},
};

static const char *const paths[] = {"/{tenant}/.well-known/{rest*}",
                                    "/{tenant}/oauth2/{rest*}",
                                    "/{tenant}/v2.0/.well-known/{rest*}",
                                    "/{authority}/{tenant}/.well-known/{rest*}",
                                    "/{authority}/{tenant}/v2.0/.well-known/{rest*}",
                                    "/{authority}/{tenant}/oauth2/{rest*}",
                                    "/adfs/{rest*}",
                                    NULL};

/* All bodies are forms. The error of a malformed form (ERR_INVALID_CONTENT) has the shape of OAuth,
 * as clients of the token endpoint expect. */
static struct replied *aad_error(struct request *r, struct error_words words, const struct err *e)
{
    if (e->code == ERR_INVALID_CONTENT)
        return oauth_error(r, words.status, "invalid_request", e->msg);
    return reply_json(r, words.status, error_body(words, e));
}

const struct service aad_service = {
    .name = "aad",
    .deps = "aad",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .body_max = FORM_MAX,
    .words = aad_words,
    .error = aad_error,
    /* hooks for tests do not see these requests: they contain passwords, and tests need logins
     * first */
    .unwatched = true,
};

/* --- sessions --------------------------------------------------------------------------------- */

#define SESSION_MAX (16 * 1024) /* a login takes some hundred bytes, a token some thousand */

static const struct route session_routes[] = {
    {"POST", "/batchaid/session", 0, ROUTE_OPEN | ROUTE_JSON, session_create, "Session_Create"},
    {"GET", "/batchaid/session", 0, 0, session_get, "Session_Get"},
    {"DELETE", "/batchaid/session", 0, 0, session_end, "Session_End"},
    {"POST", "/batchaid/session/renew", 0, 0, session_renew, "Session_Renew"},
    {"POST", "/batchaid/session/links", 0, ROUTE_JSON_OPTIONAL, session_link, "Session_Link"},
};

static const char *const session_paths[] = {"/batchaid/session", "/batchaid/session/{rest*}", NULL};

const struct service session_service = {
    .name = "session",
    .deps = "aad",
    .paths = session_paths,
    .routes = session_routes,
    .n_routes = sizeof session_routes / sizeof session_routes[0],
    .versions = VERSIONS_NONE,
    .may = auth_check,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = SESSION_MAX,
    .words = aad_words,
    /* hooks for tests do not see these requests, because they contain passwords */
    .unwatched = true,
};
