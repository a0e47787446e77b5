/* SPDX-License-Identifier: MIT
 *
 * Resource providers. All known providers are always registered. Scripts may register a provider
 * again: that succeeds and changes nothing.
 */
#include <strings.h>

#include "api/arm/errors.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/routes.h"

#define TYPES_MAX 12

struct type {
    const char *name;
    unsigned versions; /* enum api_version bits (Batch AI); 0: any */
};

static const struct arm_provider {
    const char *ns;
    struct type types[TYPES_MAX];
} providers[] = {
    {"Microsoft.BatchAI",
     {{"workspaces", V_2018_05_01},
      {"workspaces/clusters", V_2018_05_01},
      {"workspaces/fileservers", V_2018_05_01},
      {"workspaces/experiments", V_2018_05_01},
      {"workspaces/experiments/jobs", V_2018_05_01},
      {"clusters", V_FLAT},
      {"fileservers", V_FLAT},
      {"jobs", V_FLAT},
      {"locations/usages", V_2018_03_01 | V_2018_05_01},
      {"operations", V_ALL}}},
    {"Microsoft.Batch",
     {{"batchAccounts", 0},
      {"batchAccounts/pools", 0},
      {"batchAccounts/applications", 0},
      {"batchAccounts/detectors", 0},
      {"operations", 0},
      {"locations", 0},
      {"locations/quotas", 0},
      {"locations/checkNameAvailability", 0},
      {"locations/accountOperationResults", 0},
      {"locations/virtualMachineSkus", 0}}},
    {"Microsoft.KeyVault",
     {{"vaults", 0},
      {"vaults/secrets", 0},
      {"vaults/accessPolicies", 0},
      {"deletedVaults", 0},
      {"locations", 0},
      {"locations/deletedVaults", 0},
      {"checkNameAvailability", 0}}},
    {"Microsoft.Storage",
     {{"storageAccounts", 0},
      {"operations", 0},
      {"locations/asyncoperations", 0},
      {"checkNameAvailability", 0},
      {"usages", 0},
      {"locations", 0},
      {"locations/usages", 0},
      {"storageAccounts/blobServices", 0},
      {"storageAccounts/blobServices/containers", 0},
      {"storageAccounts/fileServices", 0},
      {"storageAccounts/fileServices/shares", 0}}},
    {"Microsoft.Resources", {{"resourceGroups", 0}, {"subscriptions", 0}, {"tenants", 0}}},
};

/* The api-versions of a type, the newest first, because clients use the first. */
static json_t *versions(const struct type *t)
{
    json_t *list = json_array();
    if (!t->versions)
        json_array_append_new(list, json_string("2021-04-01"));
    for (unsigned v = V_ALL + 1; v > 0; v >>= 1)
        if (t->versions & v)
            json_array_append_new(list, json_string(api_version_name((enum api_version)v)));
    return list;
}

static json_t *render(struct request *r, const struct arm_provider *p)
{
    json_t *types = json_array();
    for (int i = 0; i < TYPES_MAX && p->types[i].name; i++)
        json_array_append_new(types, json_pack("{s:s, s:[], s:o, s:s}", "resourceType",
                                               p->types[i].name, "locations", "apiVersions",
                                               versions(&p->types[i]), "capabilities", "None"));
    return json_pack("{s:o, s:s, s:o, s:s, s:s}", "id",
                     json_sprintf("/subscriptions/%s/providers/%s", arm_subscription(r), p->ns),
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
    err_set(&e, ARM_PROVIDER_NOT_FOUND, NULL,
            "The resource namespace '%.100s' is invalid: this cloud serves Microsoft.BatchAI.",
            name);
    return reply_err(r, &e);
}

struct replied *providers_register(struct request *r)
{
    return providers_get(r);
}
