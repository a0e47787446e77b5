/* SPDX-License-Identifier: MIT
 *
 * Finds rows by the path. Requests of versions without workspaces search the home workspace of the
 * group (model/home.h); for a missing resource they get the error that ARM itself would send.
 */
#include "api/arm/batchai/lookup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/arm/batchai/render.h"
#include "api/arm/errors.h"
#include "api/arm/may.h"
#include "model/home.h"
#include "storage/storage.h"

#define NAME_MAX_LEN 64

/* What errors about a missing resource of one kind contain. */
struct missing_kind {
    const char *what, *type;
    enum err_code missing;
};

static const struct missing_kind workspaces = {"workspace", "workspaces", ERR_WORKSPACE_NOT_FOUND};
static const struct missing_kind experiments = {"experiment", "experiments",
                                                ERR_EXPERIMENT_NOT_FOUND};
static const struct missing_kind clusters = {"cluster", "clusters", ERR_CLUSTER_NOT_FOUND};
static const struct missing_kind file_servers = {"file server", "fileServers",
                                                 ERR_FILE_SERVER_NOT_FOUND};
static const struct missing_kind jobs = {"job", "jobs", ERR_JOB_NOT_FOUND};

/* Turns the result `rc` of a read (1, 0, -1) into 0, or -1 with an error if the row is missing. In
 * the versions without workspaces the error is that of ARM itself. */
static int found(struct request *r, int rc, const struct missing_kind *k, const char *name,
                 struct err *e)
{
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (request_is_flat(r))
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                       "The Resource 'Microsoft.BatchAI/%s/%.200s' under resource group '%.100s' "
                       "was not found.",
                       k->type, name, request_param(r, "group"));
    return err_set(e, k->missing, NULL, "The specified %s %.200s is not found", k->what, name);
}

static int named_workspace(struct request *r, const char *name, struct workspace *w, struct err *e)
{
    struct resource_group g;
    if (find_group(r, &g, e) < 0)
        return -1;
    return st_workspace_get(arm_of(r)->storage, &r->arena, g.id, name, w, e);
}

int find_workspace(struct request *r, struct workspace *w, struct err *e)
{
    const char *name = request_param(r, "workspace");
    return found(r, named_workspace(r, name, w, e), &workspaces, name, e);
}

/* One query finds the experiment. Only if it finds none, the parents are read one by one, so that
 * the error names the first missing parent. find_job() does the same. */
int find_experiment(struct request *r, struct experiment *x, struct err *e)
{
    if (find_subscription(r, e) < 0)
        return -1;
    const struct scope scope = {.subscription = arm_subscription(r),
                                .group = request_param(r, "group"),
                                .workspace = request_param(r, "workspace")};
    const char *name = request_param(r, "experiment");
    int rc = st_experiment_find(arm_of(r)->storage, &r->arena, &scope, name, x, e);
    struct workspace w;
    if (rc == 0 && find_workspace(r, &w, e) < 0)
        return -1;
    return found(r, rc, &experiments, name, e);
}

/* Read the parent of a cluster, file server or job, for paths with and without workspaces: 1; 0:
 * the home of the versions without workspaces does not exist, so its lists are empty; -1: err. */
int seek_workspace(struct request *r, struct workspace *w, struct err *e)
{
    if (request_is_flat(r))
        return named_workspace(r, HOME_WORKSPACE, w, e);
    return find_workspace(r, w, e) < 0 ? -1 : 1;
}

int seek_experiment(struct request *r, struct experiment *x, struct err *e)
{
    struct workspace w;
    if (!request_is_flat(r))
        return find_experiment(r, x, e) < 0 ? -1 : 1;
    int rc = named_workspace(r, HOME_WORKSPACE, &w, e);
    return rc <= 0 ? rc
                   : st_experiment_get(arm_of(r)->storage, &r->arena, w.id, HOME_EXPERIMENT, x, e);
}

/* In versions without workspaces, sets the location, which links of operations contain. */
static void set_location(struct request *r, const char *doc, struct scope *s)
{
    if (!request_is_flat(r))
        return;
    json_auto_t *o = json_loads(doc, 0, NULL);
    const char *location = json_string_value(json_object_get(o, "location"));
    if (location)
        s->location = arena_strdup(&r->arena, location);
}

int find_cluster(struct request *r, struct cluster *c, struct err *e)
{
    struct workspace w;
    const char *name = request_param(r, "cluster");
    int rc = seek_workspace(r, &w, e);
    if (rc > 0)
        rc = st_cluster_get(arm_of(r)->storage, &r->arena, w.id, name, c, e);
    if (rc > 0)
        set_location(r, c->doc, &c->scope);
    return found(r, rc, &clusters, name, e);
}

