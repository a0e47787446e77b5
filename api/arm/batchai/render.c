/* SPDX-License-Identifier: MIT */
#include "api/arm/batchai/render.h"

#include <string.h>

#include "api/arm/batchai/new_clusters.h"
#include "api/arm/batchai/wording.h"
#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

const char *render_id(struct request *r, const struct scope *s, const char *collection,
                      const char *name)
{
    return resource_id(&r->arena, "Microsoft.BatchAI", s, collection, name);
}

void reply_etag(struct request *r, int64_t updated_us)
{
    char when[TIMEFMT_SIZE];
    timefmt_http(updated_us, when);
    reply_header(r, "ETag", "\"0x%llX\"", (unsigned long long)time_to_ticks(updated_us));
    reply_header(r, "Last-Modified", "%s", when);
}

static void set_time(json_t *o, const char *key, int64_t us)
{
    char when[TIMEFMT_SIZE];
    if (us == 0)
        return;
    timefmt_wire(us, when);
    json_object_set_new_nocheck(o, key, json_string_nocheck(when));
}

static void set_text(json_t *o, const char *key, const char *s)
{
    if (s)
        json_object_set_new_nocheck(o, key, json_string_nocheck(s));
}

/* Adds stored JSON text; text that cannot be parsed (we never write such) is left out. */
static void set_json(json_t *o, const char *key, const char *text)
{
    json_t *v = text ? json_loads(text, 0, NULL) : NULL;
    if (v)
        json_object_set_new_nocheck(o, key, v);
}

/* Begins an object for the members that documents do not have, with id, name and type. *properties
 * is borrowed from it. */
static json_t *start(enum api_version v, const char *id, const char *name, const char *type,
                     json_t **properties)
{
    json_t *o = json_object();
    set_text(o, "id", id);
    set_text(o, "name", name);
    set_text(o, "type", word_type(v, type));
    *properties = json_object();
    json_object_set_new(o, "properties", *properties);
    return o;
}

static void finish(struct request *r, struct strbuf *out, const struct schema *s, const char *doc,
                   json_t *over)
{
    schema_render(out, s, r->version, doc, over);
    json_decref(over);
}

/* What is being created, or was until *prov_us, as far as its state says no more. */
static enum prov_state created(struct request *r, const struct scope *s, enum pace_step step,
                               enum prov_state state, int64_t created_us, int64_t *prov_us)
{
    int64_t made_us = created_us;
    if (state != PROV_SUCCEEDED || !pace_is_on(arm_pace(r), s->subscription))
        return state;
    bool goes_on = creation_look(r, s->subscription, step, &made_us);
    if (goes_on || *prov_us < made_us)
        *prov_us = made_us;
    return goes_on ? PROV_CREATING : state;
}

static void set_provisioning(json_t *p, enum prov_state state, int64_t prov_us, int64_t created_us)
{
    set_text(p, "provisioningState", enum_to_name(prov_state_names, (int)state));
    set_time(p, "provisioningStateTransitionTime", prov_us);
    set_time(p, "creationTime", created_us);
}

/* Resources made before locations were stored have their workspace's location. */
static void set_location(json_t *o, const json_t *doc, const struct scope *s)
{
    if (!json_object_get(doc, "location"))
        set_text(o, "location", s->location);
}

void render_workspace(struct request *r, const struct workspace *w, struct strbuf *out)
{
    json_t *p;
    json_t *o = start(r->version, render_id(r, &w->scope, "workspaces", w->name), w->name,
                      "Microsoft.BatchAI/workspaces", &p);
    set_text(o, "location", w->scope.location);
    set_json(o, "tags", w->tags);
    set_provisioning(p, w->prov_state, w->prov_us, w->created_us);
    finish(r, out, &schema_workspace, NULL, o);
}

void render_experiment(struct request *r, const struct experiment *x, struct strbuf *out)
{
    json_t *p;
    json_t *o = start(r->version, render_id(r, &x->scope, "experiments", x->name), x->name,
                      "Microsoft.BatchAI/workspaces/experiments", &p);
    set_provisioning(p, x->prov_state, x->prov_us, x->created_us);
    finish(r, out, &schema_experiment, NULL, o);
}

static json_t *node_state_counts(const struct node_counts *n)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i}", "runningNodeCount", n->running, "idleNodeCount",
                     n->idle, "unusableNodeCount", n->unusable, "preparingNodeCount", n->preparing,
                     "leavingNodeCount", n->leaving);
}

