/* SPDX-License-Identifier: MIT
 *
 * Finds a Batch account by the path, and shows it as JSON with its quotas. The request owns all
 * memory. Called only on the loop's thread.
 */
#include "api/arm/batch/account.h"
#include "api/arm/operation.h"

#include <string.h>
#include <strings.h>

#include "api/arm/batch/errors.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "model/batch/rm.h"
#include "scheduler/front/batch/batch.h"
#include "storage/storage.h"

/* Quotas that are shown, because clients check them. The cores are limited only by the machines. */
#define CORE_QUOTA 100000
#define POOL_QUOTA 100000
#define JOB_QUOTA  1000000

int find_batch_account(struct request *r, struct batch_account *b, struct err *e)
{
    struct resource_group g;
    const char *name = request_param(r, "account");
    if (find_group(r, &g, e) < 0)
        return -1;
    int rc = st_batch_account_by_name(arm_of(r)->storage, &r->arena, name, b, e);
    if (rc < 0)
        return -1;
    if (rc > 0 && b->group_id == g.id && b->prov_state != PROV_DELETING)
        return 0;
    return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                   "The Resource 'Microsoft.Batch/batchAccounts/%.100s' under resource group '%s' "
                   "was not found.",
                   name, g.name);
}

int find_made_batch_account(struct request *r, struct batch_account *b, struct err *e)
{
    if (find_batch_account(r, b, e) < 0)
        return -1;
    int64_t made_us = b->created_us;
    if (!creation_look(r, b->scope.subscription, PACE_BATCH_CREATION, &made_us))
        return 0;
    return err_set(e, BATCHRM_STATE, NULL,
                   "The Batch account %s is being created; wait until its provisioningState is "
                   "Succeeded.",
                   b->name);
}

const char *batch_account_id(struct request *r, const struct batch_account *b)
{
    return resource_id(&r->arena, "Microsoft.Batch", &b->scope, "batchAccounts", b->name);
}

const char *batch_account_endpoint(struct request *r, const struct batch_account *b)
{
    return arena_concat(&r->arena, b->name, ".", region_name(&r->arena, b->scope.location), ".",
                        request_suffix(r, "batch."));
}

json_t *batch_account_doc(const struct batch_account *b)
{
    json_auto_t *stored = json_loads(b->doc, 0, NULL);
    json_t *doc = json_is_object(stored) ? json_incref(stored) : json_object();
    if (!json_is_object(json_object_get(doc, "properties")))
        json_object_set_new(doc, "properties", json_object());
    return doc;
}

/* --- showing one ------------------------------------------------------------------------------ */

/* The default properties of an account in the real service. */
static json_t *usual(void)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:[s, s, s]}", "poolAllocationMode", "BatchService",
                     "publicNetworkAccess", "Enabled", "encryption", "keySource", "Microsoft.Batch",
                     "allowedAuthenticationModes", "SharedKey", "AAD", "TaskAuthenticationToken");
}

static int quota(int64_t set, int shown)
{
    return set > 0 ? (int)set : shown;
}

static json_t *rendered_properties(struct request *r, const struct batch_account *b)
{
    const struct batch_quotas *q = &batchrm_of(r)->front->quotas;
    json_auto_t *doc = batch_account_doc(b);
    json_t *p = json_incref(json_object_get(doc, "properties"));
    json_auto_t *missing = usual();
    json_auto_t *own =
        json_pack("{s:s, s:s, s:i, s:[], s:b, s:i, s:i, s:i, s:[]}", "accountEndpoint",
                  batch_account_endpoint(r, b), "provisioningState",
                  account_provisioning(r, &b->scope, PACE_BATCH_CREATION, b->created_us),
                  "dedicatedCoreQuota", CORE_QUOTA, "dedicatedCoreQuotaPerVMFamily",
                  "dedicatedCoreQuotaPerVMFamilyEnforced", 0, "lowPriorityCoreQuota", CORE_QUOTA,
                  "poolQuota", quota(q->pools, POOL_QUOTA), "activeJobAndJobScheduleQuota",
                  quota(q->jobs, JOB_QUOTA), "privateEndpointConnections");
    json_object_update(p, own);
    json_object_update_missing(p, missing);
    return p;
}

