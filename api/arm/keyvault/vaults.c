/* SPDX-License-Identifier: MIT
 *
 * Vaults as a kind of resource (api/arm/kind.h). A PUT may also recover a soft-deleted vault.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/arm/keyvault/errors.h"
#include "api/arm/keyvault/keyvault.h"
#include "api/arm/keyvault/routes.h"
#include "api/arm/keyvault/vaults.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "lib/jsontext.h"
#include "model/schema.h"
#include "storage/storage.h"

#define NAME_MIN       3
#define NAME_MAX_LEN   24
#define RETENTION_DAYS 90 /* the real service's default */
#define DAY_US         INT64_C(86400000000)
/* From this api-version on, new vaults use roles by default. */
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

/* Adds the defaults that depend on the stored vault or the api-version. */
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

/* Fails if the body changes something that Key Vault does not permit to change. */
static int check_kept(struct rm *m, const struct vault *v, const json_t *stored, struct err *e)
{
    const json_t *given = json_object_get(m->given.doc, "properties");
    if (rm_check_location(m, v->name, v->location, NULL, e) < 0)
        return -1;
    if (json_object_get(given, "softDeleteRetentionInDays") && days_of(given) != days_of(stored))
        return err_set(e, ERR_INVALID_PROPERTY, "properties.softDeleteRetentionInDays",
                       "properties.softDeleteRetentionInDays is %lld; it was set to %lld and "
                       "cannot be changed.",
                       (long long)days_of(given), (long long)days_of(stored));
    return 0;
}

/* Keeps purge protection switched on: clients cannot switch it off. */
static void keep_protection(json_t *properties, const json_t *stored)
{
    if (json_is_true(json_object_get(stored, "enablePurgeProtection")))
        json_object_set_new(properties, "enablePurgeProtection", json_true());
}

static int prepare(struct rm *m, struct err *e)
{
    if (asks_to_recover(m->r))
        return err_set(e, KEYVAULT_DELETED_NOT_FOUND, NULL,
                       "There is no soft-deleted vault '%.60s' to recover.", m->name);
    if (rm_step_body(m, e) < 0)
        return -1;
    add_defaults(m->r, json_object_get(m->given.doc, "properties"), NULL);
    return 0;
}

static int insert(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    json_t *properties = json_object_get(m->given.doc, "properties");
    const json_t *stored = request_own(r, json_pack("{s:O}", "properties", properties));
    const struct vault v = {.group_id = m->group.id,
                            .subscription = m->group.subscription,
                            .group = m->group.name,
                            .name = m->name,
                            .location = rm_text(m->given.doc, "location"),
                            .tags = rm_given_text(m, "tags", NULL),
                            .doc = request_own_text(r, jsontext(stored)),
                            .retention_us = days_of(properties) * DAY_US,
                            .created_us = r->now_us,
                            .updated_us = r->now_us,
                            .created_by = r->who->object_id};
    if (st_vault_insert(arm_of(r)->storage, &v, &m->id, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "vault.created", LF_STR("vault", v.name),
             LF_STR("group", m->group.name), LF_STR("by", r->who->name));
    return 0;
}

static int replace(struct rm *m, struct vault *v, struct err *e)
{
    const json_t *stored = request_own(m->r, vault_properties(v));
    if (rm_step_body(m, e) < 0 || check_kept(m, v, stored, e) < 0)
        return -1;
    json_t *properties = json_object_get(m->given.doc, "properties");
    add_defaults(m->r, properties, stored);
    keep_protection(properties, stored);
    return vault_store(m->r, v, json_object_get(m->given.doc, "tags"), properties, e);
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

static int seek(struct rm *m, struct err *e)
{
    return st_vault_get(arm_of(m->r)->storage, &m->r->arena, m->name, m->row, e);
}

static int change(struct rm *m, struct err *e)
{
    struct vault *v = m->row;
    if (v->group_id == 0)
        return recover(m->r, v, &m->group, e);
    if (v->group_id != m->group.id)
        return err_set(e, KEYVAULT_NAME_TAKEN, NULL,
                       "The vault name '%s' is already in use. Names of vaults are unique over all "
                       "resource groups and subscriptions.",
                       v->name);
    return asks_to_recover(m->r) ? 0 : replace(m, v, e);
}

/* Each property in the body replaces the stored property as a whole. */
static int patch(struct rm *m, struct err *e)
{
    struct vault *v = m->row;
    json_t *stored = request_own(m->r, vault_properties(v));
    const json_t *tags = json_object_get(m->given.doc, "tags");
    if (check_kept(m, v, stored, e) < 0)
        return -1;
    if (!tags && v->tags)
        tags = request_own(m->r, json_loads(v->tags, 0, NULL));
    json_object_update(stored, json_object_get(m->given.doc, "properties"));
    return vault_store(m->r, v, tags, stored, e);
}

/* --- show, list, delete ----------------------------------------------------------------------- */

static int find(struct rm *m, struct err *e)
{
    return find_vault(m->r, m->row, e);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    vault_render(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct vault_rows found = {NULL, 0};
    int rc = st_vault_list(arm_of(r)->storage, &r->arena, &q->filter,
                           &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static struct replied *remove_vault(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    const struct vault *v = m->row;
    if (st_vault_delete(arm_of(r)->storage, v->id, r->now_us, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "vault.deleted", LF_STR("vault", v->name), LF_STR("group", v->group),
             LF_STR("by", r->who->name));
    return reply_empty(r, 200);
}

/* --- the kind --------------------------------------------------------------------------------- */

static const struct rm_name_rule name_rule = {
    .is_valid = is_name,
    .error = KEYVAULT_INVALID_NAME,
    .shown = 60,
    .invalid = {"The vault name '", "' is invalid: " NAME_RULE "."},
    .reason = "AccountNameInvalid",
    .answer_invalid = {"The vault name is invalid: " NAME_RULE ".", NULL},
    .answer_taken = {"The vault name '", "' is taken, by a vault or by a soft-deleted one."},
};

static rm_step *const steps[] = {rm_step_group, rm_step_name, rm_step_group_alive, NULL};

const struct rm_kind vault_kind = {
    .what = "vault",
    .param = "vault",
    .columns = VAULT_COLUMNS,
    .schema = &schema_vault,
    .patch_schema = &schema_vault,
    .named_schema = &schema_vault_name,
    .name_rule = &name_rule,
    .other_location = KEYVAULT_OTHER_LOCATION,
    .cannot_move = "it cannot be moved",
    .steps = steps,
    .seek = seek,
    .prepare = prepare,
    .insert = insert,
    .change = change,
    .rereads = true,
    .patch = patch,
    .find = find,
    .missing = rm_missing,
    .remove = remove_vault,
    .render = render,
    .list = list,
    .has_top = true,
    .taken = seek,
};
