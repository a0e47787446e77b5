/* SPDX-License-Identifier: MIT
 *
 * The published examples: requests are accepted, replies are stable, nothing secret comes back.
 * Skipped where the published specs are not at hand (BATCHAID_SPEC_DIR, default ../shared/spec).
 */
#include <unistd.h>

#include "model/schema.h"
#include "test/unit/model/doc.h"
#include "test/unit/support/skip.h"

static const struct example {
    const char *file;
    const struct schema *s;
    const char *status; /* of the reply that has a body */
} examples[] = {
    {"PutWorkspace", &schema_workspace, "200"},
    {"PutExperiment", &schema_experiment, "200"},
    {"PutCluster", &schema_cluster, "200"},
    {"PutFileServer", &schema_file_server, "200"},
    {"PutJob", &schema_job, "200"},
    {"PatchCluster", &schema_cluster_update, NULL},
    {"PatchWorkspace", &schema_workspace_update, NULL},
    {"GetWorkspace", &schema_workspace, "200"},
    {"GetExperiment", &schema_experiment, "200"},
    {"GetCluster", &schema_cluster, "200"},
    {"GetFileServer", &schema_file_server, "200"},
    {"GetJob", &schema_job, "200"},
};
static const char *const folders[] = {"2018-05-01", "2018-05-01-june"};

static const char *spec_dir(void)
{
    const char *dir = getenv("BATCHAID_SPEC_DIR");
    return dir && *dir ? dir : "../shared/spec";
}

static json_t *load(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/examples/%s.json", spec_dir(), folder, name);
    return access(path, R_OK) == 0 ? json_load_file(path, 0, NULL) : NULL;
}

/* No string of a secret may occur in what is rendered. */
static void assert_silent(const json_t *rendered, const json_t *secrets)
{
    FREED char *text = json_dumps(rendered, 0);
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)secrets, path, value)
        assert_null(strstr(text, json_string_value(value)));
}

static void check_request(const struct example *x, const json_t *example)
{
    json_t *parameters = json_object_get(example, "parameters");
    json_t *body = json_object_get(parameters, "parameters"), *empty = json_object();
    json_t *doc, *secrets;
    struct err e = {0};
    if (strncmp(x->file, "Get", 3) != 0) {
        if (schema_accept(x->s, V_2018_05_01, body ? body : empty, &doc, &secrets, &e) < 0)
            fail_msg("%s was refused: %s", x->file, e.msg);
        json_auto_t *once = doc_render(x->s, V_2018_05_01, doc);
        json_auto_t *twice = doc_render(x->s, V_2018_05_01, once);
        assert_true(json_equal(once, twice));
        assert_silent(once, secrets);
        json_decref(doc);
        json_decref(secrets);
    }
    json_decref(empty);
}

/* A published reply passes through the tables with nothing lost; its order becomes ours. What only
 * June's replies had is left out: location of clusters and file servers, priority of jobs. */
static void check_reply(const struct example *x, json_t *example)
{
    json_t *reply = json_object_get(json_object_get(example, "responses"), x->status);
    json_t *body = json_object_get(reply, "body");
    if (!body)
        return;
    if (x->s != &schema_workspace) {
        json_object_del(body, "location");
        json_object_del(body, "tags");
        json_object_del(json_object_get(body, "properties"), "priority");
    }
    json_auto_t *out = doc_render(x->s, V_2018_05_01, body);
    if (!json_equal(out, body)) {
        char *got = json_dumps(out, 0), *want = json_dumps(body, 0);
        fail_msg("%s: rendered %s\nexample %s", x->file, got, want);
    }
}

TEST(published_examples)
{
    int seen = 0;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
            json_auto_t *example = load(folders[f], examples[i].file);
            if (!example)
                continue;
            seen++;
            check_request(&examples[i], example);
            if (examples[i].status)
                check_reply(&examples[i], example);
        }
    if (seen == 0)
        skip_because("the published examples are not here");
    assert_true(seen >= 20);
}
