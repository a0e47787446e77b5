/* SPDX-License-Identifier: MIT
 *
 * The login service: its routes and its struct service.
 */
#include "api/http/request.h"
#include "api/login/aad.h"
#include "api/login/errors.h"
#include "api/login/routes.h"

#define FORM_MAX (64 * 1024) /* a login takes some hundred bytes */

/* {tenant} is "adfs"; some clients put it into the path twice. */
static const struct route routes[] = {
    {"GET", "/{tenant}/.well-known/openid-configuration", 0, 0, openid_configuration, "OpenId_Get"},
    {"GET", "/{tenant}/v2.0/.well-known/openid-configuration", 0, 0, openid_configuration,
     "OpenId_GetV2"},
    {"GET", "/{authority}/{tenant}/.well-known/openid-configuration", 0, 0, openid_configuration,
     "OpenId_GetTenant"},
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
