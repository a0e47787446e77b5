/* SPDX-License-Identifier: MIT
 *
 * Azure Resource Manager as a service. It answers for every path that no other service has.
 */
#include <string.h>

#include "api/arm/arm.h"
#include "api/arm/errors.h"
#include "api/arm/handlers.h"
#include "api/arm/may.h"

#define SUB   "/subscriptions/{subscription}"
#define GROUP SUB "/resourceGroups/{group}"

static const struct route routes[] = {
    {"GET", "/metadata/endpoints", 0, ROUTE_OPEN, metadata_endpoints, "Metadata_Get"},
    {"GET", "/tenants", 0, 0, tenants_list, "Tenants_List"},
    {"GET", "/subscriptions", 0, 0, subscriptions_list, "Subscriptions_List"},
    {"GET", SUB, 0, ROUTE_PARTIAL, subscriptions_get, "Subscriptions_Get"},
    {"GET", SUB "/locations", 0, ROUTE_PARTIAL, locations_list, "Subscriptions_ListLocations"},
    {"GET", SUB "/providers", 0, ROUTE_PARTIAL, providers_list, "Providers_List"},
    {"GET", SUB "/providers/{namespace}", 0, ROUTE_PARTIAL, providers_get, "Providers_Get"},
    {"POST", SUB "/providers/{namespace}/register", 0, ROUTE_PARTIAL, providers_register,
     "Providers_Register"},
    {"GET", SUB "/resourceGroups", 0, ROUTE_PARTIAL, groups_list, "ResourceGroups_List"},
    {"PUT", GROUP, 0, ROUTE_JSON, groups_create, "ResourceGroups_CreateOrUpdate"},
    {"PATCH", GROUP, 0, ROUTE_JSON, groups_update, "ResourceGroups_Update"},
    {"GET", GROUP, 0, 0, groups_get, "ResourceGroups_Get"},
    {"HEAD", GROUP, 0, 0, groups_exists, "ResourceGroups_CheckExistence"},
    {"DELETE", GROUP, 0, 0, groups_delete, "ResourceGroups_Delete"},
    {"GET", SUB "/resources", 0, ROUTE_PARTIAL, resources_list, "Resources_List"},
    {"GET", GROUP "/resources", 0, ROUTE_PARTIAL, resources_list_by_group,
     "Resources_ListByResourceGroup"},
    {"GET", SUB "/operationresults/{operation}", 0, ROUTE_PARTIAL, arm_operation_results,
     "Arm_OperationResults"},
};

/* Nothing is throttled here, so the remaining number never falls. */
static const struct {
    const char *method, *name, *value;
} remaining[] = {
    {"GET", "x-ms-ratelimit-remaining-subscription-reads", "14999"},
    {"HEAD", "x-ms-ratelimit-remaining-subscription-reads", "14999"},
    {"PUT", "x-ms-ratelimit-remaining-subscription-writes", "1199"},
    {"PATCH", "x-ms-ratelimit-remaining-subscription-writes", "1199"},
    {"DELETE", "x-ms-ratelimit-remaining-subscription-deletes", "14999"},
};

/* POST reads when it lists, and writes when it terminates. */
static const char *counted_method(const struct request *r)
{
    if (strcmp(r->method, "POST") != 0)
        return r->method;
    return strstr(r->route->operation_id, "List") ? "GET" : "PUT";
}

static void add_remaining(struct request *r)
{
    const char *method = counted_method(r);
    for (size_t i = 0; i < sizeof remaining / sizeof remaining[0]; i++)
        if (strcmp(remaining[i].method, method) == 0)
            reply_header_text(r, remaining[i].name, remaining[i].value);
}

/* Headers of the service itself, not of the gateways around it. A browser that saw
 * Strict-Transport-Security would refuse plain http on every port of localhost, so that header is
 * sent in strict mode only. */
void arm_provider_headers(struct request *r)
{
    reply_header_text(r, "Server", "Microsoft-HTTPAPI/2.0");
    reply_header_text(r, "request-id", r->request_id);
    if (arm_of(r)->strict)
        reply_header_text(r, "Strict-Transport-Security", "max-age=31536000; includeSubDomains");
    add_remaining(r);
}

const struct service arm_service = {
    .name = "arm",
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_ANY,
    .may = arm_may,
    .audiences = AUDIENCE_ARM,
    .body_max = REQUEST_BODY_MAX,
    .words = arm_words,
};
