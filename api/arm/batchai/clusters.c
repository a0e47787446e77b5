/* SPDX-License-Identifier: MIT
 *
 * Clusters as a kind of resource (api/arm/kind.h), and the SSH addresses of their nodes. The
 * scheduler later changes the number of nodes.
 */
#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/common.h"
#include "api/arm/batchai/errors.h"
#include "api/arm/batchai/home.h"
#include "api/arm/batchai/linked.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/new_clusters.h"
#include "api/arm/batchai/render.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "api/arm/may.h"
#include "api/arm/named_shares.h"
#include "lib/guid.h"
#include "lib/jsontext.h"
#include "model/spec.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

static int check_quota(struct request *r, struct err *e)
{
    int64_t n;
    if (st_cluster_count(arm_of(r)->storage, arm_subscription(r), &n, e) < 0)
        return -1;
    if (n < batchai_of(r)->cluster_quota)
        return 0;
    return err_set(e, BATCHAI_CLUSTER_QUOTA, NULL,
                   "Operation results in exceeding quota limits of Microsoft.BatchAI/clusters. "
                   "Maximum allowed: %d, Current in use: %lld. Delete clusters or raise "
                   "quota.clusters in the configuration.",
                   batchai_of(r)->cluster_quota, (long long)n);
}

/* Local nodes serve any VM size; if Azure does not have a size of this name, the cluster gets an
 * event. */
static int tell_size(struct request *r, const struct cluster *c, const struct event *ev,
                     struct err *e)
{
    struct event told = *ev;
    if (!sched_serves_any_size(arm_of(r)->sched, c->vm_size, c->vm_priority))
        return 0;
    told.at_us = r->now_us;
    told.from = ev->to;
    told.reason =
        arena_concat(&r->arena, "cluster ", c->name,
                     " is served by local nodes: no size is known by the name ", c->vm_size);
    LOG_INFO(r->config->log, "cluster.size_unknown", LF_STR("cluster", c->name),
             LF_STR("vm_size", c->vm_size));
    return st_event_add(arm_of(r)->storage, &told, e);
}

/* Checks the mounts with their keys; the keys are not in the accepted document. */
static int check_mounts(struct request *r, const struct scope *scope, const struct cluster *c,
                        const struct accepted *a, struct err *e)
{
    struct node_setup_spec setup = {0};
    const char *id = render_id(r, scope, "clusters", c->name);
    int rc = node_setup_decode(&r->arena, c, a->secrets_text, &setup, e);
    if (rc == 0)
        rc = check_linked_mounts(r, &setup.mounts, id, e);
    if (rc == 0)
        rc = check_named_shares(r, c, &setup.mounts, e);
    node_setup_wipe(&setup);
    return rc;
}

static void fill(struct rm *m, const struct cluster_spec *spec)
{
    struct request *r = m->r;
    struct cluster *c = m->row;
    char *guid = arena_alloc(&r->arena, GUID_SIZE);
    request_guid(r, guid);
    *c = (struct cluster){.name = m->name,
                          .guid = guid,
                          .doc = m->given.doc_text,
                          .vm_size = spec->vm_size,
                          .vm_priority = spec->vm_priority,
                          .scale = spec->scale,
                          .auto_target = spec->scale.initial,
                          .prov_state = PROV_SUCCEEDED,
                          .alloc_state = ALLOC_RESIZING,
                          .prov_us = r->now_us,
                          .alloc_us = r->now_us,
                          .created_by = r->who->object_id,
                          .created_us = r->now_us,
                          .updated_us = r->now_us};
}

static int prepare(struct rm *m, struct err *e)
{
    const struct workspace *w = m->parent;
    struct request *r = m->r;
    struct cluster *c = m->row;
    struct cluster_spec spec = {0};
    if (check_location_given(r, &m->given, "workspace", w->scope.location, e) < 0)
        return -1;
    schema_decode(&schema_cluster, &r->arena, m->given.doc, &spec);
    if (r->version == V_2017_09_01_PREVIEW)
        json_object_set_new(json_object_get(m->given.doc, "properties"), CLUSTER_DOC_PLAIN_OUTPUT,
                            json_true());
    accepted_place(r, &m->given, w->scope.location);
    fill(m, &spec);
    if (check_quota(r, e) < 0 || check_linked_subnet(r, m->given.doc, e) < 0 ||
        sched_check_scale(arm_of(r)->sched, RES_CLUSTER, c->vm_size, c->vm_priority, &c->scale, e) <
            0 ||
        arm_check_local(r, c->vm_size, c->vm_priority, e) < 0)
        return -1;
    return check_mounts(r, &w->scope, c, &m->given, e);
}

static int insert(struct rm *m, struct err *e)
{
    struct workspace *w = m->parent;
    struct request *r = m->r;
    struct cluster *c = m->row;
    struct cluster_spec spec = {0};
    const char *shares;
    schema_decode(&schema_cluster, &r->arena, m->given.doc, &spec);
    if (home_make_workspace(r, w, e) < 0 ||
        make_named_shares(r, c, &spec.setup.mounts, &shares, e) < 0)
        return -1;
    c->workspace_id = w->id;
    if (st_cluster_insert(arm_of(r)->storage, c, m->given.secrets_text, &m->id, e) < 0)
        return -1;
    const struct event ev = {.kind = RES_CLUSTER, .resource_id = m->id, .to = (int)c->alloc_state};
    return tell_made(r, shares, "cluster", c->name, &ev, e) < 0 ? -1 : tell_size(r, c, &ev, e);
}

