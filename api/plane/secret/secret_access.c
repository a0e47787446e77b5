/* SPDX-License-Identifier: MIT
 *
 * The right to use the secrets of a vault: an access policy gives it to principals by their object
 * id; if the vault uses roles, a role gives it.
 */
#include <assert.h>
#include <string.h>

#include "api/access/access.h"
#include "api/arm/keyvault/vaults.h"
#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "api/plane/secret/secret_errors.h"
#include "api/plane/secret/secrets.h"
#include "model/vault.h"
#include "storage/storage.h"

static const char *const permissions[] = {
    [MAY_GET] = "get",         [MAY_LIST] = "list",     [MAY_SET] = "set",
    [MAY_DELETE] = "delete",   [MAY_BACKUP] = "backup", [MAY_RESTORE] = "restore",
    [MAY_RECOVER] = "recover", [MAY_PURGE] = "purge",
};

/* The data action that a role must allow, for each permission. */
static const char *const actions[] = {
    [MAY_GET] = "getSecret/action",   [MAY_LIST] = "readMetadata/action",
    [MAY_SET] = "setSecret/action",   [MAY_DELETE] = "delete",
    [MAY_BACKUP] = "backup/action",   [MAY_RESTORE] = "restore/action",
    [MAY_RECOVER] = "recover/action", [MAY_PURGE] = "purge/action",
};

struct secret_use {
    const struct vault *vault;
    const char *secret; /* NULL: for a list of secrets, or a restore */
    enum secret_permission what;
};

/* Whether the principal has a role at the secret, the vault, or above, that allows the use. */
static int role_allows(const struct access *x, struct arena *a, const struct principal *who,
                       const struct secret_use *use, bool *may, struct err *e)
{
    const struct vault *v = use->vault;
    struct grants held;
    const struct scope scope = {.subscription = v->subscription, .group = v->group};
    const char *id = resource_id(a, "Microsoft.KeyVault", &scope, "vaults", v->name);
    const char *action = arena_concat(a, "Microsoft.KeyVault/vaults/secrets/", actions[use->what]);
    if (use->secret)
        id = arena_concat(a, id, "/secrets/", use->secret);
    *may = who->first;
    if (*may)
        return 0;
    if (access_load(x, a, who, &held, e) < 0)
        return -1;
    *may = access_to_data(&held, action, id);
    return 0;
}

bool keyvault_role_reads(void *ctx, const char *object_id, const struct vault *v,
                         const char *secret)
{
    const struct secret_use use = {v, secret, MAY_GET};
    const struct access *x = ctx;
    struct principal who;
    struct arena a;
    struct err e;
    bool may = false;
    arena_init(&a);
    int rc = access_find(ctx, object_id, &who, &e);
    if (rc > 0)
        rc = role_allows(x, &a, &who, &use, &may, &e);
    arena_free(&a);
    return rc >= 0 && may;
}

static int check_access(struct request *r, const struct vault *v, const json_t *properties,
                        enum secret_permission what, struct err *e)
{
    const struct principal *who = r->who;
    bool of_secret = strstr(r->route->path, "{name}") != NULL;
    const struct secret_use use = {v, of_secret ? request_param(r, "name") : NULL, what};
    bool by_role = vault_uses_roles(properties);
    bool may = r->seeds ||
               (!by_role && vault_policy_allows(properties, who->object_id, permissions[what]));
    if (!may && by_role && role_allows(arm_of(r)->access, &r->arena, who, &use, &may, e) < 0)
        return -1;
    if (may)
        return 0;
    return err_set(e, by_role ? SECRET_NO_ROLE : SECRET_NO_POLICY, NULL,
                   "The user, group or application 'oid=%s' (%s) does not have secrets %s "
                   "permission on key vault '%s;location=%s': %s.",
                   who->object_id, who->name, permissions[what], v->name, v->location,
                   by_role ? "no role at the secret, the vault or above allows that"
                           : "no access policy of the vault gives it (az keyvault set-policy)");
}

int open_vault(struct request *r, enum secret_permission what, struct open_vault *out,
               struct err *e)
{
    assert(r->label);
    int rc = st_vault_get(arm_of(r)->storage, &r->arena, r->label, &out->row, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || out->row.group_id == 0)
        return err_set(e, SECRET_NO_VAULT, NULL, "There is no vault '%.60s'%s.", r->label,
                       rc ? ": it is soft-deleted" : "");
    int64_t made_us = out->row.created_us;
    if (creation_look(r, out->row.subscription, PACE_VAULT_CREATION, &made_us))
        return err_set(e, SECRET_NO_VAULT, NULL,
                       "The name of the vault '%.60s' is still being registered (strict mode).",
                       r->label);
    const json_t *properties = request_own(r, vault_properties(&out->row));
    out->purge_protected = json_is_true(json_object_get(properties, "enablePurgeProtection"));
    return check_access(r, &out->row, properties, what, e);
}
