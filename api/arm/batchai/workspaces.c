/* SPDX-License-Identifier: MIT
 *
 * Workspaces as a kind of resource (api/arm/kind.h).
 */
#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/common.h"
#include "api/arm/batchai/errors.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/render.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "storage/storage.h"

static int seek(struct rm *m, struct err *e)
{
    return st_workspace_get(arm_of(m->r)->storage, &m->r->arena, m->group.id, m->name, m->row, e);
}

static int insert(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    struct workspace *w = m->row;
    *w = (struct workspace){
        .group_id = m->group.id,
        .scope = {.location = rm_text(m->given.doc, "location")},
        .name = m->name,
        .tags = rm_given_text(m, "tags", NULL),
        .prov_state = PROV_SUCCEEDED,
        .prov_us = r->now_us,
        .created_by = r->who->object_id,
        .created_us = r->now_us,
        .updated_us = r->now_us,
    };
    if (st_workspace_insert(arm_of(r)->storage, w, &m->id, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "workspace.created", LF_STR("workspace", w->name),
             LF_STR("group", m->group.name), LF_STR("by", r->who->name));
    return 0;
}

static int set_tags(struct rm *m, struct err *e)
{
    const char *text = rm_given_text(m, "tags", NULL);
    return text ? st_workspace_update_tags(arm_of(m->r)->storage, m->id, text, m->r->now_us, e) : 0;
}

/* A PUT of an existing workspace sets the tags if the body has other tags; otherwise it changes
 * nothing. Another location is refused. */
static int change(struct rm *m, struct err *e)
{
    const struct workspace *w = m->row;
    if (rm_check_location(m, w->name, w->scope.location, NULL, e) < 0)
        return -1;
    const json_t *stored = w->tags ? request_own(m->r, json_loads(w->tags, 0, NULL)) : NULL;
    return json_equal(json_object_get(m->given.doc, "tags"), stored) ? 0 : set_tags(m, e);
}

static int find(struct rm *m, struct err *e)
{
    return find_workspace(m->r, m->row, e);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    render_workspace(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct workspace_rows found = {NULL, 0};
    int rc = st_workspace_list(arm_of(r)->storage, &r->arena, &q->filter,
                               &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static rm_step *const steps[] = {rm_step_body, rm_step_group, batchai_step_name,
                                 rm_step_group_alive, NULL};

const struct rm_kind workspace_kind = {
    BATCHAI_KIND,
    .what = "workspace",
    .param = "workspace",
    .kind = RES_WORKSPACE,
    .columns = RM_COLUMNS(struct workspace),
    .schema = &schema_workspace,
    .patch_schema = &schema_workspace_update,
    .other_location = BATCHAI_IMMUTABLE_PROPERTY,
    .cannot_move = "its location cannot be changed",
    .steps = steps,
    .seek = seek,
    .insert = insert,
    .change = change,
    .rereads = true,
    .patch = set_tags,
    .find = find,
    .render = render,
    .list = list,
};
