/* SPDX-License-Identifier: MIT
 *
 * Secrets that specs refer to: every place that may have a reference gets the value, and a refusal
 * says where the reference stands.
 */
#include "scheduler/fleet/node/secret_refs.h"
#include "world.h"

#define BATCH_AI "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"
#define URL      "https://safe.vault.azure.net/secrets/key"

static void add_vault(struct world *w, const char *doc)
{
    struct err e = {0};
    int64_t vault, secret;
    const struct vault v = {.group_id = w->group,
                            .subscription = "sub",
                            .group = "rg",
                            .name = "Safe",
                            .location = "here",
                            .doc = doc,
                            .retention_us = 1};
    ok(st_vault_insert(w->st, &v, &vault, &e), &e);
    const struct secret s = {.vault_id = vault, .name = "Key"};
    ok(st_secret_insert(w->st, &s, &secret, &e), &e);
    const struct secret_version x = {.secret_id = secret, .version = "0a", .enabled = true};
    ok(st_secret_version_insert(w->st, &x, "sesame", NULL, &e), &e);
}

/* One that has references of all kinds. */
struct referring {
    struct container_spec container;
    struct mount_volume mounts[2];
    struct kv env[2];
    struct run_spec job;
};

static void fill(struct referring *r)
{
    *r = (struct referring){
        .container = {.user = "me", .secret_ref = URL},
        .mounts = {{.relative_path = "plain", .key = "given"},
                   {.relative_path = "referring", .secret_ref = URL}},
        .env = {{.name = "A", .value = "plain"},
                {.name = "B", .is_secret = true, .secret_ref = URL}},
    };
    r->job = (struct run_spec){
        .container = &r->container, .mounts = {r->mounts, 2}, .env = r->env, .n_env = 2};
}

static struct secret_reader reader_of(struct world *w, int64_t cluster)
{
    return (struct secret_reader){
        .front = &w->front.front, .st = w->st, .a = &w->a, .pool_id = cluster};
}

WORLD_TEST(test_every_reference_gets_its_value, world_new(1))
{
    struct referring r;
    struct failure why;
    struct secret_reader reader = reader_of(w, add_cluster_of(w, "c", 0));
    add_vault(w, "{\"properties\": {\"accessPolicies\": [{\"objectId\": \"" BATCH_AI
                 "\", \"permissions\": {\"secrets\": [\"get\"]}}]}}");
    fill(&r);
    reader.only_look = true;
    assert_true(secret_refs_of_run(&reader, &r.job, &why));
    assert_null(r.container.password);
    assert_null(r.mounts[1].key);
    assert_null(r.env[1].value);
    reader.only_look = false;
    assert_true(secret_refs_of_run(&reader, &r.job, &why));
    assert_string_equal(r.container.password, "sesame");
    assert_string_equal(r.mounts[0].key, "given");
    assert_string_equal(r.mounts[1].key, "sesame");
    assert_string_equal(r.env[0].value, "plain");
    assert_string_equal(r.env[1].value, "sesame");
    fill(&r);
    struct setup_task_spec task = {.env = r.env, .n_env = 2};
    struct node_setup_spec setup = {.mounts = {r.mounts, 2}, .setup_task = &task};
    assert_true(secret_refs_of_pool(&reader, &setup, &why));
    assert_string_equal(r.mounts[1].key, "sesame");
    assert_string_equal(r.env[1].value, "sesame");
}

static void refused(const struct secret_reader *reader, struct referring *r, const char *where,
                    const char *remedy)
{
    struct failure why;
    assert_false(secret_refs_of_run(reader, &r->job, &why));
    assert_int_equal(why.code, FAIL_SECRET_NOT_READ);
    if (!strstr(why.message, where) || !strstr(why.message, URL) || !strstr(why.remedy, remedy))
        fail_msg("%s; %s", why.message, why.remedy);
}

WORLD_TEST(test_a_refusal_says_where, world_new(1))
{
    struct referring r;
    const struct secret_reader reader = reader_of(w, add_cluster_of(w, "c", 0));
    fill(&r);
    refused(&reader, &r, "registry", "az keyvault create -n safe");
    add_vault(w, "{\"properties\": {\"enableRbacAuthorization\": true}}");
    r.job.container = NULL;
    refused(&reader, &r, "referring", "az keyvault set-policy -n Safe");
    r.job.mounts.n = 1;
    refused(&reader, &r, ": B ", BATCH_AI);
    r.job.n_env = 1;
    struct failure why;
    assert_true(secret_refs_of_run(&reader, &r.job, &why));
}

static bool has_role(void *ctx, const char *object_id, const struct vault *v, const char *secret)
{
    assert_string_equal(secret, "key");
    return strcmp(v->name, "Safe") == 0 && strcmp(object_id, ctx) == 0;
}

WORLD_TEST(test_where_roles_count_they_are_asked_for, world_new(1))
{
    struct referring r;
    struct failure why;
    const struct secret_reader reader = reader_of(w, add_cluster_of(w, "c", 0));
    add_vault(w, "{\"properties\": {\"enableRbacAuthorization\": true, \"accessPolicies\": "
                 "[{\"objectId\": \"" BATCH_AI "\", \"permissions\": {\"secrets\": [\"get\"]}}]}}");
    fill(&r);
    assert_false(secret_refs_of_run(&reader, &r.job, &why)); /* a policy does not count */
    char who[] = BATCH_AI;
    w->front.roles = (struct batchai_roles){.read_secrets = has_role, .ctx = who};
    assert_true(secret_refs_of_run(&reader, &r.job, &why));
    who[0] = '0';
    assert_false(secret_refs_of_run(&reader, &r.job, &why));
}
