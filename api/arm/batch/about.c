/* SPDX-License-Identifier: MIT
 *
 * General information of Microsoft.Batch: operations, quotas, and the sizes of virtual machines.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/arm/batch/account.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "scheduler/fleet/fleet.h"

struct replied *batchrm_operations_list(struct request *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->service->n_routes; i++) {
        const struct route *route = &r->service->routes[i];
        if (route->versions == 0 || (route->versions & r->version) == 0)
            continue;
        json_array_append_new(list,
                              json_pack("{s:o, s:{s:s, s:s, s:s}}", "name",
                                        json_sprintf("Microsoft.Batch/%s", route->operation_id),
                                        "display", "provider", "Microsoft Batch", "resource",
                                        "Batch Accounts", "operation", route->operation_id));
    }
    return reply_json(r, 200, json_pack("{s:o}", "value", list));
}

struct replied *batch_quotas_get(struct request *r)
{
    struct err e;
    return find_subscription(r, &e) < 0
               ? reply_err(r, &e)
               : reply_json(r, 200, json_pack("{s:i}", "accountQuota", BATCH_ACCOUNTS_MAX));
}

/* --- sizes ------------------------------------------------------------------------------------ */

/* Usual sizes, for clients that show a list of sizes. A pool may use any size that the site's
 * machines serve. */
static const struct size {
    const char *name, *family;
    int cores;
    double memory_gb;
} usual[] = {
    {"Standard_A1_v2", "standardAv2Family", 1, 2},
    {"Standard_A2_v2", "standardAv2Family", 2, 4},
    {"Standard_A4_v2", "standardAv2Family", 4, 8},
    {"Standard_A8_v2", "standardAv2Family", 8, 16},
    {"Standard_D1_v2", "standardDv2Family", 1, 3.5},
    {"Standard_D2_v2", "standardDv2Family", 2, 7},
    {"Standard_D3_v2", "standardDv2Family", 4, 14},
    {"Standard_D4_v2", "standardDv2Family", 8, 28},
    {"Standard_D5_v2", "standardDv2Family", 16, 56},
    {"Standard_D2s_v3", "standardDSv3Family", 2, 8},
    {"Standard_D4s_v3", "standardDSv3Family", 4, 16},
    {"Standard_D8s_v3", "standardDSv3Family", 8, 32},
    {"Standard_D16s_v3", "standardDSv3Family", 16, 64},
    {"Standard_E4s_v3", "standardESv3Family", 4, 32},
    {"Standard_E32_v3", "standardEv3Family", 32, 256},
    {"Standard_F4s_v2", "standardFSv2Family", 4, 8},
    {"Standard_F16s_v2", "standardFSv2Family", 16, 32},
    {"Standard_NC6", "standardNCFamily", 6, 56},
    {"Standard_NC12", "standardNCFamily", 12, 112},
    {"Standard_NC24", "standardNCFamily", 24, 224},
    {"Standard_NC6s_v3", "standardNCSv3Family", 6, 112},
    {"Standard_H16r", "standardHFamily", 16, 112},
};

static json_t *capability(const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%g", value);
    return json_pack("{s:s, s:s}", "name", name, "value", text);
}

static json_t *render(const struct size *s)
{
    json_t *able = json_array();
    if (s->cores) {
        json_array_append_new(able, capability("vCPUs", s->cores));
        json_array_append_new(able, capability("MemoryGB", s->memory_gb));
        json_array_append_new(able, capability("vCPUsAvailable", s->cores));
    }
    json_array_append_new(able,
                          json_pack("{s:s, s:s}", "name", "LowPriorityCapable", "value", "True"));
    return json_pack("{s:s, s:s?, s:o}", "name", s->name, "familyName", s->family, "capabilities",
                     able);
}

static bool listed(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcasecmp(json_string_value(json_object_get(json_array_get(list, i), "name")), name) ==
            0)
            return true;
    return false;
}

/* Adds the further sizes that the site has configured for its machines. */
static int add_site(struct request *r, json_t *list, struct err *e)
{
    struct machine_view *views;
    size_t n;
    if (fleet_machines(arm_of(r)->fleet, &r->arena, &views, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        for (const char *const *s = views[i].vm_sizes; s && *s; s++)
            if (!listed(list, *s))
                json_array_append_new(list, render(&(struct size){.name = *s}));
    return 0;
}

struct replied *batch_sizes_list(struct request *r)
{
    struct err e;
    json_t *list = request_own(r, json_array());
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        json_array_append_new(list, render(&usual[i]));
    if (find_subscription(r, &e) < 0 || add_site(r, list, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:O}", "value", list));
}

/* Replies with an empty list, because pools here have no cloud services. */
struct replied *batch_cloud_service_sizes_list(struct request *r)
{
    struct err e;
    return find_subscription(r, &e) < 0 ? reply_err(r, &e)
                                        : reply_json(r, 200, json_pack("{s:[]}", "value"));
}
