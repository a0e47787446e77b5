/* SPDX-License-Identifier: MIT
 *
 * Experiments as a kind of resource (api/arm/kind.h). An experiment is only a name in its parent, a
 * workspace.
 */
#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/common.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/render.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "storage/storage.h"

static int step_workspace(struct rm *m, struct err *e)
{
    m->parent = arena_alloc(&m->r->arena, sizeof(struct workspace));
    return find_workspace(m->r, m->parent, e);
}

static int step_workspace_alive(struct rm *m, struct err *e)
{
    const struct workspace *w = m->parent;
    return check_alive("workspace", w->name, w->prov_state, e);
}

static int seek(struct rm *m, struct err *e)
{
    const struct workspace *w = m->parent;
    return st_experiment_get(arm_of(m->r)->storage, &m->r->arena, w->id, m->name, m->row, e);
}

static int insert(struct rm *m, struct err *e)
{
    const struct workspace *w = m->parent;
    struct request *r = m->r;
    struct experiment *x = m->row;
    *x = (struct experiment){.workspace_id = w->id,
                             .name = m->name,
                             .prov_state = PROV_SUCCEEDED,
                             .prov_us = r->now_us,
                             .created_by = r->who->object_id,
                             .created_us = r->now_us,
                             .updated_us = r->now_us};
    if (st_experiment_insert(arm_of(r)->storage, x, &m->id, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "experiment.created", LF_STR("experiment", m->name),
             LF_STR("workspace", w->name), LF_STR("by", r->who->name));
    return 0;
}

static int find(struct rm *m, struct err *e)
{
    return find_experiment(m->r, m->row, e);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    render_experiment(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct experiment_rows found = {NULL, 0};
    int rc = st_experiment_list(arm_of(r)->storage, &r->arena, q->above,
                                &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static rm_step *const steps[] = {step_workspace, batchai_step_name, step_workspace_alive, NULL};

const struct rm_kind experiment_kind = {
    BATCHAI_KIND,
    .what = "experiment",
    .param = "experiment",
    .kind = RES_EXPERIMENT,
    .columns = RM_COLUMNS(struct experiment),
    .steps = steps,
    .seek = seek,
    .insert = insert,
    .rereads = true,
    .find = find,
    .render = render,
    .list = list,
};
