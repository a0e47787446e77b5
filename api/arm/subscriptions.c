/* SPDX-License-Identifier: MIT
 *
 * Tenants, subscriptions and locations. There is one tenant; the subscriptions are the configured
 * ones and those that were added (api/admin/subscriptions.c). Any location is valid; clients offer
 * the listed ones for completion.
 */
#include "api/access/access.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/arm/routes.h"
#include "storage/storage.h"

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
                      json_pack("{s:[{s:s, s:s, s:s}]}", "value", "id", "/tenants/" TENANT_ID,
                                "tenantId", TENANT_ID, "displayName", "batchaid"));
}

static json_t *subscription(struct request *r, const struct subscription *s)
{
    const char *name = s->name ? s->name : arm_of(r)->subscription_name;
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:s}", "id",
                     json_sprintf("/subscriptions/%s", s->guid), "authorizationSource", "RoleBased",
                     "subscriptionId", s->guid, "tenantId", TENANT_ID, "displayName", name,
                     "subscriptionPolicies", "locationPlacementId", "Internal_2014-09-01",
                     "quotaId", "Internal_2014-09-01", "spendingLimit", "Off", "state", "Enabled");
}

/* Adds the subscription if the principal has a role in it. */
static void add_visible(struct request *r, const struct grants *g, const struct subscription *s,
                        json_t *value)
{
    const char *scope = arena_concat(&r->arena, "/subscriptions/", s->guid);
    if (r->who->first || access_any_below(g, scope))
        json_array_append_new(value, subscription(r, s));
}

struct replied *subscriptions_list(struct request *r)
{
    struct err e;
    struct grants g = {0};
    struct subscription *rows;
    size_t n;
    const struct access *x = arm_of(r)->access;
    const struct subscription own = {.guid = x->subscription_id};
    if ((!r->who->first && access_load(x, &r->arena, r->who, &g, &e) < 0) ||
        st_subscription_list(arm_of(r)->storage, &r->arena, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    json_t *value = json_array();
    add_visible(r, &g, &own, value);
    for (size_t i = 0; i < n; i++)
        add_visible(r, &g, &rows[i], value);
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}

struct replied *subscriptions_get(struct request *r)
{
    struct err e;
    struct subscription s;
    const char *id = request_param(r, "subscription");
    if (find_subscription(r, &e) < 0 ||
        access_subscription(arm_of(r)->access, &r->arena, id, &s, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, subscription(r, &s));
}

struct replied *locations_list(struct request *r)
{
    struct err e;
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    json_t *value = json_array();
    for (size_t i = 0; i < sizeof locations / sizeof locations[0]; i++)
        json_array_append_new(value, json_pack("{s:o, s:s, s:s, s:s, s:{s:s}}", "id",
                                               json_sprintf("/subscriptions/%s/locations/%s",
                                                            arm_subscription(r), locations[i].name),
                                               "name", locations[i].name, "displayName",
                                               locations[i].display, "regionalDisplayName",
                                               locations[i].display, "metadata", "regionType",
                                               "Physical"));
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}