static struct replied *made(struct rm *m)
{
    const struct workspace *w = m->parent;
    const struct cluster *c = m->row;
    struct request *r = m->r;
    LOG_INFO(r->config->log, "cluster.created", LF_STR("cluster", c->name),
             LF_STR("workspace", w->name), LF_STR("vm_size", c->vm_size),
             LF_INT("target", c->scale.target), LF_STR("by", r->who->name));
    new_clusters_add(batchai_of(r)->new_clusters, m->id);
    sched_wake_pool(arm_of(r)->sched, m->id);
    return reply_accepted(r, m->scope, m->guid);
}

/* --- change ----------------------------------------------------------------------------------- */

/* The stored document with the scale settings and tags of `given`. */
static const char *doc_with_changes(struct request *r, const char *stored, const json_t *given)
{
    json_t *doc = request_own(r, json_loads(stored, 0, NULL));
    json_t *scale = json_object_get(json_object_get(given, "properties"), "scaleSettings");
    json_t *tags = json_object_get(given, "tags");
    if (scale)
        json_object_set(json_object_get(doc, "properties"), "scaleSettings", scale);
    if (tags)
        json_object_set(doc, "tags", tags);
    return request_own_text(r, jsontext(doc));
}

/* Stores new scale settings and tags. Even if they are unchanged, the cluster gets a new ETag, as
 * in the real service's versions after 2017. */
static int rescale(struct request *r, struct cluster *c, const json_t *given, struct err *e)
{
    struct cluster next = *c;
    next.doc = doc_with_changes(r, c->doc, given);
    struct cluster_spec spec = {0};
    schema_decode(&schema_cluster, &r->arena, given, &spec);
    if (spec.scale.kind) /* scaleSettings are given */
        next.scale = spec.scale;
    if (r->version != V_2017_09_01_PREVIEW)
        next.updated_us = r->now_us;
    if (sched_check_scale(arm_of(r)->sched, RES_CLUSTER, c->vm_size, c->vm_priority, &next.scale,
                          e) < 0 ||
        st_cluster_update_scale(arm_of(r)->storage, &next, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "cluster.rescaled", LF_STR("cluster", c->name),
             LF_INT("target", next.scale.target), LF_INT("minimum", next.scale.minimum),
             LF_INT("maximum", next.scale.maximum), LF_STR("by", r->who->name));
    sched_wake_pool(arm_of(r)->sched, c->id);
    return 0;
}

static int change(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    struct cluster *c = m->row;
    const char *secrets;
    const json_t *stored = request_own(r, json_loads(c->doc, 0, NULL));
    if (!json_object_get(json_object_get(stored, "properties"), "subnet"))
        forget_subnet(m->given.doc, cluster_subnet(r, c, stored));
    if (st_cluster_secrets(arm_of(r)->storage, &r->arena, c->id, &secrets, e) < 0 ||
        check_immutable(m, c->doc, secrets, e) < 0)
        return -1;
    return rescale(r, c, m->given.doc, e);
}

static int patch(struct rm *m, struct err *e)
{
    const json_t *doc = m->given.doc;
    bool changes = json_object_get(json_object_get(doc, "properties"), "scaleSettings") ||
                   json_object_get(doc, "tags");
    return changes ? rescale(m->r, m->row, doc, e) : 0;
}

/* --- the kind --------------------------------------------------------------------------------- */

static int seek(struct rm *m, struct err *e)
{
    const struct workspace *w = m->parent;
    return st_cluster_get(arm_of(m->r)->storage, &m->r->arena, w->id, m->name, m->row, e);
}

static int find(struct rm *m, struct err *e)
{
    return find_cluster(m->r, m->row, e);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    render_cluster(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct st_filter filter;
    struct cluster_rows found = {NULL, 0};
    int rc = home_filter(r, q, &filter, e);
    if (rc == 0)
        rc = st_cluster_list(arm_of(r)->storage, &r->arena, &filter,
                             &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static rm_step *const steps[] = {rm_step_body, home_step_workspace, batchai_step_name, NULL};

const struct rm_kind cluster_kind = {
    BATCHAI_KIND,
    .what = "cluster",
    .param = "cluster",
    .kind = RES_CLUSTER,
    .columns = RM_COLUMNS(struct cluster),
    .schema = &schema_cluster,
    .patch_schema = &schema_cluster_update,
    .steps = steps,
    .seek = seek,
    .prepare = prepare,
    .insert = insert,
    .operation = true,
    .change = change,
    .made = made,
    .rereads = true,
    .patch = patch,
    .find = find,
    .render = render,
    .list = list,
};

struct replied *clusters_list_remote_login(struct request *r)
{
    struct err e;
    struct cluster c;
    struct node *nodes;
    size_t n;
    if (find_cluster(r, &c, &e) < 0 ||
        st_node_list(arm_of(r)->storage, &r->arena, c.id, &nodes, &n, &e) < 0)
        return reply_err(r, &e);
    return reply_remote_login(r, nodes, n);
}
