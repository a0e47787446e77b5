/* SPDX-License-Identifier: MIT
 *
 * Azure Resource Manager as a service. It handles every path that belongs to no other service.
 */
#include <string.h>

#include "api/arm/arm.h"
#include "api/arm/errors.h"
#include "api/arm/kind.h"
#include "api/arm/limits.h"
#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "api/arm/routes.h"

#define SUB   "/subscriptions/{subscription}"
#define GROUP SUB "/resourceGroups/{group}"

ERROR_TABLE(arm_words, ARM_ERRORS, ARM_OWN)

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
    {"GET", SUB "/resourceGroups", 0, ROUTE_PARTIAL, rm_list, "ResourceGroups_List", &group_kind},
    {"PUT", GROUP, 0, ROUTE_JSON, rm_put, "ResourceGroups_CreateOrUpdate", &group_kind},
    {"PATCH", GROUP, 0, ROUTE_JSON, rm_patch, "ResourceGroups_Update", &group_kind},
    {"GET", GROUP, 0, 0, rm_get, "ResourceGroups_Get", &group_kind},
    {"HEAD", GROUP, 0, 0, groups_exists, "ResourceGroups_CheckExistence"},
    {"DELETE", GROUP, 0, 0, rm_delete, "ResourceGroups_Delete", &group_kind},
    {"GET", SUB "/resources", 0, ROUTE_PARTIAL, resources_list, "Resources_List"},
    {"GET", GROUP "/resources", 0, ROUTE_PARTIAL, resources_list_by_group,
     "Resources_ListByResourceGroup"},
    {"GET", SUB "/operationresults/{operation}", 0, ROUTE_PARTIAL, arm_operation_results,
     "Arm_OperationResults"},
};

/* Headers with the number of requests that remain before throttling. The number is constant,
 * because requests are not throttled here (except in strict mode: api/testing/). */
static const struct {
    const char *name, *value;
} remaining[ARM_COUNTERS] = {
    [ARM_READS] = {"x-ms-ratelimit-remaining-subscription-reads", "14999"},
    [ARM_WRITES] = {"x-ms-ratelimit-remaining-subscription-writes", "1199"},
    [ARM_DELETES] = {"x-ms-ratelimit-remaining-subscription-deletes", "14999"},
};

/* Which limit a request counts for. A POST that lists is a read; one that terminates is a write. */
enum arm_counter arm_counter(const struct request *r)
{
    if (strcmp(r->method, "DELETE") == 0)
        return ARM_DELETES;
    if (strcmp(r->method, "PUT") == 0 || strcmp(r->method, "PATCH") == 0)
        return ARM_WRITES;
    bool lists = r->route && strstr(r->route->operation_id, "List");
    return strcmp(r->method, "POST") == 0 && !lists ? ARM_WRITES : ARM_READS;
}

/* Adds the headers that Azure's service itself sends, but not those of its gateways.
 * Strict-Transport-Security is added only in strict mode, because after it a browser would refuse
 * plain http on every port of localhost. */
void arm_provider_headers(struct request *r)
{
    reply_header_text(r, "Server", "Microsoft-HTTPAPI/2.0");
    reply_header_text(r, "request-id", r->request_id);
    if (arm_is_strict(r))
        reply_header_text(r, "Strict-Transport-Security", "max-age=31536000; includeSubDomains");
    enum arm_counter counter = arm_counter(r);
    reply_header_text(r, remaining[counter].name, remaining[counter].value);
}

const struct service arm_service = {
    .name = "arm",
    .deps = "arm",
    .deps_begin_with_arm = true,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_ANY,
    .may = arm_may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = arm_words,
};