void batch_account_render(struct request *r, const struct batch_account *b, struct strbuf *out)
{
    json_auto_t *over = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:{s:s}}", "id", batch_account_id(r, b), "name", b->name, "type",
        "Microsoft.Batch/batchAccounts", "location", region_name(&r->arena, b->scope.location),
        "properties", rendered_properties(r, b), "identity", "type", "None");
    json_t *tags = b->tags ? json_loads(b->tags, 0, NULL) : NULL;
    json_object_set_new(over, "tags", tags ? tags : json_object());
    schema_render_tree(out, &schema_batch_account, r->version, over);
}

void batch_account_headers(struct request *r, const struct batch_account *b)
{
    reply_header(r, "ETag", "\"0x%llX\"", (unsigned long long)time_to_ticks(b->updated_us));
}

struct replied *batch_account_show(struct request *r, int status, const struct batch_account *b)
{
    struct strbuf out = STRBUF_INIT;
    batch_account_headers(r, b);
    batch_account_render(r, b, &out);
    return reply_json_text(r, status, &out);
}

/* --- auto-storage ----------------------------------------------------------------------------- */

static json_t *auto_storage_of(const json_t *doc)
{
    return json_object_get(json_object_get(doc, "properties"), "autoStorage");
}

static const char *last_segment(const char *id)
{
    const char *slash = strrchr(id, '/');
    return slash ? slash + 1 : id;
}

static const char *storage_account_id(struct request *r, const struct storage_account *s)
{
    return resource_id(&r->arena, "Microsoft.Storage", &s->scope, "storageAccounts", s->name);
}

static const char *auto_storage_id(const json_t *doc)
{
    return json_string_value(json_object_get(auto_storage_of(doc), "storageAccountId"));
}

int find_auto_storage(struct request *r, const json_t *doc, struct storage_account *s,
                      struct err *e)
{
    const char *id = auto_storage_id(doc);
    if (!id)
        return err_set(e, BATCHRM_NO_AUTO_STORAGE, NULL,
                       "The Batch account has no auto-storage account; set one first.");
    int rc = st_account_by_name(arm_of(r)->storage, &r->arena, last_segment(id), s, e);
    if (rc < 0)
        return -1;
    if (rc > 0 && s->prov_state != PROV_DELETING && strcasecmp(storage_account_id(r, s), id) == 0)
        return 0;
    return err_set(e, BATCHRM_NO_STORAGE_ACCOUNT, "properties.autoStorage.storageAccountId",
                   "There is no storage account '%.300s'; auto-storage must be a storage account "
                   "of this cloud.",
                   id);
}

int take_auto_storage(struct request *r, json_t *doc, struct err *e)
{
    char now[TIMEFMT_SIZE];
    struct storage_account s = {0};
    json_t *set = auto_storage_of(doc);
    if (set && json_object_size(set) == 0)
        json_object_del(json_object_get(doc, "properties"), "autoStorage");
    set = auto_storage_of(doc);
    if (!set)
        return 0;
    /* Check the right before the account: so the reply does not show whether it exists. */
    const char *id = auto_storage_id(doc);
    if ((id &&
         arm_check_linked(r, "Microsoft.Storage/storageAccounts/listKeys/action", id, e) < 0) ||
        find_auto_storage(r, doc, &s, e) < 0)
        return -1;
    timefmt_wire(r->now_us, now);
    json_object_set_new(set, "lastKeySync", json_string(now));
    json_object_set_new(set, "storageAccountId", json_string(storage_account_id(r, &s)));
    return 0;
}
