/* SPDX-License-Identifier: MIT
 *
 * Finds a vault, shows it, and stores a changed vault after checking whether the caller may grant
 * the access in it. The request owns all memory. Called only on the loop's thread.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/arm/keyvault/errors.h"
#include "api/arm/keyvault/vaults.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/schema.h"
#include "model/vault.h"
#include "storage/storage.h"

int find_vault(struct request *r, struct vault *v, struct err *e)
{
    struct resource_group g;
    const char *name = request_param(r, "vault");
    if (find_group(r, &g, e) < 0)
        return -1;
    int rc = st_vault_get(arm_of(r)->storage, &r->arena, name, v, e);
    if (rc < 0 || (rc > 0 && v->group_id == g.id))
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                   "The Resource 'Microsoft.KeyVault/vaults/%.100s' under resource group '%.100s' "
                   "was not found.",
                   name, g.name);
}

const char *vault_id(struct request *r, const struct vault *v)
{
    const struct scope scope = {.subscription = v->subscription, .group = v->group};
    return resource_id(&r->arena, "Microsoft.KeyVault", &scope, "vaults", v->name);
}

const char *vault_uri(struct request *r, const char *name)
{
    return arena_concat(&r->arena, "https://", arena_lower(&r->arena, name), ".",
                        request_suffix(r, "vault."), "/");
}

void vault_render(struct request *r, const struct vault *v, struct strbuf *out)
{
    char created[TIMEFMT_SIZE], changed[TIMEFMT_SIZE];
    timefmt_wire(v->created_us, created);
    timefmt_wire(v->updated_us, changed);
    int64_t made_us = v->created_us;
    bool goes_on = creation_look(r, v->subscription, PACE_VAULT_CREATION, &made_us);
    const char *state = goes_on ? "RegisteringDns" : "Succeeded";
    const struct over made[] = {SHOW_TEXT("createdBy", v->created_by),
                                SHOW_TEXT("createdAt", created),
                                SHOW_TEXT("lastModifiedAt", changed)};
    const struct over properties[] = {SHOW_TEXT("vaultUri", vault_uri(r, v->name)),
                                      SHOW_TEXT("provisioningState", state)};
    const struct over over[] = {SHOW_TEXT("id", vault_id(r, v)),
                                SHOW_TEXT("name", v->name),
                                SHOW_TEXT("type", "Microsoft.KeyVault/vaults"),
                                SHOW_TEXT("location", v->location),
                                SHOW_DOC("tags", v->tags),
                                SHOW_OBJECT("systemData", made),
                                SHOW_OBJECT("properties", properties)};
    schema_render(
        out, &(struct rendering){
                 .schema = &schema_vault, .version = V_ALL, .stored = v->doc, SHOW_LIST(over)});
}

struct replied *vault_show(struct request *r, const struct vault *v)
{
    struct strbuf out = STRBUF_INIT;
    vault_render(r, v, &out);
    return reply_json_text(r, 200, &out);
}

json_t *vault_properties(const struct vault *v)
{
    json_auto_t *doc = json_loads(v->doc, 0, NULL);
    json_t *properties = json_incref(json_object_get(doc, "properties"));
    return properties ? properties : json_object();
}

/* --- the right to grant access ---------------------------------------------------------------- */

/* The permissions on secrets in an access policy. Keys and certificates of vaults are not
 * supported. */
static const char *const secret_rights[] = {"get",    "list",    "set",     "delete",
                                            "backup", "restore", "recover", "purge"};

/* Whether the principal has the right. "all" includes every right. */
static bool holds(const json_t *properties, const char *object_id, const char *right)
{
    if (vault_policy_allows(properties, object_id, right))
        return true;
    bool all = strcasecmp(right, "all") == 0;
    for (size_t i = 0; all && i < sizeof secret_rights / sizeof *secret_rights; i++)
        all = vault_policy_allows(properties, object_id, secret_rights[i]);
    return all;
}

/* Whether a policy in `now` grants a principal a right that neither the principal nor `giver` has
 * in `was`. Entries for an application on behalf of a user (applicationId) grant nothing. */
static bool gives_more(const json_t *was, const json_t *now, const char *giver)
{
    const json_t *policy, *name;
    size_t i, k;
    json_array_foreach(json_object_get(now, "accessPolicies"), i, policy) {
        const char *to = json_string_value(json_object_get(policy, "objectId"));
        const json_t *list = json_object_get(json_object_get(policy, "permissions"), "secrets");
        bool counts = to && !json_object_get(policy, "applicationId");
        json_array_foreach(counts ? list : NULL, k, name) {
            const char *right = json_string_value(name);
            bool had =
                holds(was, to, right) || (!vault_uses_roles(was) && holds(was, giver, right));
            if (!had)
                return true;
        }
    }
    return false;
}

/* The right to change a vault gives no access to its secrets. So only a principal who may assign
 * roles may switch a vault between roles and policies, as in Azure. Three kinds of principals may
 * grant a policy: one who may assign roles; the vault's creator, because the creator could have
 * made the vault with that policy; and one who has the granted rights already.
 *
 * https://learn.microsoft.com/azure/key-vault/general/rbac-guide */
static int check_giving(struct request *r, const struct vault *v, const json_t *now, struct err *e)
{
    const json_t *was = request_own(r, vault_properties(v));
    const char *who = r->who->object_id;
    bool made = v->created_by && strcasecmp(v->created_by, who) == 0;
    bool asks =
        vault_uses_roles(was) != vault_uses_roles(now) || (!made && gives_more(was, now, who));
    if (!asks || r->seeds)
        return 0;
    return arm_check(r, "Microsoft.Authorization/roleAssignments/write", vault_id(r, v), e);
}

int vault_store(struct request *r, struct vault *v, const json_t *tags, json_t *properties,
                struct err *e)
{
    if (check_giving(r, v, properties, e) < 0)
        return -1;
    const json_t *doc = request_own(r, json_pack("{s:O}", "properties", properties));
    assert(doc);
    v->doc = request_own_text(r, jsontext(doc));
    v->tags = tags ? request_own_text(r, jsontext(tags)) : NULL;
    v->updated_us = r->now_us;
    return st_vault_update(arm_of(r)->storage, v->id, v->tags, v->doc, r->now_us, e);
}
