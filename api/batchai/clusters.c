/* SPDX-License-Identifier: MIT
 *
 * Clusters: create, change, show, list, delete, and where to log in to their nodes. The scheduler
 * carries out a new size.
 */
#include <stdlib.h>
#include <string.h>

#include "api/batchai/common.h"
#include "api/batchai/errors.h"
#include "api/batchai/handlers.h"
#include "api/batchai/home.h"
#include "api/batchai/linked.h"
#include "api/batchai/listing.h"
#include "api/batchai/lookup.h"
#include "api/batchai/named_shares.h"
#include "api/batchai/new_clusters.h"
#include "api/batchai/remote_login.h"
#include "api/batchai/render.h"
#include "lib/guid.h"
#include "model/spec.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

static struct replied *show(struct request *r, const struct cluster *c)
{
    struct strbuf out = STRBUF_INIT;
    reply_etag(r, c->updated_us);
    render_cluster(r, c, &out);
    return reply_json_text(r, 200, &out);
}

static struct replied *show_anew(struct request *r, int64_t id)
{
    struct err e;
    struct cluster c;
    int rc = st_cluster_by_id(arm_of(r)->storage, &r->arena, id, &c, &e);
    if (rc == 0)
        rc = err_set(&e, ERR_CLUSTER_NOT_FOUND, NULL, "The cluster has just been removed");
    if (rc < 0)
        return reply_err(r, &e);
    return show(r, &c);
}

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

struct create_tx {
    struct request *r;
    const struct accepted *a;
    struct workspace w;
    struct cluster c;
    const char *guid;
    const struct mount_list *mounts;
};

static int create_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct create_tx *t = ctx;
    if (home_make_workspace(t->r, &t->w, e) < 0 || make_named_shares(t->r, &t->c, t->mounts, e) < 0)
        return -1;
    t->c.workspace_id = t->w.id;
    if (st_cluster_insert(st, &t->c, t->a->secrets_text, &t->c.id, e) < 0)
        return -1;
    struct op_request op = {.kind = RES_CLUSTER,
                            .resource_id = t->c.id,
                            .scope = &t->w.scope,
                            .name = t->c.name,
                            .in_group = request_is_flat(t->r),
                            .done = true};
    return operation_start(t->r, &op, &t->guid, e);
}

/* With the keys of the mounts, which the accepted document has not. */
static int check_mounts(struct request *r, const struct cluster *c, const struct accepted *a,
                        struct err *e)
{
    struct node_setup_spec setup = {0};
    int rc = node_setup_decode(&r->arena, c, a->secrets_text, &setup, e);
    if (rc == 0)
        rc = check_linked_mounts(r, &setup.mounts, e);
    if (rc == 0)
        rc = check_named_shares(r, c, &setup.mounts, e);
    node_setup_wipe(&setup);
    return rc;
}