/* --- subnets -------------------------------------------------------------------------------- */

const char *own_subnet(const json_t *doc)
{
    const json_t *p = json_object_get(doc, "properties");
    return json_string_value(json_object_get(json_object_get(p, "subnet"), "id"));
}

const char *file_server_subnet(struct request *r, const struct file_server *f, const json_t *doc)
{
    const char *own = own_subnet(doc);
    if (own)
        return own;
    return arena_printf(&r->arena,
                        "/subscriptions/%s/resourceGroups/fileserverrg-%s/providers/"
                        "Microsoft.Network/virtualNetworks/%svnet/subnets/Subnet-1",
                        f->scope.subscription, f->guid, f->guid);
}

const char *cluster_subnet(struct request *r, const struct cluster *c, const json_t *doc)
{
    const char *own = own_subnet(doc);
    const json_t *setup = json_object_get(json_object_get(doc, "properties"), "nodeSetup");
    const json_t *mounts = json_object_get(json_object_get(setup, "mountVolumes"), "fileServers");
    const json_t *server = json_object_get(json_array_get(mounts, 0), "fileServer");
    const char *id = json_string_value(json_object_get(server, "id"));
    const char *name = id ? strrchr(id, '/') : NULL;
    struct file_server f;
    struct err e;
    if (own || !name ||
        st_file_server_get(arm_of(r)->storage, &r->arena, c->workspace_id, name + 1, &f, &e) <= 0)
        return own;
    json_auto_t *theirs = json_loads(f.doc, 0, NULL);
    const char *subnet = arena_strdup(&r->arena, file_server_subnet(r, &f, theirs));
    return subnet;
}

void forget_subnet(json_t *given, const char *subnet)
{
    const char *id = own_subnet(given);
    if (id && subnet && strcmp(id, subnet) == 0)
        json_object_del(json_object_get(given, "properties"), "subnet");
}

static void set_subnet(json_t *p, const json_t *doc, const char *subnet)
{
    if (subnet && !json_object_get(json_object_get(doc, "properties"), "subnet"))
        json_object_set_new(p, "subnet", json_pack("{s:o}", "id", jsontext_string(subnet)));
}

static void set_allocation(struct request *r, json_t *p, const struct cluster *c)
{
    bool is_new =
        c->alloc_state == ALLOC_STEADY && new_clusters_has(batchai_of(r)->new_clusters, c->id);
    enum alloc_state shown = is_new ? ALLOC_RESIZING : c->alloc_state;
    set_text(p, "allocationState", enum_to_name(alloc_state_names, (int)shown));
    set_time(p, "allocationStateTransitionTime", is_new ? c->created_us : c->alloc_us);
}

void render_cluster(struct request *r, const struct cluster *c, struct strbuf *out)
{
    json_t *p;
    const struct node_counts *n = &c->counts;
    json_t *o = start(r->version, render_id(r, &c->scope, "clusters", c->name), c->name,
                      "Microsoft.BatchAI/workspaces/clusters", &p);
    int64_t prov_us = c->prov_us;
    enum prov_state state =
        created(r, &c->scope, PACE_CLUSTER_CREATION, c->prov_state, c->created_us, &prov_us);
    set_provisioning(p, state, prov_us, c->created_us);
    set_allocation(r, p, c);
    json_object_set_new(
        p, "currentNodeCount",
        json_integer(n->running + n->idle + n->unusable + n->preparing + n->leaving));
    json_object_set_new(p, "nodeStateCounts", node_state_counts(n));
    set_json(p, "errors", c->errors);
    word_errors(r->version, json_object_get(p, "errors"));
    json_t *doc = json_loads(c->doc, 0, NULL);
    const json_t *setup = json_object_get(json_object_get(doc, "properties"), "nodeSetup");
    set_location(o, doc, &c->scope);
    if (json_object_get(setup, "setupTask"))
        json_object_set_new(p, "nodeSetup",
                            json_pack("{s:{s:s}}", "setupTask", "stdOutErrPathSuffix",
                                      cluster_path_segment(&r->arena, c)));
    set_subnet(p, doc, cluster_subnet(r, c, doc));
    json_decref(doc);
    finish(r, out, &schema_cluster, c->doc, o);
}

