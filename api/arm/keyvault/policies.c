/* SPDX-License-Identifier: MIT
 *
 * Adds, replaces and removes single entries of a vault's access policies. An entry is identified by
 * its objectId and applicationId.
 */
#include <string.h>
#include <strings.h>

#include "api/arm/keyvault/errors.h"
#include "api/arm/keyvault/keyvault.h"
#include "api/arm/keyvault/routes.h"
#include "api/arm/keyvault/vaults.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/http/accept.h"
#include "model/schema.h"

static const char *const kinds[] = {"keys", "secrets", "certificates", "storage"};
#define KINDS (sizeof kinds / sizeof kinds[0])

static bool same_text(const json_t *one, const json_t *other, const char *key)
{
    const char *a = json_string_value(json_object_get(one, key));
    const char *b = json_string_value(json_object_get(other, key));
    return a && b ? strcasecmp(a, b) == 0 : a == b;
}

/* The index of the entry with the ids of `entry`; json_array_size(list): there is none. */
static size_t place_of(const json_t *list, const json_t *entry)
{
    size_t i = 0;
    while (i < json_array_size(list) &&
           !(same_text(json_array_get(list, i), entry, "objectId") &&
             same_text(json_array_get(list, i), entry, "applicationId")))
        i++;
    return i;
}

static size_t place_of_text(const json_t *list, const char *text)
{
    size_t i = 0;
    while (i < json_array_size(list) &&
           strcasecmp(json_string_value(json_array_get(list, i)), text) != 0)
        i++;
    return i;
}

static json_t *permissions(const json_t *entry, const char *kind)
{
    return json_object_get(json_object_get(entry, "permissions"), kind);
}

static void add_permissions(json_t *to, const json_t *from)
{
    for (size_t k = 0; k < KINDS; k++) {
        const json_t *more = permissions(from, kinds[k]);
        if (more && !permissions(to, kinds[k]))
            json_object_set_new(json_object_get(to, "permissions"), kinds[k], json_array());
        json_t *list = permissions(to, kinds[k]);
        for (size_t i = 0; i < json_array_size(more); i++) {
            json_t *text = json_array_get(more, i);
            if (place_of_text(list, json_string_value(text)) == json_array_size(list))
                json_array_append(list, text);
        }
    }
}

static void add(json_t *list, json_t *entry)
{
    size_t at = place_of(list, entry);
    if (at == json_array_size(list))
        json_array_append(list, entry);
    else
        add_permissions(json_array_get(list, at), entry);
}

static void replace(json_t *list, json_t *entry)
{
    size_t at = place_of(list, entry);
    if (at == json_array_size(list))
        json_array_append(list, entry);
    else
        json_array_set(list, at, entry);
}

static size_t permissions_left(const json_t *entry)
{
    size_t n = 0;
    for (size_t k = 0; k < KINDS; k++)
        n += json_array_size(permissions(entry, kinds[k]));
    return n;
}

/* Removes the permissions in `entry` from the stored entry. Removes the whole stored entry if
 * `entry` has no permissions, or if none are left. */
static void remove_entry(json_t *list, json_t *entry)
{
    size_t at = place_of(list, entry);
    json_t *there = json_array_get(list, at);
    for (size_t k = 0; k < KINDS; k++) {
        const json_t *gone = permissions(entry, kinds[k]);
        json_t *left = permissions(there, kinds[k]);
        for (size_t i = 0; i < json_array_size(gone); i++)
            json_array_remove(left,
                              place_of_text(left, json_string_value(json_array_get(gone, i))));
    }
    if (there && (permissions_left(entry) == 0 || permissions_left(there) == 0))
        json_array_remove(list, at);
}

static const struct {
    const char *name;
    void (*apply)(json_t *list, json_t *entry);
} changes[] = {{"add", add}, {"replace", replace}, {"remove", remove_entry}};
#define CHANGES (sizeof changes / sizeof changes[0])

static int change(struct request *r, struct vault *v, json_t *given, json_t *properties,
                  struct err *e)
{
    const char *kind = request_param(r, "kind");
    size_t c = 0;
    while (c < CHANGES && strcasecmp(changes[c].name, kind) != 0)
        c++;
    if (c == CHANGES)
        return err_set(e, ERR_INVALID_PATH, NULL,
                       "Access policies are changed by add, replace or remove, not by '%.60s'.",
                       kind);
    if (!json_object_get(properties, "accessPolicies"))
        json_object_set_new(properties, "accessPolicies", json_array());
    json_t *list = json_object_get(properties, "accessPolicies");
    size_t before = json_array_size(list);
    for (size_t i = 0; i < json_array_size(given); i++)
        changes[c].apply(list, json_array_get(given, i));
    size_t n = json_array_size(list);
    if (n > before && n > VAULT_POLICIES_MAX)
        return err_set(e, ERR_INVALID_PROPERTY, "properties.accessPolicies",
                       "The vault would have %zu access policies; at most %d are allowed.", n,
                       VAULT_POLICIES_MAX);
    const json_t *tags = v->tags ? request_own(r, json_loads(v->tags, 0, NULL)) : NULL;
    return vault_store(r, v, tags, properties, e);
}

struct replied *vaults_update_policies(struct request *r)
{
    struct err e;
    struct vault v;
    struct accepted body;
    if (find_vault(r, &v, &e) < 0 || request_accept(r, &schema_vault_policies, 0, &body, &e) < 0)
        return reply_err(r, &e);
    json_t *properties = request_own(r, vault_properties(&v));
    json_t *given = json_object_get(json_object_get(body.doc, "properties"), "accessPolicies");
    if (change(r, &v, given, properties, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200,
                      json_pack("{s:o, s:s, s:{s:O}}", "id",
                                json_sprintf("%s/accessPolicies/", vault_id(r, &v)), "type",
                                "Microsoft.KeyVault/vaults/accessPolicies", "properties",
                                "accessPolicies", json_object_get(properties, "accessPolicies")));
}
