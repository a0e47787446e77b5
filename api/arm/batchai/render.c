/* SPDX-License-Identifier: MIT
 *
 * Writes Batch AI's resources as JSON: the stored documents (model/schema.h) with values of the
 * rows over them. Texts are in the arena. Called only on the loop's thread.
 */
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

/* A member with a time, which is printed into `text`; 0: no member. */
static struct over show_time(const char *name, int64_t us, char text[TIMEFMT_SIZE])
{
    if (us != 0)
        timefmt_wire(us, text);
    return SHOW_TEXT(name, us != 0 ? text : NULL);
}

/* The stored errors with the codes and messages of the request's api-version. */
static struct over show_errors(struct request *r, const char *stored)
{
    json_auto_t *errors = stored ? json_loads(stored, 0, NULL) : NULL;
    word_errors(r->version, errors);
    return SHOW_DOC("errors", jsontext_in(&r->arena, errors));
}

/* The state that is shown: in strict mode a succeeded resource is shown as being created for some
 * time after `created_us`. *prov_us becomes the time of the shown state. */
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

/* The location, for old resources whose document has none: that of their workspace. */
static struct over show_location(const json_t *doc, const struct scope *s)
{
    return SHOW_TEXT("location", json_object_get(doc, "location") ? NULL : s->location);
}

/* The members that all resources have: state and times of the creation; id, name and type. */
#define SHOW_PROVISIONING(state, prov_us, created_us, prov, made)                                  \
    SHOW_TEXT("provisioningState", enum_to_name(prov_state_names, (int)(state))),                  \
        show_time("provisioningStateTransitionTime", prov_us, prov),                               \
        show_time("creationTime", created_us, made)
#define SHOW_NAMED(r, row, collection, label)                                                      \
    SHOW_TEXT("id", render_id(r, &(row)->scope, collection, (row)->name)),                         \
        SHOW_TEXT("name", (row)->name),                                                            \
        SHOW_TEXT("type", word_type((r)->version, "Microsoft.BatchAI/workspaces" label))

void render_workspace(struct request *r, const struct workspace *w, struct strbuf *out)
{
    char made[TIMEFMT_SIZE], prov[TIMEFMT_SIZE];
    const struct over properties[] = {
        SHOW_PROVISIONING(w->prov_state, w->prov_us, w->created_us, prov, made)};
    const struct over top[] = {SHOW_NAMED(r, w, "workspaces", ""),
                               SHOW_TEXT("location", w->scope.location), SHOW_DOC("tags", w->tags),
                               SHOW_OBJECT("properties", properties)};
    schema_render(out, &(struct rendering){
                           .schema = &schema_workspace, .version = r->version, SHOW_LIST(top)});
}

