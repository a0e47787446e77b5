/* SPDX-License-Identifier: MIT
 *
 * Finds a storage account by the path, and shows it from its row and the properties that every
 * account has. The request owns all memory. Called only on the loop's thread.
 */
#include "api/arm/storage/account.h"

#include <string.h>
#include <strings.h>

#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "api/arm/storage/errors.h"
#include "storage/storage.h"

int find_account(struct request *r, struct storage_account *s, struct err *e)
{
    struct resource_group g;
    const char *name = request_param(r, "account");
    if (find_group(r, &g, e) < 0)
        return -1;
    int rc = st_account_by_name(arm_of(r)->storage, &r->arena, name, s, e);
    if (rc < 0)
        return -1;
    if (rc > 0 && s->group_id == g.id && s->prov_state != PROV_DELETING)
        return 0;
    return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                   "The Resource 'Microsoft.Storage/storageAccounts/%.100s' under resource group "
                   "'%s' was not found.",
                   name, g.name);
}

static bool is_being_made(const struct request *r, const struct storage_account *s)
{
    int64_t made_us = s->created_us;
    return !s->implicit && creation_look(r, s->scope.subscription, PACE_STORAGE_CREATION, &made_us);
}

int check_account_is_idle(const struct request *r, const struct storage_account *s, struct err *e)
{
    if (!is_being_made(r, s))
        return 0;
    return err_set(e, STORAGE_RM_BUSY, NULL,
                   "An operation is currently performing on this storage account that requires "
                   "exclusive access.");
}

int find_made_account(struct request *r, struct storage_account *s, struct err *e)
{
    if (find_account(r, s, e) < 0)
        return -1;
    if (!is_being_made(r, s))
        return 0;
    return err_set(e, STORAGE_RM_NOT_MADE, NULL,
                   "The storage account provisioning state must be 'Succeeded' before executing "
                   "the operation.");
}

const char *account_id(struct request *r, const struct storage_account *s)
{
    return resource_id(&r->arena, "Microsoft.Storage", &s->scope, "storageAccounts", s->name);
}

json_t *account_sku(const struct storage_account *s)
{
    const char *tier =
        strncasecmp(s->sku, "Premium", strlen("Premium")) == 0 ? "Premium" : "Standard";
    return json_pack("{s:s, s:s}", "name", s->sku, "tier", tier);
}

json_t *account_properties(const struct storage_account *s)
{
    json_t *doc = json_loads(s->doc, 0, NULL);
    return json_is_object(doc) ? doc : json_object();
}

static json_t *endpoints(struct request *r, const char *name)
{
    static const char *const services[] = {"blob", "queue", "table", "file", "web", "dfs"};
    json_t *list = json_object();
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        json_object_set_new(
            list, services[i],
            json_sprintf("https://%s.%s.%s/", name, services[i], request_suffix(r, "core.")));
    return list;
}

static json_t *instant(int64_t us)
{
    char text[TIMEFMT_SIZE];
    timefmt_wire(us, text);
    return json_string(text);
}

/* Queues and tables are shown only if the client chose the account's key for them, as in the real
 * service. */
static json_t *encryption(const struct storage_account *s, const json_t *given)
{
    json_t *list = json_object();
    const json_t *chosen = json_object_get(given, "services");
    json_t *infrastructure = json_object_get(given, "requireInfrastructureEncryption");
    static const struct {
        const char *name;
        bool always;
    } services[] = {{"file", true}, {"blob", true}, {"table", false}, {"queue", false}};
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
        const char *key = json_string_value(
            json_object_get(json_object_get(chosen, services[i].name), "keyType"));
        if (services[i].always || (key && strcmp(key, "Account") == 0))
            json_object_set_new(list, services[i].name,
                                json_pack("{s:s, s:b, s:o}", "keyType", "Account", "enabled", 1,
                                          "lastEnabledTime", instant(s->created_us)));
    }
    return json_pack("{s:o, s:O*, s:s}", "services", list, "requireInfrastructureEncryption",
                     infrastructure, "keySource", "Microsoft.Storage");
}

/* Adds the real service's default properties if the client has not set them. */
static void add_defaults(json_t *properties)
{
    json_auto_t *usual =
        json_pack("{s:{s:s, s:[], s:[], s:s}, s:b, s:s}", "networkAcls", "bypass", "AzureServices",
                  "virtualNetworkRules", "ipRules", "defaultAction", "Allow",
                  "supportsHttpsTrafficOnly", 1, "accessTier", "Hot");
    json_object_update_missing(properties, usual);
}

static json_t *rendered_properties(struct request *r, const struct storage_account *s)
{
    json_t *p = account_properties(s);
    add_defaults(p);
    json_object_set_new(
        p, "provisioningState",
        json_string(account_provisioning(r, &s->scope, PACE_STORAGE_CREATION, s->created_us)));
    json_object_set_new(p, "primaryEndpoints", endpoints(r, s->name));
    json_object_set_new(p, "primaryLocation",
                        json_string(region_name(&r->arena, s->scope.location)));
    json_object_set_new(p, "statusOfPrimary", json_string("available"));
    json_object_set_new(p, "creationTime", instant(s->created_us));
    json_object_set_new(
        p, "keyCreationTime",
        json_pack("{s:o, s:o}", "key1", instant(s->key1_us), "key2", instant(s->key2_us)));
    json_object_set_new(p, "encryption", encryption(s, json_object_get(p, "encryption")));
    return p;
}

void account_render(struct request *r, const struct storage_account *s, struct strbuf *out)
{
    json_auto_t *over = json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:o}", "sku", account_sku(s),
                                  "kind", s->kind, "id", account_id(r, s), "name", s->name, "type",
                                  "Microsoft.Storage/storageAccounts", "location",
                                  s->scope.location, "properties", rendered_properties(r, s));
    json_t *tags = s->tags ? json_loads(s->tags, 0, NULL) : NULL;
    json_object_set_new(over, "tags", tags ? tags : json_object());
    schema_render_tree(out, &schema_storage_account, V_2018_05_01, over);
}

struct replied *account_show(struct request *r, int status, const struct storage_account *s)
{
    struct strbuf out = STRBUF_INIT;
    account_render(r, s, &out);
    return reply_json_text(r, status, &out);
}