static struct replied *create(struct request *r, const struct workspace *w, struct accepted *a)
{
    struct err e;
    char guid[GUID_SIZE];
    request_guid(r, guid);
    struct cluster_spec spec = {0};
    schema_decode(&schema_cluster, &r->arena, a->doc, &spec);
    if (r->version == V_2017_09_01_PREVIEW)
        json_object_set_new(json_object_get(a->doc, "properties"), CLUSTER_DOC_PLAIN_OUTPUT,
                            json_true());
    accepted_place(a, w->scope.location);
    struct create_tx t = {.r = r,
                          .a = a,
                          .w = *w,
                          .mounts = &spec.setup.mounts,
                          .c = {.name = request_param(r, "cluster"),
                                .guid = guid,
                                .doc = a->doc_text,
                                .vm_size = spec.vm_size,
                                .vm_priority = spec.vm_priority,
                                .scale = spec.scale,
                                .prov_state = PROV_SUCCEEDED,
                                .alloc_state = ALLOC_RESIZING,
                                .prov_us = r->now_us,
                                .alloc_us = r->now_us,
                                .created_by = r->who->object_id,
                                .created_us = r->now_us,
                                .updated_us = r->now_us}};
    t.c.auto_target = t.c.scale.initial;
    if (check_quota(r, &e) < 0 || check_linked_subnet(r, a->doc, &e) < 0 ||
        sched_check_scale(arm_of(r)->sched, RES_CLUSTER, t.c.vm_size, t.c.vm_priority, &t.c.scale,
                          &e) < 0 ||
        check_mounts(r, &t.c, a, &e) < 0 ||
        st_tx(arm_of(r)->storage, "cluster create", create_in_tx, &t, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "cluster.created", LF_STR("cluster", t.c.name),
             LF_STR("workspace", w->name), LF_STR("vmSize", t.c.vm_size),
             LF_INT("target", t.c.scale.target), LF_STR("by", r->who->name));
    new_clusters_add(batchai_of(r)->new_clusters, t.c.id);
    sched_wake_pool(arm_of(r)->sched, t.c.id);
    return reply_accepted(r, &w->scope, t.guid);
}

/* The stored document with the changes of the given one; caller frees. */
static char *doc_with_changes(const char *stored, const json_t *given)
{
    json_t *doc = json_loads(stored, 0, NULL);
    json_t *scale = json_object_get(json_object_get(given, "properties"), "scaleSettings");
    json_t *tags = json_object_get(given, "tags");
    if (scale)
        json_object_set(json_object_get(doc, "properties"), "scaleSettings", scale);
    if (tags)
        json_object_set(doc, "tags", tags);
    char *text = json_dumps(doc, JSON_COMPACT);
    json_decref(doc);
    return text;
}

/* Writes new scale settings and tags. Even unchanged ones give a new ETag, as in the service after
 * 2017. */
static int rescale(struct request *r, struct cluster *c, const json_t *given, struct err *e)
{
    char *text = doc_with_changes(c->doc, given);
    struct cluster next = *c;
    next.doc = text;
    struct cluster_spec spec = {0};
    schema_decode(&schema_cluster, &r->arena, given, &spec);
    if (spec.scale.kind) /* scaleSettings are given */
        next.scale = spec.scale;
    if (r->version != V_2017_09_01_PREVIEW)
        next.updated_us = r->now_us;
    int rc = sched_check_scale(arm_of(r)->sched, RES_CLUSTER, c->vm_size, c->vm_priority,
                               &next.scale, e);
    if (rc == 0)
        rc = st_cluster_update_scale(arm_of(r)->storage, &next, e);
    free(text);
    if (rc < 0)
        return -1;
    LOG_INFO(r->config->log, "cluster.rescaled", LF_STR("cluster", c->name),
             LF_INT("target", next.scale.target), LF_INT("minimum", next.scale.minimum),
             LF_INT("maximum", next.scale.maximum), LF_STR("by", r->who->name));
    sched_wake_pool(arm_of(r)->sched, c->id);
    return 0;
}

static struct replied *update(struct request *r, struct cluster *c, const struct accepted *a)
{
    struct err e;
    const char *secrets;
    json_t *stored = json_loads(c->doc, 0, NULL);
    if (!json_object_get(json_object_get(stored, "properties"), "subnet"))
        forget_subnet(a->doc, cluster_subnet(r, c, stored));
    json_decref(stored);
    if (check_alive("cluster", c->name, c->prov_state, &e) < 0 ||
        st_cluster_secrets(arm_of(r)->storage, &r->arena, c->id, &secrets, &e) < 0 ||
        check_immutable(r, &schema_cluster, "cluster", c->name, c->doc, secrets, a, &e) < 0 ||
        rescale(r, c, a->doc, &e) < 0)
        return reply_err(r, &e);
    return show_anew(r, c->id);
}

static struct replied *create_or_update(struct request *r, struct accepted *a)
{
    struct err e;
    struct workspace w;
    struct cluster c;
    const char *name = request_param(r, "cluster");
    if (home_workspace(r, &w, &e) < 0 || check_name(r, "cluster", name, &e) < 0)
        return reply_err(r, &e);
    int rc = st_cluster_get(arm_of(r)->storage, &r->arena, w.id, name, &c, &e);
    if (rc < 0)
        return reply_err(r, &e);
    return rc == 0 ? create(r, &w, a) : update(r, &c, a);
}

struct replied *clusters_create(struct request *r)
{
    struct err e;
    struct accepted a;
    if (accept_body(r, &schema_cluster, &a, &e) < 0)
        return reply_err(r, &e);
    struct replied *done = create_or_update(r, &a);
    accepted_release(&a);
    return done;
}

struct replied *clusters_update(struct request *r)
{
    struct err e;
    struct cluster c;
    json_t *doc = NULL, *secrets = NULL;
    if (find_cluster(r, &c, &e) < 0 || check_alive("cluster", c.name, c.prov_state, &e) < 0 ||
        schema_accept_partial(&schema_cluster_update, r->version, r->body, &doc, &secrets, &e) < 0)
        return reply_err(r, &e);
    int rc = 0;
    if (json_object_get(json_object_get(doc, "properties"), "scaleSettings") ||
        json_object_get(doc, "tags"))
        rc = rescale(r, &c, doc, &e);
    json_decref(doc);
    json_decref(secrets);
    return rc < 0 ? reply_err(r, &e) : show_anew(r, c.id);
}

struct replied *clusters_get(struct request *r)
{
    struct err e;
    struct cluster c;
    if (find_cluster(r, &c, &e) < 0)
        return reply_err(r, &e);
    return show(r, &c);
}

struct replied *clusters_delete(struct request *r)
{
    struct err e;
    struct cluster c;
    if (find_cluster(r, &c, &e) < 0)
        return delete_missing(r, &e);
    return delete_resource(r, RES_CLUSTER, c.id, &c.scope, c.name);
}

static int fetch(struct request *r, const struct listing_owner *owner, int64_t after, int limit,
                 void **rows, size_t *n, struct err *e)
{
    struct cluster *found;
    int rc =
        st_cluster_list(arm_of(r)->storage, &r->arena, &owner->filter, after, limit, &found, n, e);
    *rows = found;
    return rc;
}

static void render_row(struct request *r, const void *rows, size_t i, struct strbuf *out)
{
    render_cluster(r, (const struct cluster *)rows + i, out);
}

static int64_t row_id(const void *rows, size_t i)
{
    return ((const struct cluster *)rows)[i].id;
}

static const struct listing listing = {&schema_cluster, fetch, render_row, row_id};

static struct replied *list(struct request *r, filter_fn *filter_of)
{
    struct err e;
    struct listing_owner owner = {0};
    if (filter_of(r, &owner.filter, &e) < 0)
        return reply_err(r, &e);
    return reply_listing(r, &listing, &owner);
}

struct replied *clusters_list(struct request *r)
{
    return list(r, filter_subscription);
}

struct replied *clusters_list_by_group(struct request *r)
{
    return list(r, filter_group);
}

struct replied *clusters_list_by_workspace(struct request *r)
{
    return list(r, filter_workspace);
}

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
