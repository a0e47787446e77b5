/* SPDX-License-Identifier: MIT
 *
 * File servers: create, show, list, delete. The fleet sets up those that a machine has to export.
 */
#include "api/batchai/common.h"
#include "api/batchai/handlers.h"
#include "api/batchai/home.h"
#include "api/batchai/linked.h"
#include "api/batchai/listing.h"
#include "api/batchai/lookup.h"
#include "api/batchai/render.h"
#include "lib/guid.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

struct create_tx {
    struct request *r;
    const struct accepted *a;
    struct workspace w;
    struct file_server f;
    const char *guid;
};

static int create_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct create_tx *t = ctx;
    int64_t id;
    if (home_make_workspace(t->r, &t->w, e) < 0)
        return -1;
    t->f.workspace_id = t->w.id;
    if (st_file_server_insert(st, &t->f, t->a->secrets_text, &id, e) < 0)
        return -1;
    struct op_request op = {.kind = RES_FILE_SERVER,
                            .resource_id = id,
                            .scope = &t->w.scope,
                            .name = t->f.name,
                            .in_group = request_is_flat(t->r),
                            .done = t->f.prov_state == PROV_SUCCEEDED};
    t->f.id = id;
    return operation_start(t->r, &op, &t->guid, e);
}

static struct replied *create(struct request *r, const struct workspace *w, struct accepted *a)
{
    struct err e;
    char guid[GUID_SIZE];
    request_guid(r, guid);
    accepted_place(a, w->scope.location);
    struct create_tx t = {.r = r,
                          .a = a,
                          .w = *w,
                          .f = {.name = request_param(r, "fileServer"),
                                .guid = guid,
                                .doc = a->doc_text,
                                .prov_state = PROV_SUCCEEDED,
                                .prov_us = r->now_us,
                                .created_by = r->who->object_id,
                                .created_us = r->now_us,
                                .updated_us = r->now_us}};
    struct file_server_backing at;
    t.f.scope = w->scope;
    t.f.scope.workspace = w->name;
    if (fleet_file_server_backing(arm_of(r)->fleet, &r->arena, &t.f, &at) && at.machine)
        t.f.prov_state = PROV_CREATING; /* a machine is to be made export it */
    if (check_linked_subnet(r, a->doc, &e) < 0 ||
        st_tx(arm_of(r)->storage, "file server create", create_in_tx, &t, &e) < 0)
        return reply_err(r, &e);
    if (t.f.prov_state == PROV_CREATING)
        fleet_wake_file_server(arm_of(r)->fleet, t.f.id);
    LOG_INFO(r->config->log, "fileserver.created", LF_STR("fileServer", t.f.name),
             LF_STR("workspace", w->name), LF_STR("by", r->who->name));
    return reply_accepted(r, &w->scope, t.guid);
}

static struct replied *show(struct request *r, const struct file_server *f)
{
    reply_etag(r, f->updated_us);
    struct strbuf out = STRBUF_INIT;
    render_file_server(r, f, &out);
    return reply_json_text(r, 200, &out);
}

static struct replied *create_or_show(struct request *r, struct accepted *a)
{
    struct err e;
    struct workspace w;
    struct file_server f;
    const char *name = request_param(r, "fileServer");
    if (home_workspace(r, &w, &e) < 0 || check_name(r, "file server", name, &e) < 0)
        return reply_err(r, &e);
    int rc = st_file_server_get(arm_of(r)->storage, &r->arena, w.id, name, &f, &e);
    if (rc < 0)
        return reply_err(r, &e);
    if (rc == 0)
        return create(r, &w, a);
    const char *secrets;
    json_t *stored = json_loads(f.doc, 0, NULL);
    if (!json_object_get(json_object_get(stored, "properties"), "subnet"))
        forget_subnet(a->doc, file_server_subnet(r, &f, stored));
    json_decref(stored);
    if (check_alive("file server", f.name, f.prov_state, &e) < 0 ||
        st_file_server_secrets(arm_of(r)->storage, &r->arena, f.id, &secrets, &e) < 0 ||
        check_immutable(r, &schema_file_server, "file server", f.name, f.doc, secrets, a, &e) < 0)
        return reply_err(r, &e);
    return show(r, &f);
}

struct replied *file_servers_create(struct request *r)
{
    struct err e;
    struct accepted a;
    if (accept_body(r, &schema_file_server, &a, &e) < 0)
        return reply_err(r, &e);
    struct replied *done = create_or_show(r, &a);
    accepted_release(&a);
    return done;
}

struct replied *file_servers_get(struct request *r)
{
    struct err e;
    struct file_server f;
    if (find_file_server(r, &f, &e) < 0)
        return reply_err(r, &e);
    return show(r, &f);
}

struct replied *file_servers_delete(struct request *r)
{
    struct err e;
    struct file_server f;
    if (find_file_server(r, &f, &e) < 0)
        return delete_missing(r, &e);
    return delete_resource(r, RES_FILE_SERVER, f.id, &f.scope, f.name);
}

static int fetch(struct request *r, const struct listing_owner *owner, int64_t after, int limit,
                 void **rows, size_t *n, struct err *e)
{
    struct file_server *found;
    int rc = st_file_server_list(arm_of(r)->storage, &r->arena, &owner->filter, after, limit,
                                 &found, n, e);
    *rows = found;
    return rc;
}

static void render_row(struct request *r, const void *rows, size_t i, struct strbuf *out)
{
    render_file_server(r, (const struct file_server *)rows + i, out);
}

static int64_t row_id(const void *rows, size_t i)
{
    return ((const struct file_server *)rows)[i].id;
}

static const struct listing listing = {&schema_file_server, fetch, render_row, row_id};

static struct replied *list(struct request *r, filter_fn *filter_of)
{
    struct err e;
    struct listing_owner owner = {0};
    if (filter_of(r, &owner.filter, &e) < 0)
        return reply_err(r, &e);
    return reply_listing(r, &listing, &owner);
}

struct replied *file_servers_list(struct request *r)
{
    return list(r, filter_subscription);
}

struct replied *file_servers_list_by_group(struct request *r)
{
    return list(r, filter_group);
}

struct replied *file_servers_list_by_workspace(struct request *r)
{
    return list(r, filter_workspace);
}
