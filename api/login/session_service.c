/* SPDX-License-Identifier: MIT
 *
 * Sessions as a service: its routes and its struct service. Its paths and its errors are those of
 * batchaid's own API (docs/admin-api.md), not of Azure.
 */
#include "api/http/auth.h"
#include "api/http/request.h"
#include "api/login/aad.h"
#include "api/login/errors.h"
#include "api/login/routes.h"

#define BODY_MAX (16 * 1024) /* a login takes some hundred bytes, a token some thousand */

static const struct route routes[] = {
    {"POST", "/batchaid/session", 0, ROUTE_OPEN | ROUTE_JSON, session_create, "Session_Create"},
    {"GET", "/batchaid/session", 0, 0, session_get, "Session_Get"},
    {"DELETE", "/batchaid/session", 0, 0, session_end, "Session_End"},
    {"POST", "/batchaid/session/renew", 0, 0, session_renew, "Session_Renew"},
    {"POST", "/batchaid/session/links", 0, ROUTE_JSON_OPTIONAL, session_link, "Session_Link"},
};

static const char *const paths[] = {"/batchaid/session", "/batchaid/session/{rest*}", NULL};

const struct service session_service = {
    .name = "session",
    .deps = "aad",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = auth_check,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = BODY_MAX,
    .words = aad_words,
    /* hooks for tests do not see these requests, because they contain passwords */
    .unwatched = true,
};
