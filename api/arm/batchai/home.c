/* SPDX-License-Identifier: MIT
 *
 * Finds or creates the workspace and the experiment of a resource. Id 0: the row will be created
 * together with the resource. Rows are in the arena. Called only on the loop's thread.
 */
#include "api/arm/batchai/home.h"

#include "api/arm/batchai/lookup.h"
#include "model/home.h"

/* The location in the body (a string, because the body was accepted), otherwise the group's. */
static const char *given_location(const struct request *r, const struct resource_group *g)
{
    const char *location = json_string_value(json_object_get(r->body, "location"));
    return location ? location : g->location;
}

static int flat_workspace(struct request *r, struct workspace *w, struct err *e)
{
    struct resource_group g;
    if (find_group(r, &g, e) < 0 || check_group_alive(&g, e) < 0)
        return -1;
    int rc = st_workspace_get(arm_of(r)->storage, &r->arena, g.id, HOME_WORKSPACE, w, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    *w = (struct workspace){.group_id = g.id,
                            .scope = {.subscription = g.subscription,
                                      .group = g.name,
                                      .location = given_location(r, &g)},
                            .name = HOME_WORKSPACE,
                            .prov_state = PROV_SUCCEEDED,
                            .prov_us = r->now_us,
                            .created_by = r->who->object_id,
                            .created_us = r->now_us,
                            .updated_us = r->now_us};
    return 0;
}

int home_workspace(struct request *r, struct workspace *w, struct err *e)
{
    int rc = request_is_flat(r) ? flat_workspace(r, w, e) : find_workspace(r, w, e);
    if (rc < 0 || check_alive("workspace", w->name, w->prov_state, e) < 0)
        return -1;
    w->scope.workspace = w->name;
    if (request_is_flat(r))
        w->scope.location = json_string_value(json_object_get(r->body, "location"));
    return 0;
}

static int flat_experiment(struct request *r, struct workspace *w, struct experiment *x,
                           struct err *e)
{
    if (home_workspace(r, w, e) < 0)
        return -1;
    int rc =
        w->id ? st_experiment_get(arm_of(r)->storage, &r->arena, w->id, HOME_EXPERIMENT, x, e) : 0;
    if (rc < 0)
        return -1;
    if (rc == 0)
        *x = (struct experiment){.name = HOME_EXPERIMENT,
                                 .prov_state = PROV_SUCCEEDED,
                                 .prov_us = r->now_us,
                                 .created_by = r->who->object_id,
                                 .created_us = r->now_us,
                                 .updated_us = r->now_us};
    x->scope = w->scope;
    return 0;
}

int home_experiment(struct request *r, struct workspace *w, struct experiment *x, struct err *e)
{
    int rc = request_is_flat(r) ? flat_experiment(r, w, x, e) : find_experiment(r, x, e);
    return rc < 0 ? -1 : check_alive("experiment", x->name, x->prov_state, e);
}

int home_make_workspace(struct request *r, struct workspace *w, struct err *e)
{
    if (w->id)
        return 0;
    if (st_workspace_insert(arm_of(r)->storage, w, &w->id, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "workspace.created", LF_STR("workspace", w->name),
             LF_STR("group", w->scope.group), LF_STR("by", r->who->name));
    return 0;
}

int home_make_experiment(struct request *r, struct workspace *w, struct experiment *x,
                         struct err *e)
{
    if (x->id)
        return 0;
    if (home_make_workspace(r, w, e) < 0)
        return -1;
    x->workspace_id = w->id;
    if (st_experiment_insert(arm_of(r)->storage, x, &x->id, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "experiment.created", LF_STR("experiment", x->name),
             LF_STR("workspace", w->name), LF_STR("by", r->who->name));
    return 0;
}

int home_step_workspace(struct rm *m, struct err *e)
{
    struct workspace *w = arena_alloc(&m->r->arena, sizeof *w);
    m->parent = w;
    m->scope = &w->scope;
    m->in_group = request_is_flat(m->r);
    return home_workspace(m->r, w, e);
}

int home_filter(struct request *r, const struct rm_query *q, struct st_filter *out, struct err *e)
{
    struct workspace w;
    *out = q->filter;
    if (!request_is_flat(r))
        return 0;
    out->workspace = HOME_WORKSPACE;
    if (!q->above)
        return 0;
    int rc = st_workspace_get(arm_of(r)->storage, &r->arena, q->above, HOME_WORKSPACE, &w, e);
    out->workspace_id = rc > 0 ? w.id : NO_ROW;
    return rc < 0 ? -1 : 0;
}
