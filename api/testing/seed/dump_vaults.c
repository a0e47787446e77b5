/* SPDX-License-Identifier: MIT
 *
 * Vaults in a dump, also those that were deleted; and roles.
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"

/* --- secrets ---------------------------------------------------------------------------------- */

static void add_instant(json_t *attributes, const char *name, int64_t seconds)
{
    if (seconds)
        json_object_set_new(attributes, name, json_integer((json_int_t)seconds));
}

static int version(struct dumping *d, const struct secret_version *x, json_t **out, struct err *e)
{
    const char *value = NULL;
    if (st_secret_value(d->seed->arm.storage, d->a, x->id, &value, e) < 0)
        return -1;
    json_t *attributes = json_pack("{s:b}", "enabled", x->enabled);
    add_instant(attributes, "nbf", x->not_before_s);
    add_instant(attributes, "exp", x->expires_s);
    *out = json_pack("{s:s, s:o}", "value", value ? value : "", "attributes", attributes);
    if (x->content_type)
        json_object_set_new(*out, "contentType", json_string(x->content_type));
    if (x->tags)
        json_object_set_new(*out, "tags", dump_json(x->tags));
    return 0;
}

static int secret(struct dumping *d, const struct secret_version *newest, json_t *into,
                  struct err *e)
{
    struct secret_version *rows;
    json_t *shown, *before;
    size_t n;
    if (version(d, newest, &shown, e) < 0)
        return -1;
    dump_put(into, "secrets", newest->name, shown);
    json_object_set_new(shown, "version", json_string(newest->version));
    if (newest->deleted_us)
        dump_time(shown, "deleted", newest->deleted_us);
    if (st_secret_version_list(d->seed->arm.storage, d->a, newest->secret_id, 0, DUMP_ROWS, &rows,
                               &n, e) < 0)
        return -1;
    for (size_t i = 0; i + 1 < n; i++) {
        if (version(d, &rows[i], &before, e) < 0)
            return -1;
        dump_put(shown, "versions", rows[i].version, before);
    }
    return 0;
}

static int secrets_of(struct dumping *d, int64_t vault_id, bool deleted, json_t *into,
                      struct err *e)
{
    struct secret_version *rows;
    size_t n;
    if (st_secret_list(d->seed->arm.storage, d->a, vault_id, deleted, 0, DUMP_ROWS, &rows, &n, e) <
        0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (secret(d, &rows[i], into, e) < 0)
            return -1;
    return 0;
}

/* --- vaults ----------------------------------------------------------------------------------- */

static int vault(struct dumping *d, const struct vault *v, json_t *into, struct err *e)
{
    json_t *body = dump_json(v->doc);
    dump_tracked(body, v->location, v->tags);
    dump_time(body, "deleted", v->deleted_us);
    dump_put(into, "vaults", v->name, body);
    return secrets_of(d, v->id, false, body, e) < 0 ? -1 : secrets_of(d, v->id, true, body, e);
}

int dump_vaults(struct dumping *d, const struct resource_group *g, json_t *into, struct err *e)
{
    struct vault *rows;
    size_t n;
    if (st_vault_list(d->seed->arm.storage, d->a, g->subscription, g->id, 0, DUMP_ROWS, &rows, &n,
                      e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (vault(d, &rows[i], into, e) < 0)
            return -1;
    return 0;
}

/* The group of a tree, in any case of its name; NULL. */
static json_t *group_of(const json_t *into, const char *name)
{
    const char *key;
    json_t *group;
    json_object_foreach(json_object_get(into, "groups"), key, group) {
        if (strcasecmp(key, name) == 0)
            return group;
    }
    return NULL;
}

/* A group that is gone is told of by what was in it. */
int dump_deleted_vaults(struct dumping *d, const char *subscription, const char *only, json_t *into,
                        struct err *e)
{
    struct vault *rows;
    size_t n;
    if (st_vault_list_deleted(d->seed->arm.storage, d->a, subscription, 0, DUMP_ROWS, &rows, &n,
                              e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_t *group = group_of(into, rows[i].group);
        if (only && strcasecmp(rows[i].group, only) != 0)
            continue;
        if (!group) {
            group = json_pack("{s:s, s:b}", "location", rows[i].location, "deleted", true);
            dump_put(into, "groups", rows[i].group, group);
        }
        if (vault(d, &rows[i], group, e) < 0)
            return -1;
    }
    return 0;
}

/* --- roles ------------------------------------------------------------------------------------ */

static void role(struct dumping *d, const struct role_assignment *x, const char *above,
                 json_t *into)
{
    const char *id = arena_concat(d->a, "/subscriptions/", d->seed->arm.access->subscription_id,
                                  "/providers/Microsoft.Authorization/roleDefinitions/", x->role);
    json_t *body = json_pack("{s:{s:s, s:s}}", "properties", "roleDefinitionId", id, "principalId",
                             x->principal);
    if (strcasecmp(x->scope, above) != 0)
        json_object_set_new(body, "scope", json_string(x->scope));
    dump_put(into, "roles", x->guid, body);
}

int dump_roles(struct dumping *d, const char *subscription, bool whole, json_t *into, struct err *e)
{
    struct role_assignment *rows;
    size_t n;
    const char *scope = arena_concat(d->a, "/subscriptions/", subscription);
    if (st_role_assignment_list(d->seed->arm.storage, d->a, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!scope_within(rows[i].scope, scope))
            continue;
        const char *name;
        json_t *group, *in = whole ? into : NULL;
        const char *above = scope;
        json_object_foreach(json_object_get(into, "groups"), name, group) {
            const char *of = arena_concat(d->a, scope, "/resourceGroups/", name);
            if (scope_within(rows[i].scope, of) && !json_object_get(group, "deleted")) {
                in = group;
                above = of;
            }
        }
        if (in)
            role(d, &rows[i], above, in);
    }
    return 0;
}
