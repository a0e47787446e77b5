/* SPDX-License-Identifier: MIT
 *
 * Evaluates the access policies of a vault, and parses URLs of secrets. Pure.
 */
#include "model/vault.h"

#include <string.h>
#include <strings.h>

bool vault_uses_roles(const json_t *properties)
{
    return json_is_true(json_object_get(properties, "enableRbacAuthorization"));
}

static bool is_for(const json_t *policy, const char *object_id)
{
    const char *id = json_string_value(json_object_get(policy, "objectId"));
    return id && strcasecmp(id, object_id) == 0 && !json_object_get(policy, "applicationId");
}

bool vault_policy_allows(const json_t *properties, const char *object_id, const char *permission)
{
    const json_t *policy, *name;
    size_t i, k;
    json_array_foreach(json_object_get(properties, "accessPolicies"), i, policy) {
        const json_t *list = json_object_get(json_object_get(policy, "permissions"), "secrets");
        json_array_foreach(is_for(policy, object_id) ? list : NULL, k, name) {
            const char *text = json_string_value(name);
            if (text && (strcasecmp(text, "all") == 0 || strcasecmp(text, permission) == 0))
                return true;
        }
    }
    return false;
}

bool secret_url_parse(struct arena *a, const char *url, struct secret_url *out)
{
    const char *host = strstr(url, "://");
    if (!host)
        return false;
    host += strlen("://");
    size_t authority = strcspn(host, "/?#"), label = strcspn(host, ".:/?#@");
    const char *path = host + authority;
    if (label == 0 || host[label] != '.' || strncasecmp(path, "/secrets/", 9) != 0)
        return false;
    const char *name = path + 9;
    size_t n = strcspn(name, "/?#");
    const char *version = name[n] == '/' ? name + n + 1 : name + n;
    size_t m = strcspn(version, "/?#");
    if (n == 0 || strcspn(version + m, "?#") > (version[m] == '/'))
        return false;
    out->vault = arena_strndup(a, host, label);
    out->name = arena_strndup(a, name, n);
    out->version = m > 0 ? arena_strndup(a, version, m) : NULL;
    return true;
}
