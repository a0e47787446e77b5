/* SPDX-License-Identifier: MIT
 *
 * Subscriptions in addition to the configured one: one for each team, or for each test. Each has
 * its own resources, quotas and roles; names of accounts and vaults are unique over all
 * subscriptions.
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/http/accept.h"
#include "api/http/request.h"
#include "lib/timefmt.h"
#include "model/schema_rows.h"
#include "storage/storage.h"

#define NAME_MAX_BYTES 64

static json_t *render(const struct subscription *s)
{
    char made[TIMEFMT_SIZE];
    timefmt_wire(s->created_us, made);
    return json_pack("{s:s, s:s, s:s}", "subscriptionId", s->guid, "displayName", s->name,
                     "createdTime", made);
}

struct replied *site_subscriptions_list(struct request *r)
{
    struct err e;
    struct subscription *rows;
    size_t n;
    if (st_subscription_list(admin_of(r)->storage, &r->arena, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    json_t *value = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(value, render(&rows[i]));
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}

static const struct field given_rows[] = {
    TEXT("subscriptionId", INTO(subscription, guid)),
    TEXT("displayName", 0, 1, NAME_MAX_BYTES, INTO(subscription, name)),
};
static SCHEMA(given_body, given_rows, "Subscription", FILLS(subscription));

static int read_body(struct request *r, struct subscription *s, struct err *e)
{
    struct subscription given = {0};
    if (request_read_body(r, &given_body, &given, e) < 0)
        return -1;
    if (given.guid && !guid_valid(given.guid))
        return err_set(e, ERR_INVALID_PROPERTY, "subscriptionId",
                       "subscriptionId is '%.100s'; it must be a GUID, such as "
                       "11111111-2222-4333-8444-555555555555.",
                       given.guid);
    char *made = arena_alloc(&r->arena, GUID_SIZE);
    request_guid(r, made);
    s->guid =
        access_subscription_id(admin_of(r)->access, &r->arena, given.guid ? given.guid : made);
    s->name = given.name ? given.name : s->guid;
    return 0;
}

struct replied *site_subscriptions_add(struct request *r)
{
    struct err e;
    struct subscription s = {.created_us = r->now_us, .created_by = r->who->object_id};
    const char *first = admin_of(r)->access->subscription_id;
    if (read_body(r, &s, &e) < 0)
        return reply_err(r, &e);
    if (s.guid == first || st_subscription_insert(admin_of(r)->storage, &s, &s.id, &e) < 0) {
        if (s.guid == first || e.code == ERR_CONFLICT)
            err_set(&e, ERR_CONFLICT, "subscriptionId", "There is a subscription %s already.",
                    s.guid);
        return reply_err(r, &e);
    }
    LOG_INFO(r->config->log, "subscription.added", LF_STR("subscription", s.guid),
             LF_STR("by", r->who->name));
    return reply_json(r, 201, render(&s));
}

/* Refuses a subscription that is not empty. */
static int check_empty(struct request *r, const struct subscription *s, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    struct resource_group_rows groups;
    struct vault_rows vaults;
    if (st_group_list(st, &r->arena, s->guid, &(struct st_page){.limit = 1}, &groups, e) < 0 ||
        st_vault_list_deleted(st, &r->arena, s->guid, &(struct st_page){.limit = 1}, &vaults, e) <
            0)
        return -1;
    if (groups.n > 0)
        return err_set(e, ERR_CONFLICT, NULL,
                       "The subscription %s has resource groups, such as %s; delete them first.",
                       s->guid, groups.items[0].name);
    if (vaults.n > 0)
        return err_set(e, ERR_CONFLICT, NULL,
                       "The subscription %s has deleted vaults, such as %s; purge them first.",
                       s->guid, vaults.items[0].name);
    return 0;
}

/* The removal also removes the role assignments in the subscription. If there are any, the sender
 * needs the right to assign roles there. */
static int check_roles(struct request *r, const struct subscription *s, struct err *e)
{
    const char *scope = arena_concat(&r->arena, "/subscriptions/", s->guid);
    bool any;
    if (st_role_assignment_any_in(admin_of(r)->storage, scope, &any, e) < 0)
        return -1;
    return any ? access_check_assign(admin_of(r)->access, r, scope, e) : 0;
}

struct replied *site_subscriptions_remove(struct request *r)
{
    struct err e;
    struct subscription s;
    const struct access *x = admin_of(r)->access;
    const char *id = request_param(r, "subscription");
    int rc = access_subscription(x, &r->arena, id, &s, &e);
    if (rc == 0)
        err_set(&e, ERR_RESOURCE_NOT_FOUND, NULL, "There is no subscription '%.100s'.", id);
    if (rc <= 0)
        return reply_err(r, &e);
    if (s.guid == x->subscription_id) {
        err_set(&e, ERR_CONFLICT, NULL,
                "The subscription %s is configured (subscription.id) and cannot be deleted.",
                s.guid);
        return reply_err(r, &e);
    }
    if (check_roles(r, &s, &e) < 0 || check_empty(r, &s, &e) < 0 ||
        st_subscription_remove(admin_of(r)->storage, s.id, &e) < 0)
        return reply_err(r, &e);
    const struct admin_watch *watch = &admin_of(r)->watch;
    if (watch->gone)
        watch->gone(watch->ctx, s.guid);
    LOG_INFO(r->config->log, "subscription.removed", LF_STR("subscription", s.guid),
             LF_STR("by", r->who->name));
    return reply_empty(r, 204);
}
