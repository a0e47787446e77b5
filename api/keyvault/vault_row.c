/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "api/keyvault/errors.h"
#include "api/keyvault/vaults.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/schema.h"
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
    return arena_concat(&r->arena, "https://", arena_lower(&r->arena, name), ".vault.",
                        request_site(r), "/");
}

void vault_render(struct request *r, const struct vault *v, struct strbuf *out)
{
    char created[TIMEFMT_SIZE], changed[TIMEFMT_SIZE];
    timefmt_wire(v->created_us, created);
    timefmt_wire(v->updated_us, changed);
    int64_t made_us = v->created_us;
    bool goes_on = creation_look(r, v->subscription, PACE_VAULT_CREATION, &made_us);
    const char *state = goes_on ? "RegisteringDns" : "Succeeded";
    json_t *tags = v->tags ? json_loads(v->tags, 0, NULL) : NULL;
    const struct over made[] = {{.name = "createdBy", .kind = OVER_TEXT, .text = v->created_by},
                                {.name = "createdAt", .kind = OVER_TEXT, .text = created},
                                {.name = "lastModifiedAt", .kind = OVER_TEXT, .text = changed}};
    const struct over properties[] = {
        {.name = "vaultUri", .kind = OVER_TEXT, .text = vault_uri(r, v->name)},
        {.name = "provisioningState", .kind = OVER_TEXT, .text = state}};
    const struct over over[] = {
        {.name = "id", .kind = OVER_TEXT, .text = vault_id(r, v)},
        {.name = "name", .kind = OVER_TEXT, .text = v->name},
        {.name = "type", .kind = OVER_TEXT, .text = "Microsoft.KeyVault/vaults"},
        {.name = "location", .kind = OVER_TEXT, .text = v->location},
        {.name = "tags", .kind = OVER_TREE, .tree = tags},
        {.name = "systemData", .kind = OVER_OBJECT, .member = made, .n = 3},
        {.name = "properties", .kind = OVER_OBJECT, .member = properties, .n = 2}};
    schema_render_over(out, &schema_vault, V_ALL, v->doc, over, sizeof over / sizeof over[0]);
    json_decref(tags);
}

struct replied *vault_show(struct request *r, const struct vault *v)
{
    struct strbuf out = STRBUF_INIT;
    vault_render(r, v, &out);
    return reply_json_text(r, 200, &out);
}

json_t *vault_properties(const struct vault *v)
{
    json_t *doc = json_loads(v->doc, 0, NULL);
    json_t *properties = json_incref(json_object_get(doc, "properties"));
    json_decref(doc);
    return properties ? properties : json_object();
}

int vault_store(struct request *r, struct vault *v, const json_t *tags, json_t *properties,
                struct err *e)
{
    json_t *doc = json_pack("{s:O}", "properties", properties);
    assert(doc);
    char *text = jsontext(doc), *tags_text = tags ? jsontext(tags) : NULL;
    int rc = st_vault_update(arm_of(r)->storage, v->id, tags_text, text, r->now_us, e);
    v->doc = arena_strdup(&r->arena, text);
    v->tags = tags_text ? arena_strdup(&r->arena, tags_text) : NULL;
    v->updated_us = r->now_us;
    free(text);
    free(tags_text);
    json_decref(doc);
    return rc;
}
