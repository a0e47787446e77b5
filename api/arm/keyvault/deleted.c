/* SPDX-License-Identifier: MIT
 *
 * Soft-deleted vaults as a kind of resource (api/arm/kind.h): list, show, purge. A PUT of the vault
 * recovers it (vaults.c).
 */
#include <strings.h>

#include "api/arm/keyvault/errors.h"
#include "api/arm/keyvault/keyvault.h"
#include "api/arm/keyvault/routes.h"
#include "api/arm/keyvault/vaults.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "scheduler/front/batchai/batchai.h"
#include "storage/storage.h"

static bool is_protected(const struct vault *v)
{
    json_auto_t *properties = vault_properties(v);
    return json_is_true(json_object_get(properties, "enablePurgeProtection"));
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    const struct vault *v = row;
    char deleted[TIMEFMT_SIZE], purged[TIMEFMT_SIZE];
    timefmt_wire(v->deleted_us, deleted);
    timefmt_wire(v->purge_us, purged);
    json_t *properties =
        json_pack("{s:s, s:s, s:s, s:s, s:o*}", "vaultId", vault_id(r, v), "location", v->location,
                  "deletionDate", deleted, "scheduledPurgeDate", purged, "tags",
                  v->tags ? json_loads(v->tags, 0, NULL) : NULL);
    if (is_protected(v))
        json_object_set_new(properties, "purgeProtectionEnabled", json_true());
    json_auto_t *shown = json_pack(
        "{s:o, s:s, s:s, s:o}", "id",
        json_sprintf("/subscriptions/%s/providers/Microsoft.KeyVault/locations/%s/"
                     "deletedVaults/%s",
                     v->subscription, region_name(&r->arena, v->location), v->name),
        "name", v->name, "type", "Microsoft.KeyVault/deletedVaults", "properties", properties);
    jsontext_add(out, shown);
}

/* The path for the check of rights is the vault's own: principals who could see the vault may also
 * see the deleted vault. */
static const char *path(struct request *r, const void *row)
{
    return vault_id(r, row);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct vault_rows found = {NULL, 0};
    int rc =
        st_vault_list_deleted(arm_of(r)->storage, &r->arena, arm_subscription(r),
                              &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

/* Whether `v` is a soft-deleted vault of the subscription and location in the path. */
static bool is_here(struct request *r, const struct vault *v, const char *location)
{
    return v->group_id == 0 && strcasecmp(v->subscription, arm_subscription(r)) == 0 &&
           same_region(&r->arena, v->location, location);
}

static int find_deleted(struct request *r, struct vault *v, struct err *e)
{
    const char *name = request_param(r, "vault"), *location = request_param(r, "location");
    if (find_subscription(r, e) < 0)
        return -1;
    int rc = st_vault_get(arm_of(r)->storage, &r->arena, name, v, e);
    if (rc < 0 || (rc > 0 && is_here(r, v, location)))
        return rc < 0 ? -1 : 0;
    return err_set(e, KEYVAULT_DELETED_NOT_FOUND, NULL,
                   "The specified deleted vault '%.60s' does not exist in location '%.60s'.", name,
                   location);
}

static int find(struct rm *m, struct err *e)
{
    return find_deleted(m->r, m->row, e);
}

const struct rm_kind deleted_vault_kind = {
    .what = "deleted vault",
    .param = "vault",
    .columns = VAULT_COLUMNS,
    .find = find,
    .path = path,
    .render = render,
    .list = list,
};

/* --- purge ------------------------------------------------------------------------------------ */

struct purge_tx {
    struct request *r;
    const struct vault *vault;
    const char *guid; /* out */
};

static int purge_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct purge_tx *t = ctx;
    const struct vault *v = t->vault;
    const struct scope scope = {.subscription = v->subscription, .location = v->location};
    const struct op_request op = {.kind = RES_VAULT,
                                  .resource_id = v->id,
                                  .scope = &scope,
                                  .name = v->name,
                                  .is_delete = true,
                                  .done = true};
    return operation_start(t->r, &op, &t->guid, e) < 0 ? -1
                                                       : st_vault_purge(st, v->id, t->r->now_us, e);
}

/* Removes the vault at once, and its secrets later, a few at a time. As in the real service, the
 * reply is 202 with the URL of an operation, for which clients wait. */
struct replied *deleted_vaults_purge(struct request *r)
{
    struct err e;
    struct vault v;
    struct purge_tx t = {.r = r, .vault = &v};
    if (find_deleted(r, &v, &e) < 0)
        return reply_err(r, &e);
    if (is_protected(&v)) {
        err_set(&e, KEYVAULT_PURGE_PROTECTED, NULL,
                "The operation 'DeletedVaultPurge' is not allowed: the vault '%s' is protected "
                "from being purged.",
                v.name);
        return reply_err(r, &e);
    }
    if (st_tx(arm_of(r)->storage, "purge vault", purge_in_tx, &t, &e) < 0)
        return reply_err(r, &e);
    batchai_wake_remains(arm_of(r)->front);
    LOG_INFO(r->config->log, "vault.purged", LF_STR("vault", v.name), LF_STR("by", r->who->name));
    reply_header(r, "Location",
                 "%s/subscriptions/%s/providers/Microsoft.KeyVault/locations/%s/operationResults/%s"
                 "?api-version=%s",
                 request_base(r), arm_subscription(r), region_name(&r->arena, v.location), t.guid,
                 r->version_name);
    reply_retry_after(r);
    return reply_empty(r, 202);
}

struct replied *deleted_vaults_purged(struct request *r)
{
    struct err e;
    struct operation op = {0};
    const char *guid = request_param(r, "operation");
    int rc = operation_find(r, guid, &op, &e);
    if (rc == 0 && op.kind != RES_VAULT)
        rc = err_set(&e, ARM_OPERATION_NOT_FOUND, NULL, "The operation '%.100s' is not found.",
                     guid);
    return rc < 0 ? reply_err(r, &e) : reply_empty(r, 200);
}
