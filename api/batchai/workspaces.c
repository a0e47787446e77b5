/* SPDX-License-Identifier: MIT
 *
 * Workspaces: create, change, show, list, delete.
 */
#include <stdlib.h>

#include "api/arm/may.h"
#include "api/batchai/common.h"
#include "api/batchai/errors.h"
#include "api/batchai/handlers.h"
#include "api/batchai/lookup.h"
#include "api/batchai/render.h"
#include "api/http/paging.h"
#include "storage/storage.h"

static struct replied *show(struct request *r, const struct workspace *w)
{
    struct strbuf out = STRBUF_INIT;
    reply_etag(r, w->updated_us);
    render_workspace(r, w, &out);
    return reply_json_text(r, 200, &out);
}

static struct replied *reply_workspace(struct request *r, int64_t id)
{
    struct err e;
    struct workspace w;
    int rc = st_workspace_by_id(arm_of(r)->storage, &r->arena, id, &w, &e);
    if (rc == 0)
        rc = err_set(&e, ERR_WORKSPACE_NOT_FOUND, NULL, "The workspace has just been removed");
    if (rc < 0)
        return reply_err(r, &e);
    return show(r, &w);
}

static int insert_workspace(struct request *r, const struct resource_group *g,
                            const struct accepted *a, int64_t *id, struct err *e)
{
    json_t *tags = json_object_get(a->doc, "tags");
    char *tags_text = tags ? json_dumps(tags, JSON_COMPACT) : NULL;
    struct workspace w = {
        .group_id = g->id,
        .scope = {.location = json_text_at(a->doc, "location")},
        .name = request_param(r, "workspace"),
        .tags = tags_text,
        .prov_state = PROV_SUCCEEDED,
        .prov_us = r->now_us,
        .created_by = r->who->object_id,
        .created_us = r->now_us,
        .updated_us = r->now_us,
    };
    int rc = st_workspace_insert(arm_of(r)->storage, &w, id, e);
    free(tags_text);
    if (rc == 0)
        LOG_INFO(r->config->log, "workspace.created", LF_STR("workspace", w.name),
                 LF_STR("group", g->name), LF_STR("by", r->who->name));
    return rc;
}

/* A repeated PUT answers 200 with the stored workspace; a different location is refused. */
static int check_same_location(struct arena *a, const struct workspace *w, const json_t *doc,
                               struct err *e)
{
    const char *given = json_text_at(doc, "location");
    if (same_region(a, given, w->scope.location))
        return 0;
    return err_set(e, BATCHAI_IMMUTABLE_PROPERTY, "location",
                   "The workspace %s exists in location '%s'; its location cannot be changed to "
                   "'%.100s'.",
                   w->name, w->scope.location, given);
}

/* A PUT with tags sets them; one without, or with the same, changes nothing. */
static int put_tags(struct request *r, const struct workspace *w, const json_t *doc, struct err *e)
{
    json_t *tags = json_object_get(doc, "tags");
    json_t *stored = w->tags ? json_loads(w->tags, 0, NULL) : NULL;
    bool same = !tags || json_equal(tags, stored);
    json_decref(stored);
    if (same)
        return 0;
    char *text = json_dumps(tags, JSON_COMPACT);
    int rc = st_workspace_update_tags(arm_of(r)->storage, w->id, text, r->now_us, e);
    free(text);
    return rc;
}

static int create(struct request *r, const struct accepted *a, int64_t *id, struct err *e)
{
    struct resource_group g;
    struct workspace w;
    if (find_group(r, &g, e) < 0 ||
        check_name(r, "workspace", request_param(r, "workspace"), e) < 0 ||
        check_group_alive(&g, e) < 0)
        return -1;
    int rc =
        st_workspace_get(arm_of(r)->storage, &r->arena, g.id, request_param(r, "workspace"), &w, e);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return insert_workspace(r, &g, a, id, e);
    *id = w.id;
    if (check_alive("workspace", w.name, w.prov_state, e) < 0)
        return -1;
    if (check_same_location(&r->arena, &w, a->doc, e) < 0)
        return -1;
    return put_tags(r, &w, a->doc, e);
}

struct replied *workspaces_create(struct request *r)
{
    struct err e;
    struct accepted a;
    if (accept_body(r, &schema_workspace, &a, &e) < 0)
        return reply_err(r, &e);
    int64_t id = 0;
    int rc = create(r, &a, &id, &e);
    accepted_release(&a);
    return rc < 0 ? reply_err(r, &e) : reply_workspace(r, id);
}

struct replied *workspaces_update(struct request *r)
{
    struct err e;
    struct workspace w;
    json_t *doc = NULL, *secrets = NULL;
    if (find_workspace(r, &w, &e) < 0 || check_alive("workspace", w.name, w.prov_state, &e) < 0 ||
        schema_accept_partial(&schema_workspace_update, r->version, r->body, &doc, &secrets, &e) <
            0)
        return reply_err(r, &e);
    json_t *tags = json_object_get(doc, "tags");
    char *text = tags ? json_dumps(tags, JSON_COMPACT) : NULL;
    int rc = 0;
    if (text)
        rc = st_workspace_update_tags(arm_of(r)->storage, w.id, text, r->now_us, &e);
    free(text);
    json_decref(doc);
    json_decref(secrets);
    return rc < 0 ? reply_err(r, &e) : reply_workspace(r, w.id);
}

struct replied *workspaces_get(struct request *r)
{
    struct err e;
    struct workspace w;
    if (find_workspace(r, &w, &e) < 0)
        return reply_err(r, &e);
    return show(r, &w);
}

struct replied *workspaces_delete(struct request *r)
{
    struct err e;
    struct workspace w;
    if (find_workspace(r, &w, &e) < 0)
        return delete_missing(r, &e);
    return delete_resource(r, RES_WORKSPACE, w.id, &w.scope, w.name);
}

static struct replied *list(struct request *r, int64_t group_id)
{
    struct err e;
    struct page page;
    struct strbuf *out;
    struct workspace *rows;
    size_t n;
    if (page_parse(r, &page, &e) < 0 ||
        st_workspace_list(arm_of(r)->storage, &r->arena, arm_subscription(r), group_id, page.after,
                          page_limit(&page), &rows, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n; i++)
        if ((!r->grant || arm_sees(r, render_id(r, &rows[i].scope, "workspaces", rows[i].name))) &&
            (out = page_row(&page, rows[i].id)))
            render_workspace(r, &rows[i], out);
    arm_page_end(r, &page, n, n > 0 ? rows[n - 1].id : 0);
    return page_reply(r, &page);
}

struct replied *workspaces_list(struct request *r)
{
    struct err e;
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    return list(r, 0);
}

struct replied *workspaces_list_by_group(struct request *r)
{
    struct err e;
    struct resource_group g;
    if (find_group(r, &g, &e) < 0)
        return reply_err(r, &e);
    return list(r, g.id);
}