void render_experiment(struct request *r, const struct experiment *x, struct strbuf *out)
{
    char made[TIMEFMT_SIZE], prov[TIMEFMT_SIZE];
    const struct over properties[] = {
        SHOW_PROVISIONING(x->prov_state, x->prov_us, x->created_us, prov, made)};
    const struct over top[] = {SHOW_NAMED(r, x, "experiments", "/experiments"),
                               SHOW_OBJECT("properties", properties)};
    schema_render(out, &(struct rendering){
                           .schema = &schema_experiment, .version = r->version, SHOW_LIST(top)});
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

/* Whether the document itself names a subnet. */
static bool has_own_subnet(const json_t *doc)
{
    return json_object_get(json_object_get(doc, "properties"), "subnet") != NULL;
}

void render_cluster(struct request *r, const struct cluster *c, struct strbuf *out)
{
    char made[TIMEFMT_SIZE], prov[TIMEFMT_SIZE], alloc[TIMEFMT_SIZE];
    const struct node_counts *n = &c->counts;
    json_auto_t *doc = json_loads(c->doc, 0, NULL);
    const json_t *setup = json_object_get(json_object_get(doc, "properties"), "nodeSetup");
    bool runs_setup = json_object_get(setup, "setupTask") != NULL;
    int64_t prov_us = c->prov_us;
    enum prov_state state =
        created(r, &c->scope, PACE_CLUSTER_CREATION, c->prov_state, c->created_us, &prov_us);
    bool is_new =
        c->alloc_state == ALLOC_STEADY && new_clusters_has(batchai_of(r)->new_clusters, c->id);
    enum alloc_state shown = is_new ? ALLOC_RESIZING : c->alloc_state;
    const struct over counts[] = {
        SHOW_INT("runningNodeCount", n->running), SHOW_INT("idleNodeCount", n->idle),
        SHOW_INT("unusableNodeCount", n->unusable), SHOW_INT("preparingNodeCount", n->preparing),
        SHOW_INT("leavingNodeCount", n->leaving)};
    const struct over task[] = {
        SHOW_TEXT("stdOutErrPathSuffix", runs_setup ? cluster_path_segment(&r->arena, c) : NULL)};
    const struct over setup_task[] = {SHOW_OBJECT("setupTask", task)};
    const struct over subnet[] = {
        SHOW_TEXT("id", has_own_subnet(doc) ? NULL : cluster_subnet(r, c, doc))};
    const struct over properties[] = {
        SHOW_PROVISIONING(state, prov_us, c->created_us, prov, made),
        SHOW_TEXT("allocationState", enum_to_name(alloc_state_names, (int)shown)),
        show_time("allocationStateTransitionTime", is_new ? c->created_us : c->alloc_us, alloc),
        SHOW_INT("currentNodeCount",
                 n->running + n->idle + n->unusable + n->preparing + n->leaving),
        SHOW_OBJECT("nodeStateCounts", counts),
        show_errors(r, c->errors),
        SHOW_OBJECT_OF("nodeSetup", setup_task, runs_setup),
        SHOW_OBJECT("subnet", subnet)};
    const struct over top[] = {SHOW_NAMED(r, c, "clusters", "/clusters"),
                               show_location(doc, &c->scope),
                               SHOW_OBJECT("properties", properties)};
    schema_render(out, &(struct rendering){.schema = &schema_cluster,
                                           .version = r->version,
                                           .stored = c->doc,
                                           SHOW_LIST(top)});
    arm_show_secrets(r, out, c->id, st_cluster_secrets);
}

void render_file_server(struct request *r, const struct file_server *f, struct strbuf *out)
{
    char made[TIMEFMT_SIZE], prov[TIMEFMT_SIZE];
    json_auto_t *doc = json_loads(f->doc, 0, NULL);
    struct file_server_backing at = {0};
    int64_t prov_us = f->prov_us;
    enum prov_state state =
        created(r, &f->scope, PACE_FILE_SERVER_CREATION, f->prov_state, f->created_us, &prov_us);
    /* Mount settings are shown only if a machine exports the file server. */
    bool is_served =
        state == PROV_SUCCEEDED && fleet_file_server_backing(arm_of(r)->fleet, &r->arena, f, &at);
    const struct over mount[] = {
        SHOW_TEXT("mountPoint", at.directory), SHOW_TEXT("fileServerPublicIP", at.host),
        SHOW_TEXT("fileServerInternalIP", at.host), SHOW_TEXT("fileServerType", "nfs")};
    const struct over subnet[] = {
        SHOW_TEXT("id", has_own_subnet(doc) ? NULL : file_server_subnet(r, f, doc))};
    const struct over properties[] = {SHOW_PROVISIONING(state, prov_us, f->created_us, prov, made),
                                      SHOW_OBJECT_OF("mountSettings", mount, is_served ? 4 : 0),
                                      SHOW_OBJECT("subnet", subnet)};
    const struct over top[] = {SHOW_NAMED(r, f, "fileservers", "/fileservers"),
                               show_location(doc, &f->scope),
                               SHOW_OBJECT("properties", properties)};
    schema_render(out, &(struct rendering){.schema = &schema_file_server,
                                           .version = r->version,
                                           .stored = f->doc,
                                           SHOW_LIST(top)});
    arm_show_secrets(r, out, f->id, st_file_server_secrets);
}

void render_job(struct request *r, const struct job *j, struct strbuf *out)
{
    char made[TIMEFMT_SIZE], prov[TIMEFMT_SIZE], exec[TIMEFMT_SIZE], start[TIMEFMT_SIZE],
        end[TIMEFMT_SIZE];
    const struct over info[] = {
        show_time("startTime", j->start_us, start),
        show_time("endTime", j->end_us, end),
        j->has_exit_code ? SHOW_INT("exitCode", j->exit_code) : SHOW_TEXT("exitCode", NULL),
        show_errors(r, j->errors),
    };
    bool began = j->start_us || j->end_us;
    int64_t prov_us = j->prov_us;
    enum prov_state state =
        created(r, &j->scope, PACE_JOB_CREATION, j->prov_state, j->created_us, &prov_us);
    const struct over properties[] = {
        SHOW_TEXT("experimentName", j->scope.experiment),
        SHOW_TEXT("jobOutputDirectoryPathSegment", job_path_segment(&r->arena, j)),
        SHOW_PROVISIONING(state, prov_us, j->created_us, prov, made),
        SHOW_TEXT("executionState", enum_to_name(exec_state_names, (int)j->exec_state)),
        show_time("executionStateTransitionTime", j->exec_us, exec),
        began ? SHOW_OBJECT("executionInfo", info) : SHOW_TEXT("executionInfo", NULL),
    };
    const struct over top[] = {SHOW_NAMED(r, j, "jobs", "/experiments/jobs"),
                               SHOW_OBJECT("properties", properties)};
    schema_render(
        out, &(struct rendering){
                 .schema = &schema_job, .version = r->version, .stored = j->doc, SHOW_LIST(top)});
    arm_show_secrets(r, out, j->id, st_job_secrets);
}

/* --- logins to nodes ------------------------------------------------------------------------- */

struct replied *reply_remote_login(struct request *r, const struct node *nodes, size_t n)
{
    struct strbuf out = STRBUF_INIT;
    strbuf_puts(&out, "{\"value\":[");
    for (size_t i = 0; i < n; i++) {
        struct node_login login;
        fleet_node_login(arm_of(r)->fleet, &r->arena, &nodes[i], &login);
        json_auto_t *row = json_pack("{s:s, s:s, s:i}", "nodeId", nodes[i].name, "ipAddress",
                                     login.address, "port", login.port);
        if (i > 0)
            strbuf_putc(&out, ',');
        schema_render_tree(&out, &schema_remote_login, r->version, row);
    }
    strbuf_puts(&out, "]}");
    return reply_json_text(r, 200, &out);
}
