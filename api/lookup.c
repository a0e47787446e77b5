/* SPDX-License-Identifier: MIT */
#include "api/lookup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "storage/storage.h"

#define NAME_MAX_LEN 64

/* What a getter's answer means: found, missing (with this error), failed. */
static int found(int rc, enum err_code code, const char *fmt_kind, const char *name, struct err *e)
{
    if (rc > 0)
        return 0;
    if (rc < 0)
        return -1;
    return err_set(e, code, NULL, "The specified %s %.200s is not found", fmt_kind, name);
}

int find_subscription(struct request *r, struct err *e)
{
    const char *s = request_param(r, "subscription");
    if (strcasecmp(s, r->config->subscription_id) == 0)
        return 0;
    return err_set(e, ERR_SUBSCRIPTION_NOT_FOUND, NULL,
                   "The subscription '%.100s' could not be found.", s);
}

int find_group(struct request *r, struct resource_group *g, struct err *e)
{
    if (find_subscription(r, e) < 0)
        return -1;
    const char *name = request_param(r, "group");
    int rc = st_group_get(r->config->storage, &r->arena, r->config->subscription_id, name, g, e);
    if (rc == 0)
        return err_set(e, ERR_GROUP_NOT_FOUND, NULL, "Resource group '%.100s' could not be found.",
                       name);
    return rc < 0 ? -1 : 0;
}

int find_workspace(struct request *r, struct workspace *w, struct err *e)
{
    struct resource_group g;
    if (find_group(r, &g, e) < 0)
        return -1;
    const char *name = request_param(r, "workspace");
    return found(st_workspace_get(r->config->storage, &r->arena, g.id, name, w, e),
                 ERR_WORKSPACE_NOT_FOUND, "workspace", name, e);
}

int find_experiment(struct request *r, struct experiment *x, struct err *e)
{
    struct workspace w;
    if (find_workspace(r, &w, e) < 0)
        return -1;
    const char *name = request_param(r, "experiment");
    return found(st_experiment_get(r->config->storage, &r->arena, w.id, name, x, e),
                 ERR_EXPERIMENT_NOT_FOUND, "experiment", name, e);
}

int find_cluster(struct request *r, struct cluster *c, struct err *e)
{
    struct workspace w;
    if (find_workspace(r, &w, e) < 0)
        return -1;
    const char *name = request_param(r, "cluster");
    return found(st_cluster_get(r->config->storage, &r->arena, w.id, name, c, e),
                 ERR_CLUSTER_NOT_FOUND, "cluster", name, e);
}

int find_file_server(struct request *r, struct file_server *f, struct err *e)
{
    struct workspace w;
    if (find_workspace(r, &w, e) < 0)
        return -1;
    const char *name = request_param(r, "fileServer");
    return found(st_file_server_get(r->config->storage, &r->arena, w.id, name, f, e),
                 ERR_FILE_SERVER_NOT_FOUND, "file server", name, e);
}

/* Jobs are asked for most: one query finds them. Only if there is none are the levels above walked,
 * for the error of the first that is missing. */
int find_job(struct request *r, struct job *j, struct err *e)
{
    if (find_subscription(r, e) < 0)
        return -1;
    const struct scope scope = {.subscription = r->config->subscription_id,
                                .group = request_param(r, "group"),
                                .workspace = request_param(r, "workspace"),
                                .experiment = request_param(r, "experiment")};
    const char *name = request_param(r, "job");
    int rc = st_job_find(r->config->storage, &r->arena, &scope, name, j, e);
    struct experiment x;
    if (rc == 0 && find_experiment(r, &x, e) < 0)
        return -1;
    return found(rc, ERR_JOB_NOT_FOUND, "job", name, e);
}

/* Takes "/literal/VALUE" off *p; NULL if it does not start so. */
static const char *take(struct request *r, const char **p, const char *literal)
{
    size_t n = strlen(literal);
    if (**p != '/' || strncasecmp(*p + 1, literal, n) != 0 || (*p)[1 + n] != '/')
        return NULL;
    const char *value = *p + n + 2;
    size_t len = strcspn(value, "/");
    *p = value + len;
    return len ? arena_strndup(&r->arena, value, len) : NULL;
}

static int cluster_in(struct request *r, const char *group, const char *workspace, const char *name,
                      struct cluster *c, struct err *e)
{
    struct storage *st = r->config->storage;
    struct resource_group g;
    struct workspace w;
    int rc = st_group_get(st, &r->arena, r->config->subscription_id, group, &g, e);
    if (rc > 0)
        rc = st_workspace_get(st, &r->arena, g.id, workspace, &w, e);
    if (rc > 0)
        rc = st_cluster_get(st, &r->arena, w.id, name, c, e);
    if (rc == 0)
        return err_set(e, ERR_CLUSTER_NOT_FOUND, "properties.cluster.id",
                       "The specified cluster %.100s is not found (resource group %.100s, "
                       "workspace %.100s)",
                       name, group, workspace);
    return rc < 0 ? -1 : 0;
}

int find_cluster_by_ref(struct request *r, const char *id, struct cluster *c, struct err *e)
{
    const char *p = id;
    const char *sub = take(r, &p, "subscriptions");
    const char *group = sub ? take(r, &p, "resourceGroups") : NULL;
    const char *provider = group ? take(r, &p, "providers") : NULL;
    const char *workspace = provider ? take(r, &p, "workspaces") : NULL;
    const char *name = workspace ? take(r, &p, "clusters") : NULL;
    if (!name || *p || strcasecmp(provider, "Microsoft.BatchAI") != 0)
        return err_set(e, ERR_INVALID_PROPERTY, "properties.cluster.id",
                       "properties.cluster.id is '%.400s'; it must be the id of a cluster: "
                       "/subscriptions/{id}/resourceGroups/{group}/providers/Microsoft.BatchAI/"
                       "workspaces/{workspace}/clusters/{cluster}.",
                       id);
    if (strcasecmp(sub, r->config->subscription_id) != 0)
        return err_set(e, ERR_SUBSCRIPTION_NOT_FOUND, "properties.cluster.id",
                       "The subscription '%.100s' could not be found.", sub);
    return cluster_in(r, group, workspace, name, c, e);
}

int check_name(const char *what, const char *name, struct err *e)
{
    size_t n = strlen(name);
    bool ok = n >= 1 && n <= NAME_MAX_LEN;
    for (const char *p = name; ok && *p; p++)
        ok = isalnum((unsigned char)*p) || *p == '-' || *p == '_';
    if (ok)
        return 0;
    return err_set(e, ERR_INVALID_NAME, NULL,
                   "The %s name '%.100s' is invalid: it must be 1 to %d letters, digits, dashes "
                   "and underscores.",
                   what, name, NAME_MAX_LEN);
}

int check_alive(const char *what, const char *name, enum prov_state state, struct err *e)
{
    if (state != PROV_DELETING)
        return 0;
    return err_set(e, ERR_BEING_DELETED, NULL,
                   "The %s %.100s is being deleted; wait until the deletion has finished.", what,
                   name);
}

const char *region_name(struct arena *a, const char *location)
{
    char *out = arena_strdup(a, location ? location : "local"), *w = out;
    for (char *p = out; *p; p++)
        if (*p != ' ')
            *w++ = (char)tolower((unsigned char)*p);
    *w = '\0';
    return out;
}

bool same_region(struct arena *a, const char *one, const char *other)
{
    return strcmp(region_name(a, one), region_name(a, other)) == 0;
}
