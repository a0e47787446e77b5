/* SPDX-License-Identifier: MIT
 *
 * Resource groups as a kind of resource (api/arm/kind.h). The deletion of a group and its resources
 * is asynchronous: the reply is 202 with a Location, and a GET of that URL returns 202 until the
 * group is removed, then 200.
 */
#include <ctype.h>
#include <string.h>

#include "api/arm/errors.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/routes.h"
#include "lib/jsontext.h"
#include "model/schema_rows.h"
#include "storage/storage.h"

#define GROUP_NAME_MAX 90 /* ARM's limit */

/* --- create and change ------------------------------------------------------------------------ */

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    bool ok = n >= 1 && n <= GROUP_NAME_MAX && name[n - 1] != '.';
    for (const char *p = name; ok && *p; p++)
        ok = isalnum((unsigned char)*p) || strchr("-_.()", *p);
    return ok;
}

/* Adds a header that the real resource manager sends in no other reply of its own. */
static void count_write(struct request *r)
{
    reply_header(r, "x-ms-ratelimit-remaining-subscription-writes", "1199");
}

static int seek(struct rm *m, struct err *e)
{
    int rc = st_group_get(arm_of(m->r)->storage, &m->r->arena, arm_subscription(m->r), m->name,
                          m->row, e);
    if (rc > 0)
        count_write(m->r);
    return rc;
}

static int insert(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    struct resource_group *g = m->row;
    *g = (struct resource_group){.subscription = arm_subscription(r),
                                 .name = m->name,
                                 .location = rm_text(m->given.doc, "location"),
                                 .tags = rm_given_text(m, "tags", NULL),
                                 .prov_state = PROV_SUCCEEDED,
                                 .created_by = r->who->object_id,
                                 .created_us = r->now_us,
                                 .updated_us = r->now_us};
    return st_group_insert(arm_of(r)->storage, g, &m->id, e);
}

static struct replied *made(struct rm *m)
{
    LOG_INFO(m->r->config->log, "group.created", LF_STR("group", m->name),
             LF_STR("by", m->r->who->name));
    count_write(m->r);
    return rm_show(m, 201);
}

static int update(struct rm *m, const char *tags, struct err *e)
{
    struct resource_group *g = m->row;
    if (check_group_alive(g, e) < 0 || rm_check_location(m, g->name, g->location, NULL, e) < 0)
        return -1;
    g->tags = tags;
    return st_group_update(arm_of(m->r)->storage, g->id, tags, m->r->now_us, e);
}

static int change(struct rm *m, struct err *e)
{
    return update(m, rm_given_text(m, "tags", NULL), e);
}

static int patch(struct rm *m, struct err *e)
{
    const struct resource_group *g = m->row;
    return update(m, rm_given_text(m, "tags", g->tags), e);
}

/* --- show and list ---------------------------------------------------------------------------- */

static int find(struct rm *m, struct err *e)
{
    return find_group(m->r, m->row, e);
}

static const char *path(struct request *r, const void *row)
{
    const struct resource_group *g = row;
    return arena_concat(&r->arena, "/subscriptions/", g->subscription, "/resourceGroups/", g->name);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    const struct resource_group *g = row;
    const char *state = g->prov_state == PROV_DELETING   ? "Deleting"
                        : g->prov_state == PROV_CREATING ? "Creating"
                                                         : "Succeeded";
    json_auto_t *shown = json_pack(
        "{s:s, s:s, s:s, s:s, s:o*, s:{s:s}}", "id", path(r, g), "name", g->name, "type",
        "Microsoft.Resources/resourceGroups", "location", g->location, "tags",
        g->tags ? json_loads(g->tags, 0, NULL) : NULL, "properties", "provisioningState", state);
    jsontext_add(out, shown);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct resource_group_rows found = {NULL, 0};
    int rc = st_group_list(arm_of(r)->storage, &r->arena, arm_subscription(r),
                           &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

struct replied *groups_exists(struct request *r)
{
    struct err e;
    struct resource_group g;
    int rc = find_group(r, &g, &e);
    if (rc == 0)
        return reply_empty(r, 204);
    return e.code == ERR_GROUP_NOT_FOUND ? reply_empty(r, 404) : reply_err(r, &e);
}

/* --- delete ----------------------------------------------------------------------------------- */

static void add_location(struct request *r, const char *guid)
{
    reply_header(r, "Location", "%s/subscriptions/%s/operationresults/%s?api-version=%s",
                 request_base(r), arm_subscription(r), guid, r->version_name);
    reply_retry_after(r);
}

static struct replied *remove_group(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    const struct resource_group *g = m->row;
    const struct scope scope = {.subscription = g->subscription, .location = g->location};
    const char *guid;
    const struct op_request op = {.kind = RES_GROUP,
                                  .resource_id = g->id,
                                  .scope = &scope,
                                  .name = g->name,
                                  .is_delete = true};
    if (operation_delete(r, &op, &guid, &e) < 0)
        return reply_err(r, &e);
    add_location(r, guid);
    return reply_empty(r, 202);
}

struct replied *arm_operation_results(struct request *r)
{
    struct err e;
    struct operation op;
    if (operation_find(r, request_param(r, "operation"), &op, &e) < 0)
        return reply_err(r, &e);
    if (op.status != OP_IN_PROGRESS)
        return reply_empty(r, 200);
    add_location(r, op.guid);
    return reply_empty(r, 202);
}

/* --- the kind --------------------------------------------------------------------------------- */

static const struct rm_name_rule name_rule = {
    .is_valid = is_name,
    .error = ERR_INVALID_NAME,
    .shown = 120,
    .invalid = {"The resource group name '",
                "' is invalid: it must be 1 to 90 letters, digits, '-', '_', '.', '(' and ')', and "
                "not end with a period."},
};

static rm_step *const steps[] = {rm_step_subscription, rm_step_name, rm_step_body, NULL};
static const int missing[] = {0}; /* a DELETE of a missing group fails */

static const struct field tag_rows[] = {
    TEXT("tagName", FIELD_READONLY),
    TEXT("tagValue", FIELD_READONLY),
};
static SCHEMA(tag_schema, tag_rows, "ResourceGroupFilter");

const struct rm_kind group_kind = {
    .what = "resource group",
    .param = "group",
    .columns = {.size = sizeof(struct resource_group),
                .id = offsetof(struct resource_group, id),
                .name = offsetof(struct resource_group, name),
                .updated = offsetof(struct resource_group, updated_us)},
    .schema = &schema_group,
    .patch_schema = &schema_group,
    .name_rule = &name_rule,
    .other_location = ERR_CONFLICT,
    .cannot_move = "a group cannot be moved",
    .steps = steps,
    .seek = seek,
    .insert = insert,
    .change = change,
    .made = made,
    .patch = patch,
    .find = find,
    .missing = missing,
    .remove = remove_group,
    .render = render,
    .list = list,
    .has_top = true,
    .tag_schema = &tag_schema,
};
