/* SPDX-License-Identifier: MIT
 *
 * Who may do what with the secrets of a vault: those whom an access policy names by their object
 * id, or, where the vault says so, those with a role.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/keyvault/secret_errors.h"
#include "api/keyvault/secrets.h"
#include "api/keyvault/vaults.h"
#include "storage/storage.h"

static const char *const permissions[] = {
    [MAY_GET] = "get",         [MAY_LIST] = "list",     [MAY_SET] = "set",
    [MAY_DELETE] = "delete",   [MAY_BACKUP] = "backup", [MAY_RESTORE] = "restore",
    [MAY_RECOVER] = "recover", [MAY_PURGE] = "purge",
};

/* A policy for an application on behalf of somebody counts for that application's tokens alone,
 * which there are none of. */
static bool is_for(const json_t *policy, const struct principal *who)
{
    const char *id = json_string_value(json_object_get(policy, "objectId"));
    return id && strcasecmp(id, who->object_id) == 0 && !json_object_get(policy, "applicationId");
}

static bool policy_allows(const json_t *properties, const struct principal *who, const char *what)
{
    const json_t *policy, *name;
    size_t i, k;
    json_array_foreach(json_object_get(properties, "accessPolicies"), i, policy) {
        const json_t *list = json_object_get(json_object_get(policy, "permissions"), "secrets");
        json_array_foreach(is_for(policy, who) ? list : NULL, k, name) {
            const char *text = json_string_value(name);
            if (text && (strcasecmp(text, "all") == 0 || strcasecmp(text, what) == 0))
                return true;
        }
    }
    return false;
}

static int check_access(struct request *r, const struct vault *v, const json_t *properties,
                        enum secret_permission what, struct err *e)
{
    const struct principal *who = r->who;
    bool by_role = json_is_true(json_object_get(properties, "enableRbacAuthorization"));
    bool may = by_role ? who->first : policy_allows(properties, who, permissions[what]);
    if (may)
        return 0;
    return err_set(e, by_role ? SECRET_NO_ROLE : SECRET_NO_POLICY, NULL,
                   "The user, group or application 'oid=%s' (%s) does not have secrets %s "
                   "permission on key vault '%s;location=%s': %s.",
                   who->object_id, who->name, permissions[what], v->name, v->location,
                   by_role ? "no role at the vault or above it allows that"
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
        return err_set(e, SECRET_NO_VAULT, NULL, "There is no vault '%.60s' here%s.", r->label,
                       rc ? " (any more): it is soft-deleted" : "");
    json_t *properties = vault_properties(&out->row);
    out->purge_protected = json_is_true(json_object_get(properties, "enablePurgeProtection"));
    rc = check_access(r, &out->row, properties, what, e);
    json_decref(properties);
    return rc;
}
