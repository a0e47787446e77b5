/* SPDX-License-Identifier: MIT
 *
 * Clusters' node setup and jobs, decoded; and the path segments that are made from their names.
 */
#include <ctype.h>
#include <string.h>

#include "model/home.h"
#include "model/spec_priv.h"

static const char *lower(struct arena *a, const char *s)
{
    char *copy = arena_strdup(a, s ? s : "");
    for (char *p = copy; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return copy;
}

const char *job_path_segment(struct arena *a, const struct job *j)
{
    if (home_has(&j->scope))
        return arena_printf(a, "%s/%s/jobs/%s/%s", lower(a, j->scope.subscription),
                            lower(a, j->scope.group), j->name, j->guid);
    return arena_printf(a, "%s/%s/workspaces/%s/experiments/%s/jobs/%s/%s",
                        lower(a, j->scope.subscription), lower(a, j->scope.group),
                        j->scope.workspace, j->scope.experiment, j->name, j->guid);
}

const char *cluster_path_segment(struct arena *a, const struct cluster *c)
{
    if (home_has(&c->scope))
        return arena_printf(a, "%s/%s/clusters/%s/%s", lower(a, c->scope.subscription),
                            lower(a, c->scope.group), c->name, c->guid);
    return arena_printf(a, "%s/%s/workspaces/%s/clusters/%s/%s", lower(a, c->scope.subscription),
                        lower(a, c->scope.group), c->scope.workspace, c->name, c->guid);
}

static struct setup_task_spec *decode_setup_task(struct arena *a, const json_t *task,
                                                 const struct cluster *c)
{
    if (!task)
        return NULL;
    struct setup_task_spec *s = arena_alloc(a, sizeof *s);
    s->command_line = spec_string(a, task, "commandLine");
    s->std_prefix = spec_string(a, task, "stdOutErrPathPrefix");
    s->std_suffix = cluster_path_segment(a, c);
    spec_env(a, task, &s->env, &s->n_env);
    return s;
}

/* As people take it from a file: its last line end is no part of it. */
static const char *without_line_end(struct arena *a, const char *line)
{
    return line ? arena_strndup(a, line, strcspn(line, "\r\n")) : NULL;
}

static struct admin_user_spec decode_admin(struct arena *a, const json_t *account)
{
    return (struct admin_user_spec){
        .name = spec_string(a, account, "adminUserName"),
        .ssh_public_key = without_line_end(a, spec_string(a, account, "adminUserSshPublicKey")),
        .password = spec_string(a, account, "adminUserPassword"),
    };
}

int node_setup_decode(struct arena *a, const struct cluster *c, const char *secrets,
                      struct node_setup_spec *out, struct err *e)
{
    struct opened o;
    *out = (struct node_setup_spec){0};
    if (spec_open(c->doc, secrets, &o, e) < 0)
        return err_prefix(e, "cluster %s", c->name);
    const json_t *setup = json_object_get(o.properties, "nodeSetup");
    spec_mounts(a, json_object_get(setup, "mountVolumes"), &out->mounts);
    out->setup_task = decode_setup_task(a, json_object_get(setup, "setupTask"), c);
    out->admin = decode_admin(a, json_object_get(o.properties, "userAccountSettings"));
    spec_close(&o);
    return 0;
}

/* Only these two toolkits have a command line of their own. */
static const char *command_line(struct arena *a, const json_t *properties)
{
    const json_t *custom = json_object_get(properties, "customToolkitSettings");
    const json_t *mpi = json_object_get(properties, "customMpiSettings");
    return spec_string(a, custom ? custom : mpi, "commandLine");
}

static void decode_directories(struct arena *a, const json_t *list, const char *path_name,
                               struct directory_spec **out, size_t *n)
{
    *n = json_array_size(list);
    *out = *n ? arena_alloc(a, *n * sizeof **out) : NULL;
    for (size_t i = 0; i < *n; i++) {
        const json_t *item = json_array_get(list, i);
        (*out)[i] = (struct directory_spec){
            .id = spec_string(a, item, "id"),
            .path = spec_string(a, item, path_name),
            .suffix = spec_string(a, item, "pathSuffix"),
            .as_is = json_is_false(json_object_get(item, "createNew")),
        };
    }
}

/* "https://registry.example.com/" names a registry as "registry.example.com" does. */
static const char *server_name(struct arena *a, const char *url)
{
    if (!url || !*url)
        return NULL;
    const char *scheme = strstr(url, "://");
    const char *name = scheme ? scheme + 3 : url;
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] == '/')
        n--;
    return n ? arena_strndup(a, name, n) : NULL;
}

