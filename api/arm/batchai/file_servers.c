/* SPDX-License-Identifier: MIT
 *
 * File servers as a kind of resource (api/arm/kind.h). If a machine must export a file server, the
 * fleet sets it up there.
 */
#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/common.h"
#include "api/arm/batchai/home.h"
#include "api/arm/batchai/linked.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/render.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "lib/guid.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

static int seek(struct rm *m, struct err *e)
{
    const struct workspace *w = m->parent;
    return st_file_server_get(arm_of(m->r)->storage, &m->r->arena, w->id, m->name, m->row, e);
}

static int prepare(struct rm *m, struct err *e)
{
    const struct workspace *w = m->parent;
    struct request *r = m->r;
    struct file_server *f = m->row;
    struct file_server_backing at;
    char *guid = arena_alloc(&r->arena, GUID_SIZE);
    request_guid(r, guid);
    if (check_location_given(r, &m->given, "workspace", w->scope.location, e) < 0)
        return -1;
    accepted_place(r, &m->given, w->scope.location);
    *f = (struct file_server){.name = m->name,
                              .guid = guid,
                              .doc = m->given.doc_text,
                              .scope = w->scope,
                              .prov_state = PROV_SUCCEEDED,
                              .prov_us = r->now_us,
                              .created_by = r->who->object_id,
                              .created_us = r->now_us,
                              .updated_us = r->now_us};
    f->scope.workspace = w->name;
    m->done = !(fleet_file_server_backing(arm_of(r)->fleet, &r->arena, f, &at) && at.machine);
    if (!m->done)
        f->prov_state = PROV_CREATING; /* the fleet must let a machine export it */
    return check_linked_subnet(r, m->given.doc, e);
}

static int insert(struct rm *m, struct err *e)
{
    struct workspace *w = m->parent;
    struct file_server *f = m->row;
    if (home_make_workspace(m->r, w, e) < 0)
        return -1;
    f->workspace_id = w->id;
    return st_file_server_insert(arm_of(m->r)->storage, f, m->given.secrets_text, &m->id, e);
}

static struct replied *made(struct rm *m)
{
    const struct workspace *w = m->parent;
    if (!m->done)
        fleet_wake_file_server(arm_of(m->r)->fleet, m->id);
    LOG_INFO(m->r->config->log, "file_server.created", LF_STR("file_server", m->name),
             LF_STR("workspace", w->name), LF_STR("by", m->r->who->name));
    return reply_accepted(m->r, m->scope, m->guid);
}

/* A PUT of an existing file server is accepted only if it changes nothing. */
static int change(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    const struct file_server *f = m->row;
    const char *secrets;
    const json_t *stored = request_own(r, json_loads(f->doc, 0, NULL));
    if (!json_object_get(json_object_get(stored, "properties"), "subnet"))
        forget_subnet(m->given.doc, file_server_subnet(r, f, stored));
    if (st_file_server_secrets(arm_of(r)->storage, &r->arena, f->id, &secrets, e) < 0)
        return -1;
    return check_immutable(m, f->doc, secrets, e);
}

static int find(struct rm *m, struct err *e)
{
    return find_file_server(m->r, m->row, e);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    render_file_server(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct st_filter filter;
    struct file_server_rows found = {NULL, 0};
    int rc = home_filter(r, q, &filter, e);
    if (rc == 0)
        rc =
            st_file_server_list(arm_of(r)->storage, &r->arena, &filter,
                                &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static rm_step *const steps[] = {rm_step_body, home_step_workspace, batchai_step_name, NULL};

const struct rm_kind file_server_kind = {
    BATCHAI_KIND,
    .what = "file server",
    .param = "fileServer",
    .kind = RES_FILE_SERVER,
    .columns = RM_COLUMNS(struct file_server),
    .schema = &schema_file_server,
    .steps = steps,
    .seek = seek,
    .prepare = prepare,
    .insert = insert,
    .operation = true,
    .change = change,
    .made = made,
    .find = find,
    .render = render,
    .list = list,
};
