/* SPDX-License-Identifier: MIT
 *
 * The site's own part of the API: its routes and its struct service.
 */
#include "api/admin/admin.h"
#include "api/admin/handlers.h"
#include "api/http/auth.h"

#define NODE "/batchaid/nodes/{node}"

static const struct route routes[] = {
    {"GET", "/batchaid/nodes", 0, 0, nodes_list, "Nodes_List"},
    {"GET", NODE, 0, 0, nodes_get, "Nodes_Get"},
    {"POST", NODE "/drain", 0, ROUTE_JSON_OPTIONAL, nodes_drain, "Nodes_Drain"},
    {"POST", NODE "/undrain", 0, 0, nodes_undrain, "Nodes_Undrain"},
    {"POST", NODE "/reboot", 0, 0, nodes_reboot, "Nodes_Reboot"},
    {"GET", "/batchaid/counters", 0, 0, counters_get, "Counters_Get"},
    {"GET", "/batchaid/ca.pem", 0, ROUTE_OPEN, authority_get, "Authority_Get"},
    {"GET", "/batchaid/events", 0, 0, events_list, "Events_List"},
};

static const char *const paths[] = {"/batchaid/{rest*}", NULL};

const struct service admin_service = {
    .name = "admin",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = auth_check,
    .audiences = AUDIENCE_ARM,
    .body_max = REQUEST_BODY_MAX,
    .words = admin_words,
};
