/* SPDX-License-Identifier: MIT
 *
 * Resource groups. Deleting one deletes what is in it, asynchronously: 202 with a Location that
 * answers 202 until nothing is left, then 200.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/arm/errors.h"
#include "api/arm/handlers.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "api/http/paging.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define GROUP_NAME_MAX 90 /* ARM's limit */

static json_t *render_group(const struct resource_group *g)
{
    json_t *tags = g->tags ? json_loads(g->tags, 0, NULL) : NULL;
    return json_pack("{s:o, s:s, s:s, s:s, s:o*, s:{s:s}}", "id",
                     json_sprintf("/subscriptions/%s/resourceGroups/%s", g->subscription, g->name),
                     "name", g->name, "type", "Microsoft.Resources/resourceGroups", "location",
                     g->location, "tags", tags, "properties", "provisioningState",
                     g->prov_state == PROV_DELETING   ? "Deleting"
                     : g->prov_state == PROV_CREATING ? "Creating"
                                                      : "Succeeded");
}

static int check_group_name(const char *name, struct err *e)
{
    size_t n = strlen(name);
    bool ok = n >= 1 && n <= GROUP_NAME_MAX && name[n - 1] != '.';
    for (const char *p = name; ok && *p; p++)
        ok = isalnum((unsigned char)*p) || strchr("-_.()", *p);
    if (ok)
        return 0;
    return err_set(e, ERR_INVALID_NAME, NULL,
                   "The resource group name '%.120s' is invalid: it must be 1 to %d letters, "
                   "digits, '-', '_', '.', '(' and ')', and not end with a period.",
                   name, GROUP_NAME_MAX);
}

/* The contents of a request for a group, after the same checks as for a workspace. */
struct given {
    json_t *doc;          /* owned */
    const char *location; /* in doc; NULL: not given */
    char *tags;           /* owned JSON text; NULL: not given */
};

static void given_of(json_t *doc, struct given *g)
{
    const json_t *tags = json_object_get(doc, "tags");
    *g = (struct given){.doc = doc,
                        .location = json_string_value(json_object_get(doc, "location")),
                        .tags = tags ? jsontext(tags) : NULL};
}

static void given_release(struct given *g)
{
    free(g->tags);
    json_decref(g->doc);
}

static int accept_group(struct request *r, bool partial, struct given *g, struct err *e)
{
    json_t *doc, *secrets;
    int rc = partial ? schema_accept_partial(&schema_group, V_ALL, r->body, &doc, &secrets, e)
                     : schema_accept(&schema_group, V_ALL, r->body, &doc, &secrets, e);
    if (rc < 0)
        return -1;
    json_decref(secrets);
    given_of(doc, g);
    return 0;
}

/* The only answer of the resource manager itself for which this header was observed. */
static void count_write(struct request *r)
{
    reply_header(r, "x-ms-ratelimit-remaining-subscription-writes", "1199");
}

static struct replied *insert(struct request *r, const char *name, const struct given *given)
{
    struct err e;
    const struct resource_group g = {.subscription = arm_subscription(r),
                                     .name = name,
                                     .location = given->location,
                                     .tags = given->tags,
                                     .prov_state = PROV_SUCCEEDED,
                                     .created_by = r->who->object_id,
                                     .created_us = r->now_us,
                                     .updated_us = r->now_us};
    int64_t id;
    if (st_group_insert(arm_of(r)->storage, &g, &id, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "group.created", LF_STR("group", name), LF_STR("by", r->who->name));
    count_write(r);
    return reply_json(r, 201, render_group(&g));
}

static struct replied *update(struct request *r, struct resource_group *g, const char *location,
                              const char *tags)
{
    struct err e;
    if (check_group_alive(g, &e) < 0)
        return reply_err(r, &e);
    if (location && !same_region(&r->arena, location, g->location)) {
        err_set(&e, ERR_CONFLICT, "location",
                "The resource group %s exists in location '%s'; a group cannot be moved to "
                "'%.100s'.",
                g->name, g->location, location);
        return reply_err(r, &e);
    }
    if (st_group_update(arm_of(r)->storage, g->id, tags, r->now_us, &e) < 0)
        return reply_err(r, &e);
    g->tags = tags;
    return reply_json(r, 200, render_group(g));
}

struct replied *groups_create(struct request *r)
{
    struct err e;
    struct resource_group g;
    struct given given;
    const char *name = request_param(r, "group");
    if (find_subscription(r, &e) < 0 || check_group_name(name, &e) < 0 ||
        accept_group(r, false, &given, &e) < 0)
        return reply_err(r, &e);
    int rc = st_group_get(arm_of(r)->storage, &r->arena, arm_subscription(r), name, &g, &e);
    if (rc > 0)
        count_write(r);
    struct replied *done = rc < 0   ? reply_err(r, &e)
                           : rc > 0 ? update(r, &g, given.location, given.tags)
                                    : insert(r, name, &given);
    given_release(&given);
    return done;
}

struct replied *groups_update(struct request *r)
{
    struct err e;
    struct resource_group g;
    struct given given;
    if (find_group(r, &g, &e) < 0 || accept_group(r, true, &given, &e) < 0)
        return reply_err(r, &e);
    struct replied *done = update(r, &g, given.location, given.tags ? given.tags : g.tags);
    given_release(&given);
    return done;
}

struct replied *groups_get(struct request *r)
{
    struct err e;
    struct resource_group g;
    if (find_group(r, &g, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, render_group(&g));
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

struct replied *groups_list(struct request *r)
{
    struct err e;
    struct page page;
    struct resource_group *rows;
    size_t n;
    long top;
    if (find_subscription(r, &e) < 0 || page_parse(r, &page, &e) < 0 ||
        request_query_int(r, "$top", 1, page.max, page.max, &top, &e) < 0)
        return reply_err(r, &e);
    page.max = top;
    if (st_group_list(arm_of(r)->storage, &r->arena, arm_subscription(r), page.after,
                      page_limit(&page), &rows, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n; i++)
        arm_page_add(r, &page, rows[i].id, render_group(&rows[i]));
    arm_page_end(r, &page, n, n > 0 ? rows[n - 1].id : 0);
    return page_reply(r, &page);
}

static void add_location(struct request *r, const char *guid)
{
    reply_header(r, "Location", "%s/subscriptions/%s/operationresults/%s?api-version=%s",
                 request_base(r), arm_subscription(r), guid, r->version_name);
    reply_retry_after(r);
}

struct replied *groups_delete(struct request *r)
{
    struct err e;
    struct resource_group g;
    if (find_group(r, &g, &e) < 0)
        return reply_err(r, &e);
    struct scope scope = {.subscription = g.subscription, .location = g.location};
    const char *guid;
    struct op_request op = {
        .kind = RES_GROUP, .resource_id = g.id, .scope = &scope, .name = g.name, .is_delete = true};
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
