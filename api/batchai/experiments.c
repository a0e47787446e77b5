/* SPDX-License-Identifier: MIT
 *
 * Experiments: create, show, list, delete.
 */
#include "api/arm/may.h"
#include "api/batchai/common.h"
#include "api/batchai/handlers.h"
#include "api/batchai/lookup.h"
#include "api/batchai/render.h"
#include "api/http/paging.h"
#include "storage/storage.h"

static struct replied *show(struct request *r, const struct experiment *x)
{
    reply_etag(r, x->updated_us);
    struct strbuf out = STRBUF_INIT;
    render_experiment(r, x, &out);
    return reply_json_text(r, 200, &out);
}

/* 1: *x is the experiment, which existed or was just made. */
static int create(struct request *r, struct experiment *x, struct err *e)
{
    struct workspace w;
    const char *name = request_param(r, "experiment");
    if (find_workspace(r, &w, e) < 0 || check_name(r, "experiment", name, e) < 0 ||
        check_alive("workspace", w.name, w.prov_state, e) < 0)
        return -1;
    struct storage *st = arm_of(r)->storage;
    int rc = st_experiment_get(st, &r->arena, w.id, name, x, e);
    if (rc < 0)
        return -1;
    if (rc > 0)
        return check_alive("experiment", x->name, x->prov_state, e) < 0 ? -1 : 1;
    struct experiment fresh = {.workspace_id = w.id,
                               .name = name,
                               .prov_state = PROV_SUCCEEDED,
                               .prov_us = r->now_us,
                               .created_by = r->who->object_id,
                               .created_us = r->now_us,
                               .updated_us = r->now_us};
    int64_t id;
    if (st_experiment_insert(st, &fresh, &id, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "experiment.created", LF_STR("experiment", name),
             LF_STR("workspace", w.name), LF_STR("by", r->who->name));
    return st_experiment_by_id(st, &r->arena, id, x, e);
}

struct replied *experiments_create(struct request *r)
{
    struct err e;
    struct experiment x;
    if (create(r, &x, &e) <= 0)
        return reply_err(r, &e);
    return show(r, &x);
}

struct replied *experiments_get(struct request *r)
{
    struct err e;
    struct experiment x;
    if (find_experiment(r, &x, &e) < 0)
        return reply_err(r, &e);
    return show(r, &x);
}

struct replied *experiments_delete(struct request *r)
{
    struct err e;
    struct experiment x;
    if (find_experiment(r, &x, &e) < 0)
        return delete_missing(r, &e);
    return delete_resource(r, RES_EXPERIMENT, x.id, &x.scope, x.name);
}

struct replied *experiments_list(struct request *r)
{
    struct err e;
    struct workspace w;
    struct page page;
    struct strbuf *out;
    struct experiment *rows;
    size_t n;
    if (find_workspace(r, &w, &e) < 0 || page_parse(r, &page, &e) < 0 ||
        st_experiment_list(arm_of(r)->storage, &r->arena, w.id, page.after, page_limit(&page),
                           &rows, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n; i++)
        if ((!r->grant || arm_sees(r, render_id(r, &rows[i].scope, "experiments", rows[i].name))) &&
            (out = page_row(&page, rows[i].id)))
            render_experiment(r, &rows[i], out);
    arm_page_end(r, &page, n, n > 0 ? rows[n - 1].id : 0);
    return page_reply(r, &page);
}
