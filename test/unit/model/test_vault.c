/* SPDX-License-Identifier: MIT
 *
 * URLs of secrets, and what access policies allow.
 */
#include "model/vault.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

static const struct {
    const char *url, *vault, *name, *version; /* vault NULL: no URL of a secret */
} urls[] = {
    {"https://v.vault.azure.net/secrets/n", "v", "n", NULL},
    {"https://v.vault.azure.net/secrets/n/", "v", "n", NULL},
    {"https://V-1.vault.localhost:7443/secrets/N/0a", "V-1", "N", "0a"},
    {"http://v.x:1/SECRETS/n?api-version=7.0", "v", "n", NULL},
    {"https://v.x/secrets/n/0a#x", "v", "n", "0a"},
    {"https://v.x/secrets/n/0a/", "v", "n", "0a"},
    {"https://v.x/secrets/n/0a/more", NULL, NULL, NULL},
    {"https://v.x/secrets/", NULL, NULL, NULL},
    {"https://v.x/secrets", NULL, NULL, NULL},
    {"https://v.x/secrets//0a", NULL, NULL, NULL},
    {"https://v.x/keys/n", NULL, NULL, NULL},
    {"https://v/secrets/n", NULL, NULL, NULL},
    {"https://.x/secrets/n", NULL, NULL, NULL},
    {"https:///secrets/n", NULL, NULL, NULL},
    {"https://me@v.x/secrets/n", NULL, NULL, NULL},
    {"https://", NULL, NULL, NULL},
    {"v.x/secrets/n", NULL, NULL, NULL},
    {"", NULL, NULL, NULL},
};

static void same(const char *is, const char *wanted)
{
    if (wanted)
        assert_string_equal(is, wanted);
    else
        assert_null(is);
}

ARENA_TEST(test_urls)
{
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        struct secret_url got = {0};
        bool is = secret_url_parse(a, urls[i].url, &got);
        if (is != (urls[i].vault != NULL))
            fail_msg("%s: %s", urls[i].url, is ? "taken" : "refused");
        same(got.vault, urls[i].vault);
        same(got.name, urls[i].name);
        same(got.version, urls[i].version);
    }
}

TEST(test_policies)
{
    json_auto_t *p = json_pack(
        "{s:[{s:s, s:{s:[s, s]}}, {s:s, s:{s:[s]}}, {s:s, s:s, s:{s:[s]}}, {s:s}, i, {s:{}}]}",
        "accessPolicies", "objectId", "one", "permissions", "secrets", "Get", "list", "objectId",
        "two", "permissions", "secrets", "ALL", "objectId", "three", "applicationId", "x",
        "permissions", "secrets", "all", "objectId", "four", 5, "permissions");
    assert_non_null(p);
    assert_true(vault_policy_allows(p, "ONE", "get"));
    assert_false(vault_policy_allows(p, "one", "set"));
    assert_true(vault_policy_allows(p, "two", "purge"));
    assert_false(vault_policy_allows(p, "three", "get"));
    assert_false(vault_policy_allows(p, "four", "get"));
    assert_false(vault_policy_allows(p, "", "get"));
    assert_false(vault_policy_allows(NULL, "one", "get"));
    assert_false(vault_uses_roles(p));
    json_object_set_new(p, "enableRbacAuthorization", json_true());
    assert_true(vault_uses_roles(p));
}