/* Shown only if somebody serves the file server. */
static void set_mount_settings(struct request *r, json_t *p, const struct file_server *f)
{
    struct file_server_backing at;
    if (!fleet_file_server_backing(arm_of(r)->fleet, &r->arena, f, &at))
        return;
    json_object_set_new(p, "mountSettings",
                        json_pack("{s:s, s:s, s:s, s:s}", "mountPoint", at.directory,
                                  "fileServerPublicIP", at.host, "fileServerInternalIP", at.host,
                                  "fileServerType", "nfs"));
}

void render_file_server(struct request *r, const struct file_server *f, struct strbuf *out)
{
    json_t *p;
    json_t *o = start(r->version, render_id(r, &f->scope, "fileservers", f->name), f->name,
                      "Microsoft.BatchAI/workspaces/fileservers", &p);
    int64_t prov_us = f->prov_us;
    enum prov_state state =
        created(r, &f->scope, PACE_FILE_SERVER_CREATION, f->prov_state, f->created_us, &prov_us);
    set_provisioning(p, state, prov_us, f->created_us);
    json_t *doc = json_loads(f->doc, 0, NULL);
    set_location(o, doc, &f->scope);
    if (state == PROV_SUCCEEDED)
        set_mount_settings(r, p, f);
    set_subnet(p, doc, file_server_subnet(r, f, doc));
    json_decref(doc);
    finish(r, out, &schema_file_server, f->doc, o);
}

/* --- jobs: many in a list, so without trees -------------------------------------------------- */

#define TEXT_OVER(key, value)                                                                      \
    (struct over)                                                                                  \
    {                                                                                              \
        .name = (key), .kind = OVER_TEXT, .text = (value)                                          \
    }
#define OBJECT_OVER(key, list)                                                                     \
    (struct over)                                                                                  \
    {                                                                                              \
        .name = (key), .kind = OVER_OBJECT, .member = (list), .n = sizeof(list) / sizeof *(list)   \
    }

/* The text is written into `text`. */
static struct over time_over(const char *name, int64_t us, char text[TIMEFMT_SIZE])
{
    if (us != 0)
        timefmt_wire(us, text);
    return TEXT_OVER(name, us != 0 ? text : NULL);
}

/* The caller frees; NULL: none. */
static json_t *worded(enum api_version v, const char *errors)
{
    json_t *tree = errors ? json_loads(errors, 0, NULL) : NULL;
    word_errors(v, tree);
    return tree;
}

void render_job(struct request *r, const struct job *j, struct strbuf *out)
{
    char made[TIMEFMT_SIZE], prov[TIMEFMT_SIZE], exec[TIMEFMT_SIZE], start[TIMEFMT_SIZE],
        end[TIMEFMT_SIZE];
    json_auto_t *errors = worded(r->version, j->errors);
    const struct over exit_code = {.name = "exitCode", .kind = OVER_INT, .number = j->exit_code};
    const struct over info[] = {
        time_over("startTime", j->start_us, start),
        time_over("endTime", j->end_us, end),
        j->has_exit_code ? exit_code : TEXT_OVER("exitCode", NULL),
        {.name = "errors", .kind = OVER_TREE, .tree = errors},
    };
    bool began = j->start_us || j->end_us;
    int64_t prov_us = j->prov_us;
    enum prov_state state =
        created(r, &j->scope, PACE_JOB_CREATION, j->prov_state, j->created_us, &prov_us);
    const struct over properties[] = {
        TEXT_OVER("experimentName", j->scope.experiment),
        TEXT_OVER("jobOutputDirectoryPathSegment", job_path_segment(&r->arena, j)),
        TEXT_OVER("provisioningState", enum_to_name(prov_state_names, (int)state)),
        time_over("provisioningStateTransitionTime", prov_us, prov),
        time_over("creationTime", j->created_us, made),
        TEXT_OVER("executionState", enum_to_name(exec_state_names, (int)j->exec_state)),
        time_over("executionStateTransitionTime", j->exec_us, exec),
        began ? OBJECT_OVER("executionInfo", info) : TEXT_OVER("executionInfo", NULL),
    };
    const struct over top[] = {
        TEXT_OVER("id", render_id(r, &j->scope, "jobs", j->name)),
        TEXT_OVER("name", j->name),
        TEXT_OVER("type", word_type(r->version, "Microsoft.BatchAI/workspaces/experiments/jobs")),
        OBJECT_OVER("properties", properties),
    };
    schema_render_over(out, &schema_job, r->version, j->doc, top, sizeof top / sizeof top[0]);
}