int find_file_server(struct request *r, struct file_server *f, struct err *e)
{
    struct workspace w;
    const char *name = request_param(r, "fileServer");
    int rc = seek_workspace(r, &w, e);
    if (rc > 0)
        rc = st_file_server_get(arm_of(r)->storage, &r->arena, w.id, name, f, e);
    if (rc > 0)
        set_location(r, f->doc, &f->scope);
    return found(r, rc, &file_servers, name, e);
}

int find_job(struct request *r, struct job *j, struct err *e)
{
    bool flat = request_is_flat(r);
    if (find_subscription(r, e) < 0)
        return -1;
    const struct scope scope = {.subscription = arm_subscription(r),
                                .group = request_param(r, "group"),
                                .workspace = flat ? HOME_WORKSPACE : request_param(r, "workspace"),
                                .experiment =
                                    flat ? HOME_EXPERIMENT : request_param(r, "experiment")};
    const char *name = request_param(r, "job");
    int rc = st_job_find(arm_of(r)->storage, &r->arena, &scope, name, j, e);
    struct experiment x;
    if (rc == 0 && seek_experiment(r, &x, e) < 0)
        return -1;
    return found(r, rc, &jobs, name, e);
}

/* Reads "/literal/VALUE" at *p, moves *p after it and returns VALUE. NULL: *p begins with something
 * else. */
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
    const struct scope scope = {
        .subscription = arm_subscription(r), .group = group, .workspace = workspace};
    if (arm_check_linked(r, "Microsoft.BatchAI/workspaces/clusters/read",
                         render_id(r, &scope, "clusters", name), e) < 0)
        return -1;
    int rc = st_cluster_find(arm_of(r)->storage, &r->arena, &scope, name, c, e);
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
    if (strcasecmp(sub, arm_subscription(r)) != 0)
        return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "properties.cluster.id",
                       "The subscription '%.100s' could not be found.", sub);
    return cluster_in(r, group, workspace, name, c, e);
}

int check_name(const struct request *r, const char *what, const char *name, struct err *e)
{
    size_t n = strlen(name);
    bool dots = request_is_flat(r); /* old versions allow dots, but not in front */
    bool ok = n >= 1 && n <= NAME_MAX_LEN && name[0] != '.';
    for (const char *p = name; ok && *p; p++)
        ok = isalnum((unsigned char)*p) || *p == '-' || *p == '_' || (dots && *p == '.');
    if (ok)
        return 0;
    return err_set(e, ERR_INVALID_NAME, NULL,
                   "The %s name '%.100s' is invalid: it must be 1 to %d letters, digits, dashes%s "
                   "and underscores%s.",
                   what, name, NAME_MAX_LEN, dots ? ", dots" : "",
                   dots ? ", and not begin with a dot" : "");
}

/* --- the creator --- */

/* 0: the error is about a missing row, which the handler will report; -1: it is not. */
static int none_if_missing(const struct err *e)
{
    switch (e->code) {
    case ERR_GROUP_NOT_FOUND:
    case ERR_RESOURCE_NOT_FOUND:
    case ERR_WORKSPACE_NOT_FOUND:
    case ERR_EXPERIMENT_NOT_FOUND:
    case ERR_JOB_NOT_FOUND:
    case ERR_OWN: /* the subscription does not exist */
        return 0;
    default:
        return e->code > ERR_OWN ? 0 : -1;
    }
}

static int maker_of_job(struct request *r, const char **who, struct err *e)
{
    struct job j;
    if (find_job(r, &j, e) < 0)
        return none_if_missing(e);
    *who = j.created_by;
    return 1;
}

static int maker_of_experiment(struct request *r, const char **who, struct err *e)
{
    struct experiment x;
    bool others = false;
    if (find_experiment(r, &x, e) < 0)
        return none_if_missing(e);
    if (strcmp(r->method, "DELETE") == 0 &&
        st_job_others(arm_of(r)->storage, x.id, r->who->object_id, &others, e) < 0)
        return -1;
    *who = others ? NULL : x.created_by;
    return 1;
}

int made_by(struct request *r, const char **who, struct err *e)
{
    if (!(r->route->versions & r->version))
        return 0; /* the api-version will be refused after this */
    if (strstr(r->route->path, "{job}"))
        return maker_of_job(r, who, e);
    if (strstr(r->route->path, "{experiment}"))
        return maker_of_experiment(r, who, e);
    return 1;
}
