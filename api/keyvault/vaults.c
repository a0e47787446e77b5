/* SPDX-License-Identifier: MIT
 *
 * Vaults: create, change, show, list, delete, recover.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/http/paging.h"
#include "api/keyvault/errors.h"
#include "api/keyvault/handlers.h"
#include "api/keyvault/vaults.h"
#include "lib/jsontext.h"
#include "model/schema.h"
#include "storage/storage.h"

#define NAME_MIN       3
#define NAME_MAX_LEN   24
#define RETENTION_DAYS 90 /* what the service takes when none is given */
#define DAY_US         INT64_C(86400000000)
/* From this api-version on a vault uses roles unless it is told otherwise. */
#define ROLES_SINCE "2026-02-01"

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    if (n < NAME_MIN || n > NAME_MAX_LEN || !isalpha((unsigned char)name[0]) || name[n - 1] == '-')
        return false;
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && (*p != '-' || p[1] == '-'))
            return false;
    return true;
}

#define NAME_RULE                                                                                  \
    "it must have 3 to 24 letters, digits and hyphens, begin with a letter, end with a letter or " \
    "digit, and not have two hyphens together"

static int check_vault_name(const char *name, struct err *e)
{
    if (is_name(name))
        return 0;
    return err_set(e, KEYVAULT_INVALID_NAME, NULL,
                   "The vault name '%.60s' is invalid: " NAME_RULE ".", name);
}

/* --- create and change ----------------------------------------------------------------------- */

static const json_t *given_properties(const struct request *r)
{
    return json_object_get(r->body, "properties");
}

static bool asks_to_recover(const struct request *r)
{
    const char *mode = json_string_value(json_object_get(given_properties(r), "createMode"));
    return mode && strcasecmp(mode, "recover") == 0;
}

/* What cannot be known from the document alone. */
static void add_defaults(const struct request *r, json_t *properties, const json_t *stored)
{
    json_t *days = json_object_get(stored, "softDeleteRetentionInDays");
    json_t *roles = json_object_get(stored, "enableRbacAuthorization");
    if (!json_object_get(properties, "softDeleteRetentionInDays"))
        json_object_set_new(properties, "softDeleteRetentionInDays",
                            days ? json_incref(days) : json_integer(RETENTION_DAYS));
    if (!json_object_get(properties, "enableRbacAuthorization"))
        json_object_set_new(properties, "enableRbacAuthorization",
                            roles ? json_incref(roles)
                                  : json_boolean(strcmp(r->version_name, ROLES_SINCE) >= 0));
    if (!json_object_get(properties, "accessPolicies"))
        json_object_set_new(properties, "accessPolicies", json_array());
}

static json_int_t days_of(const json_t *properties)
{
    return json_integer_value(json_object_get(properties, "softDeleteRetentionInDays"));
}

/* What Key Vault does not let anybody change. */
static int check_kept(struct request *r, const struct vault *v, const json_t *doc,
                      const json_t *stored, struct err *e)
{
    const json_t *given = json_object_get(doc, "properties");
    const char *location = json_string_value(json_object_get(doc, "location"));
    if (location && !same_region(&r->arena, location, v->location))
        return err_set(e, KEYVAULT_OTHER_LOCATION, "location",
                       "The vault %s exists in location '%s'; it cannot be moved to '%.100s'.",
                       v->name, v->location, location);
    if (json_object_get(given, "softDeleteRetentionInDays") && days_of(given) != days_of(stored))
        return err_set(e, ERR_INVALID_PROPERTY, "properties.softDeleteRetentionInDays",
                       "properties.softDeleteRetentionInDays is %lld; it was set to %lld and "
                       "cannot be changed.",
                       (long long)days_of(given), (long long)days_of(stored));
    return 0;
}

/* Purge protection stays once it is on. */
static void keep_protection(json_t *properties, const json_t *stored)
{
    if (json_is_true(json_object_get(stored, "enablePurgeProtection")))
        json_object_set_new(properties, "enablePurgeProtection", json_true());
}

static int accept_vault(struct request *r, bool partial, json_t **doc, struct err *e)
{
    json_t *secrets;
    int rc = partial ? schema_accept_partial(&schema_vault, V_ALL, r->body, doc, &secrets, e)
                     : schema_accept(&schema_vault, V_ALL, r->body, doc, &secrets, e);
    if (rc == 0)
        json_decref(secrets);
    return rc;
}