static struct container_spec *decode_container(struct arena *a, const json_t *container)
{
    const json_t *registry = json_object_get(container, "imageSourceRegistry");
    const json_t *credentials = json_object_get(registry, "credentials");
    const json_t *reference = json_object_get(credentials, "passwordSecretReference");
    struct container_spec *c = arena_alloc(a, sizeof *c);
    *c = (struct container_spec){
        .image = spec_string(a, registry, "image"),
        .server = server_name(a, json_string_value(json_object_get(registry, "serverUrl"))),
        .user = spec_string(a, credentials, "username"),
        .password = spec_string(a, credentials, "password"),
        .secret_ref = spec_string(a, reference, "secretUrl"),
        .shm_size = spec_string(a, container, "shmSize"),
    };
    return c;
}

static void decode_job(struct arena *a, const json_t *p, struct job_spec *out)
{
    const json_t *preparation = json_object_get(p, "jobPreparation");
    const json_t *container = json_object_get(p, "containerSettings");
    const char *tool = json_string_value(json_object_get(p, "toolType"));
    out->tool = (enum tool_type)enum_from_name(tool_type_names, tool);
    out->command_line = command_line(a, p);
    out->node_count = (int)json_integer_value(json_object_get(p, "nodeCount"));
    out->prep_command_line = spec_string(a, preparation, "commandLine");
    out->container = container ? decode_container(a, container) : NULL;
    out->std_prefix = spec_string(a, p, "stdOutErrPathPrefix");
    spec_env(a, p, &out->env, &out->n_env);
    spec_mounts(a, json_object_get(p, "mountVolumes"), &out->mounts);
    spec_mounts(a, json_object_get(p, JOB_DOC_CLUSTER_MOUNTS), &out->cluster_mounts);
    decode_directories(a, json_object_get(p, "inputDirectories"), "path", &out->inputs,
                       &out->n_inputs);
    decode_directories(a, json_object_get(p, "outputDirectories"), "pathPrefix", &out->outputs,
                       &out->n_outputs);
}

int job_spec_decode(struct arena *a, const struct job *j, const char *secrets, struct job_spec *out,
                    struct err *e)
{
    struct opened o;
    *out = (struct job_spec){0};
    if (spec_open(j->doc, secrets, &o, e) < 0)
        return err_prefix(e, "job %s", j->name);
    decode_job(a, o.properties, out);
    out->segment = job_path_segment(a, j);
    const json_t *constraints = json_object_get(o.properties, "constraints");
    const char *wall = json_string_value(json_object_get(constraints, "maxWallClockTime"));
    int rc = 0;
    if (!out->tool || !wall || duration_parse(wall, &out->max_wall_us) < 0) {
        job_spec_wipe(out);
        rc = err_set(e, ERR_INTERNAL, NULL,
                     "job %s: the stored document lacks toolType or constraints", j->name);
    }
    spec_close(&o);
    return rc;
}

void job_spec_wipe(struct job_spec *s)
{
    spec_wipe_env(s->env, s->n_env);
    spec_wipe_mounts(&s->mounts);
    if (s->container)
        spec_wipe_string(s->container->password);
}

void node_setup_wipe(struct node_setup_spec *s)
{
    if (s->setup_task)
        spec_wipe_env(s->setup_task->env, s->setup_task->n_env);
    spec_wipe_mounts(&s->mounts);
    spec_wipe_string(s->admin.password);
}
