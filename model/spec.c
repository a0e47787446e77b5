/* SPDX-License-Identifier: MIT
 *
 * Opens stored documents with their secrets, decodes the node setup of clusters and the documents
 * of jobs, and makes path segments from their names. schema_accept() checked the documents before
 * they were stored, so the decoders trust their structure, and an absent part is no error.
 */
#include <string.h>

#include "model/home.h"
#include "model/schema.h"
#include "model/spec_priv.h"

int spec_open(const char *doc, const char *secrets, struct opened *out, struct err *e)
{
    json_error_t why;
    *out = (struct opened){0};
    json_t *bare = json_loads(doc ? doc : "", 0, &why);
    if (!bare)
        return err_set(e, ERR_INTERNAL, NULL, "a stored document is not JSON: %s", why.text);
    if (secrets && !(out->secrets = json_loads(secrets, 0, &why))) {
        json_decref(bare);
        return err_set(e, ERR_INTERNAL, NULL, "stored secrets are not JSON");
    }
    schema_put_secrets(bare, out->secrets);
    out->doc = bare;
    return 0;
}

/* The string is in writable memory (the arena, or a document that is freed next). It is const only
 * so that readers do not change it. */
static void wipe_string(const char *s)
{
    if (s)
        explicit_bzero((char *)(uintptr_t)s, strlen(s));
}

void spec_close(struct opened *o)
{
    const char *path;
    json_t *value;
    json_object_foreach(o->secrets, path, value)
        wipe_string(json_string_value(value));
    json_decref(o->doc);
    json_decref(o->secrets);
    *o = (struct opened){0};
}

const char *job_path_segment(struct arena *a, const struct job *j)
{
    if (home_has(&j->scope))
        return arena_concat(a, arena_lower(a, j->scope.subscription), "/",
                            arena_lower(a, j->scope.group), "/jobs/", j->name, "/", j->guid);
    return arena_concat(a, arena_lower(a, j->scope.subscription), "/",
                        arena_lower(a, j->scope.group), "/workspaces/", j->scope.workspace,
                        "/experiments/", j->scope.experiment, "/jobs/", j->name, "/", j->guid);
}

static bool has_plain_output(const struct cluster *c)
{
    json_t *doc = c->doc ? json_loads(c->doc, 0, NULL) : NULL;
    bool plain =
        json_is_true(json_object_get(json_object_get(doc, "properties"), CLUSTER_DOC_PLAIN_OUTPUT));
    json_decref(doc);
    return plain;
}

const char *cluster_path_segment(struct arena *a, const struct cluster *c)
{
    if (home_has(&c->scope) && has_plain_output(c))
        return arena_printf(a, "%s/%s/clusters/%s", arena_lower(a, c->scope.subscription),
                            arena_lower(a, c->scope.group), c->name);
    if (home_has(&c->scope))
        return arena_printf(a, "%s/%s/clusters/%s/%s", arena_lower(a, c->scope.subscription),
                            arena_lower(a, c->scope.group), c->name, c->guid);
    return arena_printf(a, "%s/%s/workspaces/%s/clusters/%s/%s",
                        arena_lower(a, c->scope.subscription), arena_lower(a, c->scope.group),
                        c->scope.workspace, c->name, c->guid);
}

int node_setup_decode(struct arena *a, const struct cluster *c, const char *secrets,
                      struct node_setup_spec *out, struct err *e)
{
    struct opened o;
    struct cluster_spec spec = {0};
    if (spec_open(c->doc, secrets, &o, e) < 0)
        return err_prefix(e, "cluster %s", c->name);
    schema_decode(&schema_cluster, a, o.doc, &spec);
    spec_close(&o);
    *out = spec.setup;
    if (out->setup_task)
        out->setup_task->std_suffix = cluster_path_segment(a, c);
    return 0;
}

/* Replaces PUBLISHED_MOUNTS at the beginning of a path by the variable. */
static const char *mounts_by_name(struct arena *a, const char *path)
{
    size_t n = strlen(PUBLISHED_MOUNTS);
    bool written_out =
        path && strncmp(path, PUBLISHED_MOUNTS, n) == 0 && (path[n] == '/' || path[n] == '\0');
    return written_out ? arena_concat(a, "$AZ_BATCHAI_MOUNT_ROOT", path + n) : path;
}

int job_spec_decode(struct arena *a, const struct job *j, const char *secrets, struct run_spec *out,
                    struct err *e)
{
    struct opened o;
    *out = (struct run_spec){0};
    if (spec_open(j->doc, secrets, &o, e) < 0)
        return err_prefix(e, "job %s", j->name);
    schema_decode(&schema_job, a, o.doc, out);
    spec_close(&o);
    out->segment = job_path_segment(a, j);
    out->std_prefix = mounts_by_name(a, out->std_prefix);
    for (size_t i = 0; i < out->n_inputs; i++)
        out->inputs[i].path = mounts_by_name(a, out->inputs[i].path);
    for (size_t i = 0; i < out->n_outputs; i++)
        out->outputs[i].path = mounts_by_name(a, out->outputs[i].path);
    if (out->tool && out->max_wall_us > 0)
        return 0;
    run_spec_wipe(out);
    return err_set(e, ERR_INTERNAL, NULL,
                   "job %s: the stored document lacks toolType or constraints", j->name);
}

static void wipe_env(struct kv *env, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (env[i].is_secret)
            wipe_string(env[i].value);
}

static void wipe_mounts(struct mount_list *mounts)
{
    for (size_t i = 0; i < mounts->n; i++)
        wipe_string(mounts->items[i].key);
}

void run_spec_wipe(struct run_spec *s)
{
    wipe_env(s->env, s->n_env);
    wipe_mounts(&s->mounts);
    if (s->container)
        wipe_string(s->container->password);
}

static void wipe_user(const struct admin_user_spec *u)
{
    wipe_string(u->password);
    wipe_string(u->private_key);
}

void node_setup_wipe(struct node_setup_spec *s)
{
    if (s->setup_task)
        wipe_env(s->setup_task->env, s->setup_task->n_env);
    wipe_mounts(&s->mounts);
    wipe_user(&s->admin);
    for (size_t i = 0; i < s->n_users; i++)
        wipe_user(&s->users[i]);
    for (size_t i = 0; i < s->n_images; i++)
        wipe_string(s->images[i].password);
}
