/* SPDX-License-Identifier: MIT
 *
 * Operations of Microsoft.Storage that describe the provider: its operations, usages, and kinds of
 * accounts.
 */
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/storage_rm.h"
#include "storage/storage.h"

#define ACCOUNTS_LIMIT 250 /* the service's limit per region; shown, but not enforced here */

struct replied *storage_operations_list(struct request *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->service->n_routes; i++)
        json_array_append_new(
            list,
            json_pack("{s:o, s:{s:s, s:s, s:s}}", "name",
                      json_sprintf("Microsoft.Storage/%s", r->service->routes[i].operation_id),
                      "display", "provider", "Microsoft Storage", "resource", "Storage",
                      "operation", r->service->routes[i].operation_id));
    return reply_json(r, 200, json_pack("{s:o}", "value", list));
}

struct replied *storage_usages_list(struct request *r)
{
    struct err e;
    int64_t n;
    if (find_subscription(r, &e) < 0 ||
        st_account_count(arm_of(r)->storage, arm_subscription(r), &n, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200,
                      json_pack("{s:[{s:s, s:I, s:i, s:{s:s, s:s}}]}", "value", "unit", "Count",
                                "currentValue", (json_int_t)n, "limit", ACCOUNTS_LIMIT, "name",
                                "value", "StorageAccounts", "localizedValue", "Storage Accounts"));
}

static const struct {
    const char *name, *tier, *kind;
} skus[] = {
    {"Standard_LRS", "Standard", "StorageV2"},      {"Standard_GRS", "Standard", "StorageV2"},
    {"Standard_RAGRS", "Standard", "StorageV2"},    {"Standard_ZRS", "Standard", "StorageV2"},
    {"Premium_LRS", "Premium", "StorageV2"},        {"Standard_LRS", "Standard", "Storage"},
    {"Standard_LRS", "Standard", "BlobStorage"},    {"Premium_LRS", "Premium", "FileStorage"},
    {"Premium_LRS", "Premium", "BlockBlobStorage"},
};

struct replied *storage_skus_list(struct request *r)
{
    struct err e;
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof skus / sizeof skus[0]; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:[], s:[], s:[]}", "resourceType",
                            "storageAccounts", "name", skus[i].name, "tier", skus[i].tier, "kind",
                            skus[i].kind, "locations", "capabilities", "restrictions"));
    return reply_json(r, 200, json_pack("{s:o}", "value", list));
}
