/* SPDX-License-Identifier: MIT
 *
 * Tenants, subscriptions and locations: one tenant, one subscription, any location. The locations
 * listed are those that clients offer for completion; resources may name others.
 */
#include "api/arm/handlers.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"

#define TENANT "adfs" /* the only kind of authority that MSAL trusts offline */

static const struct {
    const char *name, *display;
} locations[] = {{"local", "Local"},
                 {"eastus", "East US"},
                 {"eastus2", "East US 2"},
                 {"westus", "West US"},
                 {"westus2", "West US 2"},
                 {"southcentralus", "South Central US"},
                 {"northeurope", "North Europe"},
                 {"westeurope", "West Europe"},
                 {"southeastasia", "Southeast Asia"},
                 {"australiaeast", "Australia East"}};

struct replied *tenants_list(struct request *r)
{
    return reply_json(r, 200,
                      json_pack("{s:[{s:s, s:s, s:s}]}", "value", "id", "/tenants/" TENANT,
                                "tenantId", TENANT, "displayName", "batchaid"));
}

static json_t *subscription(struct request *r)
{
    const char *id = arm_of(r)->subscription_id;
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:s}", "id",
                     json_sprintf("/subscriptions/%s", id), "authorizationSource", "RoleBased",
                     "subscriptionId", id, "tenantId", TENANT, "displayName",
                     arm_of(r)->subscription_name, "subscriptionPolicies", "locationPlacementId",
                     "Internal_2014-09-01", "quotaId", "Internal_2014-09-01", "spendingLimit",
                     "Off", "state", "Enabled");
}

struct replied *subscriptions_list(struct request *r)
{
    struct err e;
    int rc = arm_has_role(r, &e);
    if (rc < 0)
        return reply_err(r, &e);
    json_t *value = json_array();
    if (rc > 0)
        json_array_append_new(value, subscription(r));
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}

struct replied *subscriptions_get(struct request *r)
{
    struct err e;
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, subscription(r));
}

struct replied *locations_list(struct request *r)
{
    struct err e;
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    json_t *value = json_array();
    for (size_t i = 0; i < sizeof locations / sizeof locations[0]; i++)
        json_array_append_new(
            value, json_pack("{s:o, s:s, s:s, s:s, s:{s:s}}", "id",
                             json_sprintf("/subscriptions/%s/locations/%s",
                                          arm_of(r)->subscription_id, locations[i].name),
                             "name", locations[i].name, "displayName", locations[i].display,
                             "regionalDisplayName", locations[i].display, "metadata", "regionType",
                             "Physical"));
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}
