/* SPDX-License-Identifier: MIT
 *
 * Resource providers. All that are known are registered: registering one again, as scripts do
 * first, succeeds.
 */
#include <strings.h>

#include "api/arm/handlers.h"
#include "api/lookup.h"
#include "api/router.h"

#define TYPES_MAX 8

static const struct provider {
    const char *ns;
    bool batchai; /* its api-versions are the route table's */
    const char *types[TYPES_MAX];
} providers[] = {
    {"Microsoft.BatchAI",
     true,
     {"workspaces", "workspaces/clusters", "workspaces/fileservers", "workspaces/experiments",
      "workspaces/experiments/jobs", "locations/usages", "operations"}},
    {"Microsoft.Batch", false, {"operations"}},
    {"Microsoft.Resources", false, {"resourceGroups", "subscriptions", "tenants"}},
};

static json_t *versions(const struct provider *p)
{
    json_t *list = json_array();
    if (!p->batchai) {
        json_array_append_new(list, json_string("2021-04-01"));
        return list;
    }
    for (unsigned v = V_ALL + 1; v > 0; v >>= 1)
        if (router_versions() & v)
            json_array_append_new(list, json_string(api_version_name((enum api_version)v)));
    return list;
}

static json_t *render(struct request *r, const struct provider *p)
{
    json_t *types = json_array();
    for (int i = 0; i < TYPES_MAX && p->types[i]; i++)
        json_array_append_new(types, json_pack("{s:s, s:[], s:o, s:s}", "resourceType", p->types[i],
                                               "locations", "apiVersions", versions(p),
                                               "capabilities", "None"));
    return json_pack(
        "{s:o, s:s, s:o, s:s, s:s}", "id",
        json_sprintf("/subscriptions/%s/providers/%s", r->config->subscription_id, p->ns),
        "namespace", p->ns, "resourceTypes", types, "registrationState", "Registered",
        "registrationPolicy", "RegistrationRequired");
}

struct replied *providers_list(struct request *r)
{
    struct err e;
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    json_t *value = json_array();
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++)
        json_array_append_new(value, render(r, &providers[i]));
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}

struct replied *providers_get(struct request *r)
{
    struct err e;
    const char *name = request_param(r, "namespace");
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++)
        if (strcasecmp(providers[i].ns, name) == 0)
            return reply_json(r, 200, render(r, &providers[i]));
    err_set(&e, ERR_PROVIDER_NOT_FOUND, NULL,
            "The resource namespace '%.100s' is invalid: this cloud serves Microsoft.BatchAI.",
            name);
    return reply_err(r, &e);
}

struct replied *providers_register(struct request *r)
{
    return providers_get(r);
}