static int insert(struct request *r, const struct resource_group *g, const json_t *doc,
                  struct err *e)
{
    json_t *stored = json_pack("{s:O}", "properties", json_object_get(doc, "properties"));
    const json_t *tags = json_object_get(doc, "tags");
    char *text = jsontext(stored), *tags_text = tags ? jsontext(tags) : NULL;
    const struct vault v = {.group_id = g->id,
                            .subscription = g->subscription,
                            .group = g->name,
                            .name = request_param(r, "vault"),
                            .location = json_string_value(json_object_get(doc, "location")),
                            .tags = tags_text,
                            .doc = text,
                            .retention_us = days_of(json_object_get(doc, "properties")) * DAY_US,
                            .created_us = r->now_us,
                            .updated_us = r->now_us,
                            .created_by = r->who->object_id};
    int64_t id;
    int rc = st_vault_insert(arm_of(r)->storage, &v, &id, e);
    if (rc == 0)
        LOG_INFO(r->config->log, "vault.created", LF_STR("vault", v.name), LF_STR("group", g->name),
                 LF_STR("by", r->who->name));
    free(text);
    free(tags_text);
    json_decref(stored);
    return rc;
}

static int create_new(struct request *r, const struct resource_group *g, struct err *e)
{
    json_t *doc;
    if (asks_to_recover(r))
        return err_set(e, KEYVAULT_DELETED_NOT_FOUND, NULL,
                       "There is no soft-deleted vault '%.60s' to recover.",
                       request_param(r, "vault"));
    if (accept_vault(r, false, &doc, e) < 0)
        return -1;
    add_defaults(r, json_object_get(doc, "properties"), NULL);
    int rc = insert(r, g, doc, e);
    json_decref(doc);
    return rc;
}

static int replace(struct request *r, struct vault *v, struct err *e)
{
    json_t *doc, *stored = vault_properties(v);
    int rc = accept_vault(r, false, &doc, e);
    if (rc == 0) {
        json_t *properties = json_object_get(doc, "properties");
        rc = check_kept(r, v, doc, stored, e);
        add_defaults(r, properties, stored);
        keep_protection(properties, stored);
        if (rc == 0)
            rc = vault_store(r, v, json_object_get(doc, "tags"), properties, e);
        json_decref(doc);
    }
    json_decref(stored);
    return rc;
}

static int recover(struct request *r, const struct vault *v, const struct resource_group *g,
                   struct err *e)
{
    bool same =
        strcasecmp(v->subscription, g->subscription) == 0 && strcasecmp(v->group, g->name) == 0;
    if (!asks_to_recover(r))
        return err_set(e, KEYVAULT_IN_DELETED_STATE, NULL,
                       "A vault with the name '%s' exists in deleted state. Recover it (createMode "
                       "recover), purge it, or take another name.",
                       v->name);
    if (!same)
        return err_set(e, KEYVAULT_NAME_TAKEN, NULL,
                       "The soft-deleted vault '%s' was in another resource group; it can only be "
                       "recovered there.",
                       v->name);
    if (st_vault_recover(arm_of(r)->storage, v->id, g->id, r->now_us, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "vault.recovered", LF_STR("vault", v->name), LF_STR("group", g->name),
             LF_STR("by", r->who->name));
    return 0;
}

static int create(struct request *r, struct err *e)
{
    struct resource_group g;
    struct vault v;
    const char *name = request_param(r, "vault");
    if (find_group(r, &g, e) < 0 || check_vault_name(name, e) < 0 || check_group_alive(&g, e) < 0)
        return -1;
    int rc = st_vault_get(arm_of(r)->storage, &r->arena, name, &v, e);
    if (rc <= 0)
        return rc < 0 ? -1 : create_new(r, &g, e);
    if (v.group_id == 0)
        return recover(r, &v, &g, e);
    if (v.group_id != g.id)
        return err_set(e, KEYVAULT_NAME_TAKEN, NULL,
                       "The vault name '%s' is already in use. Names of vaults are unique over all "
                       "resource groups and subscriptions.",
                       v.name);
    return asks_to_recover(r) ? 0 : replace(r, &v, e);
}

static struct replied *show_named(struct request *r)
{
    struct err e;
    struct vault v;
    return find_vault(r, &v, &e) < 0 ? reply_err(r, &e) : vault_show(r, &v);
}

struct replied *vaults_create(struct request *r)
{
    struct err e;
    return create(r, &e) < 0 ? reply_err(r, &e) : show_named(r);
}

/* The given properties take the place of stored ones, each as a whole. */
static int merge(struct request *r, struct vault *v, const json_t *doc, struct err *e)
{
    json_t *stored = vault_properties(v);
    int rc = check_kept(r, v, doc, stored, e);
    if (rc == 0) {
        json_t *tags = json_incref(json_object_get(doc, "tags"));
        if (!tags && v->tags)
            tags = json_loads(v->tags, 0, NULL);
        json_object_update(stored, json_object_get(doc, "properties"));
        rc = vault_store(r, v, tags, stored, e);
        json_decref(tags);
    }
    json_decref(stored);
    return rc;
}

struct replied *vaults_update(struct request *r)
{
    struct err e;
    struct vault v;
    json_t *doc;
    if (find_vault(r, &v, &e) < 0 || accept_vault(r, true, &doc, &e) < 0)
        return reply_err(r, &e);
    int rc = merge(r, &v, doc, &e);
    json_decref(doc);
    return rc < 0 ? reply_err(r, &e) : vault_show(r, &v);
}

/* --- the rest -------------------------------------------------------------------------------- */

struct replied *vaults_get(struct request *r)
{
    return show_named(r);
}

struct replied *vaults_delete(struct request *r)
{
    struct err e;
    struct vault v;
    if (find_vault(r, &v, &e) < 0)
        return e.code == ERR_RESOURCE_NOT_FOUND ? reply_empty(r, 204) : reply_err(r, &e);
    if (st_vault_delete(arm_of(r)->storage, v.id, r->now_us, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "vault.deleted", LF_STR("vault", v.name), LF_STR("group", v.group),
             LF_STR("by", r->who->name));
    return reply_empty(r, 200);
}

static bool sees(struct request *r, const struct vault *v)
{
    return !r->grant || arm_sees(r, vault_id(r, v));
}

static struct replied *list(struct request *r, int64_t group_id)
{
    struct err e;
    struct page page;
    struct vault *rows;
    struct strbuf *out;
    size_t n;
    long top;
    if (page_parse(r, &page, &e) < 0 ||
        request_query_int(r, "$top", 1, page.max, page.max, &top, &e) < 0)
        return reply_err(r, &e);
    page.max = top;
    if (st_vault_list(arm_of(r)->storage, &r->arena, arm_subscription(r), group_id, page.after,
                      page_limit(&page), &rows, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n; i++)
        if (sees(r, &rows[i]) && (out = page_row(&page, rows[i].id)))
            vault_render(r, &rows[i], out);
    arm_page_end(r, &page, n, n > 0 ? rows[n - 1].id : 0);
    return page_reply(r, &page);
}

struct replied *vaults_list(struct request *r)
{
    struct err e;
    return find_subscription(r, &e) < 0 ? reply_err(r, &e) : list(r, 0);
}

struct replied *vaults_list_by_group(struct request *r)
{
    struct err e;
    struct resource_group g;
    return find_group(r, &g, &e) < 0 ? reply_err(r, &e) : list(r, g.id);
}

static json_t *availability(const char *name, bool valid, bool taken)
{
    if (!valid)
        return json_pack("{s:b, s:s, s:o}", "nameAvailable", 0, "reason", "AccountNameInvalid",
                         "message", json_sprintf("The vault name is invalid: %s.", NAME_RULE));
    if (taken)
        return json_pack("{s:b, s:s, s:o}", "nameAvailable", 0, "reason", "AlreadyExists",
                         "message",
                         json_sprintf("The vault name '%s' is taken, by a vault or by a "
                                      "soft-deleted one.",
                                      name));
    return json_pack("{s:b}", "nameAvailable", 1);
}

struct replied *vaults_check_name(struct request *r)
{
    struct err e;
    struct vault v;
    json_t *doc, *secrets;
    if (find_subscription(r, &e) < 0 ||
        schema_accept(&schema_vault_name, V_ALL, r->body, &doc, &secrets, &e) < 0)
        return reply_err(r, &e);
    const char *name = arena_strdup(&r->arena, json_string_value(json_object_get(doc, "name")));
    json_decref(doc);
    json_decref(secrets);
    bool valid = is_name(name);
    int rc = valid ? st_vault_get(arm_of(r)->storage, &r->arena, name, &v, &e) : 0;
    return rc < 0 ? reply_err(r, &e) : reply_json(r, 200, availability(name, valid, rc > 0));
}
