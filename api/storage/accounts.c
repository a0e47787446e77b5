/* SPDX-License-Identifier: MIT
 *
 * Storage accounts: create, change, show, list, delete. One is made at once, but told of as the
 * service does: 202, and a place to ask that answers with the account.
 */
#include <string.h>
#include <strings.h>

#include "api/arm/account.h"
#include "api/arm/errors.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "api/http/paging.h"
#include "api/storage/account.h"
#include "api/storage/errors.h"
#include "api/storage/handlers.h"
#include "lib/jsontext.h"
#include "shares/shares.h"
#include "storage/storage.h"

#define NAME_RULE                                                                                  \
    "Storage account name must be between 3 and 24 characters in length and use numbers and "      \
    "lower-case letters only."

/* --- create ----------------------------------------------------------------------------------- */

static const char *text_at(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static void fill(struct storage_account *s, struct account_given *g)
{
    const json_t *properties = json_object_get(g->doc, "properties");
    const char *sku = text_at(json_object_get(g->doc, "sku"), "name");
    const char *kind = text_at(g->doc, "kind");
    if (properties)
        g->text = jsontext(properties);
    s->doc = g->text ? g->text : s->doc ? s->doc : "{}";
    s->tags = account_given_tags(g, s->tags);
    s->sku = sku ? sku : s->sku;
    s->kind = kind ? kind : s->kind;
}

static int insert(struct request *r, const struct resource_group *g, struct account_given *given,
                  int64_t *id, struct err *e)
{
    struct account_keys keys;
    struct storage_account s = {.group_id = g->id,
                                .name = request_param(r, "account"),
                                .scope = {.location = text_at(given->doc, "location")},
                                .created_by = r->who->object_id,
                                .prov_state = PROV_SUCCEEDED,
                                .created_us = r->now_us,
                                .updated_us = r->now_us,
                                .key1_us = r->now_us,
                                .key2_us = r->now_us};
    fill(&s, given);
    st_account_new_keys(&keys);
    int rc = st_account_insert(arm_of(r)->storage, &s, &keys, id, e);
    st_account_forget_keys(&keys);
    return rc;
}

/* One that was made by being named becomes somebody's, with its keys and all it has. */
static int adopt(struct request *r, const struct resource_group *g, struct storage_account *s,
                 struct account_given *given, struct err *e)
{
    s->group_id = g->id;
    s->scope.location = text_at(given->doc, "location");
    s->created_by = r->who->object_id;
    s->created_us = s->updated_us = r->now_us;
    s->implicit = false;
    fill(s, given);
    return st_account_update(arm_of(r)->storage, s, e);
}

struct creation {
    struct request *r;
    const struct resource_group *g;
    struct storage_account *there; /* to adopt; NULL: none */
    struct account_given *given;
    const char *guid; /* of the operation */
};

static int create_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct creation *c = ctx;
    int64_t id = c->there ? c->there->id : 0;
    (void)st;
    if ((c->there ? adopt(c->r, c->g, c->there, c->given, e)
                  : insert(c->r, c->g, c->given, &id, e)) < 0)
        return -1;
    const struct scope scope = {.subscription = c->g->subscription,
                                .group = c->g->name,
                                .location = text_at(c->given->doc, "location")};
    const struct op_request op = {.kind = RES_STORAGE_ACCOUNT,
                                  .resource_id = id,
                                  .scope = &scope,
                                  .name = request_param(c->r, "account"),
                                  .in_group = true,
                                  .done = true};
    return operation_start(c->r, &op, &c->guid, e);
}

static void add_location(struct request *r, const char *location, const char *guid)
{
    reply_header(r, "Location",
                 "%s/subscriptions/%s/providers/Microsoft.Storage/locations/%s/asyncoperations/%s"
                 "?monitor=true&api-version=%s",
                 request_base(r), arm_subscription(r), region_name(&r->arena, location), guid,
                 r->version_name);
    if (arm_is_strict(r))
        reply_header_text(r, "Retry-After", "17"); /* this provider's own */
    else
        reply_retry_after(r);
}

static struct replied *reply_created(struct request *r, const char *location, const char *guid)
{
    add_location(r, location, guid);
    return reply_text(r, 202, "text/plain; charset=utf-8", xstrdup(""));
}

static struct replied *create(struct request *r, const struct resource_group *g,
                              struct storage_account *there, struct account_given *given)
{
    struct err e;
    struct creation c = {.r = r, .g = g, .there = there, .given = given};
    if (st_tx(arm_of(r)->storage, "create account", create_in_tx, &c, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "account.created", LF_STR("account", request_param(r, "account")),
             LF_STR("group", g->name), LF_INT("adopted", there != NULL),
             LF_STR("by", r->who->name));
    return reply_created(r, text_at(given->doc, "location"), c.guid);
}

/* --- change ----------------------------------------------------------------------------------- */

/* The given properties take the place of stored ones, each as a whole. */
static void merge(const struct storage_account *s, json_t *doc)
{
    json_t *properties = account_properties(s);
    json_object_update(properties, json_object_get(doc, "properties"));
    json_object_set_new(doc, "properties", properties);
}

static struct replied *change(struct request *r, struct storage_account *s,
                              struct account_given *given)
{
    struct err e;
    merge(s, given->doc);
    fill(s, given);
    s->updated_us = r->now_us;
    if (st_account_update(arm_of(r)->storage, s, &e) < 0)
        return reply_err(r, &e);
    return account_show(r, 200, s);
}

static int refuse_name(struct request *r, const struct storage_account *there, struct err *e)
{
    const char *mine = arm_subscription(r);
    if (strcasecmp(there->scope.subscription, mine) == 0)
        return err_set(e, STORAGE_RM_EXISTS, NULL,
                       "The storage account named %s already exists under the subscription, in the "
                       "resource group %s.",
                       there->name, there->scope.group);
    return err_set(e, STORAGE_RM_TAKEN, NULL, "The storage account named %s is already taken.",
                   there->name);
}

/* One that was made by being named belongs to who named it, until somebody creates it. */
static bool may_adopt(struct request *r, const struct storage_account *s)
{
    struct err e;
    return (s->created_by && strcmp(s->created_by, r->who->object_id) == 0) ||
           arm_check(r, "Microsoft.Storage/storageAccounts/write", account_id(r, s), &e) == 0;
}

/* Of one that is there: 0 if it is the one of the path, or may become it. */
static int check_there(struct request *r, const struct resource_group *g,
                       const struct storage_account *s, const json_t *doc, struct err *e)
{
    if (check_alive("storage account", s->name, s->prov_state, e) < 0)
        return -1;
    if (s->implicit)
        return may_adopt(r, s) ? 0 : refuse_name(r, s, e);
    if (s->group_id != g->id)
        return refuse_name(r, s, e);
    return account_check_location(r, s->name, &s->scope, doc, STORAGE_RM_OTHER_LOCATION, e) < 0
               ? -1
               : check_account_is_idle(r, s, e);
}

static struct replied *put(struct request *r, const struct resource_group *g,
                           struct account_given *given)
{
    struct err e;
    struct storage_account s;
    const char *name = request_param(r, "account");
    int rc = st_account_by_name(arm_of(r)->storage, &r->arena, name, &s, &e);
    if (rc == 0)
        return create(r, g, NULL, given);
    if (rc < 0 || check_there(r, g, &s, given->doc, &e) < 0)
        return reply_err(r, &e);
    return s.implicit ? create(r, g, &s, given) : change(r, &s, given);
}

struct replied *accounts_create(struct request *r)
{
    struct err e;
    struct resource_group g;
    struct account_given given = {0};
    const char *name = request_param(r, "account");
    if (find_group(r, &g, &e) < 0 || check_group_alive(&g, &e) < 0)
        return reply_err(r, &e);
    if (!account_name_is_valid(name)) {
        err_set(&e, STORAGE_RM_INVALID_NAME, NULL,
                "%.100s is not a valid storage account name. " NAME_RULE, name);
        return reply_err(r, &e);
    }
    if (storage_accept(r, &schema_storage_account, false, &given.doc, &e) < 0)
        return reply_err(r, &e);
    struct replied *done = put(r, &g, &given);
    account_given_free(&given);
    return done;
}

struct replied *accounts_created(struct request *r)
{
    struct err e;
    struct operation op;
    struct storage_account s;
    struct storage *st = arm_of(r)->storage;
    const char *guid = request_param(r, "operation");
    if (operation_find(r, guid, &op, &e) < 0)
        return reply_err(r, &e);
    int rc = op.kind == RES_STORAGE_ACCOUNT
                 ? st_account_by_id(st, &r->arena, op.resource_id, &s, &e)
                 : 0;
    if (rc == 0)
        err_set(&e, ARM_OPERATION_NOT_FOUND, NULL, "The operation '%.100s' is not found.", guid);
    if (rc <= 0)
        return reply_err(r, &e);
    return op.status == OP_IN_PROGRESS ? reply_created(r, s.scope.location, op.guid)
                                       : account_show(r, 200, &s);
}

struct replied *accounts_update(struct request *r)
{
    struct err e;
    struct storage_account s;
    struct account_given given = {0};
    if (find_made_account(r, &s, &e) < 0 ||
        storage_accept(r, &schema_storage_account, true, &given.doc, &e) < 0)
        return reply_err(r, &e);
    struct replied *done =
        account_check_location(r, s.name, &s.scope, given.doc, STORAGE_RM_OTHER_LOCATION, &e) < 0
            ? reply_err(r, &e)
            : change(r, &s, &given);
    account_given_free(&given);
    return done;
}

/* --- show, list, delete ----------------------------------------------------------------------- */

struct replied *accounts_get(struct request *r)
{
    struct err e;
    struct storage_account s;
    return find_account(r, &s, &e) < 0 ? reply_err(r, &e) : account_show(r, 200, &s);
}

static struct replied *list(struct request *r, int64_t group_id)
{
    struct err e;
    struct page page;
    struct storage_account *rows;
    struct strbuf *out;
    size_t n;
    if (page_parse(r, &page, &e) < 0 ||
        st_account_list(arm_of(r)->storage, &r->arena, arm_subscription(r), group_id, page.after,
                        page_limit(&page), &rows, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n; i++)
        if (rows[i].prov_state != PROV_DELETING &&
            (!r->grant || arm_sees(r, account_id(r, &rows[i]))) &&
            (out = page_row(&page, rows[i].id)))
            account_render(r, &rows[i], out);
    arm_page_end(r, &page, n, n > 0 ? rows[n - 1].id : 0);
    return page_reply(r, &page);
}

struct replied *accounts_list(struct request *r)
{
    struct err e;
    return find_subscription(r, &e) < 0 ? reply_err(r, &e) : list(r, 0);
}

struct replied *accounts_list_by_group(struct request *r)
{
    struct err e;
    struct resource_group g;
    return find_group(r, &g, &e) < 0 ? reply_err(r, &e) : list(r, g.id);
}

/* The row is gone, and its name free. */
static void on_deleted(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 200));
}

struct replied *accounts_delete(struct request *r)
{
    struct err e;
    struct storage_account s;
    if (find_account(r, &s, &e) < 0)
        return e.code == ERR_RESOURCE_NOT_FOUND ? reply_empty(r, 204) : reply_err(r, &e);
    if (check_account_is_idle(r, &s, &e) < 0 ||
        shares_delete_account(storage_rm_of(r)->shares, s.id, r->now_us, on_deleted, r, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "account.deleted", LF_STR("account", s.name),
             LF_STR("group", s.scope.group), LF_STR("by", r->who->name));
    return reply_later(r);
}

/* --- names ------------------------------------------------------------------------------------ */

static json_t *availability(struct arena *a, const char *name, bool valid, bool taken)
{
    if (!valid)
        return account_name_reply(
            "AccountNameInvalid",
            arena_printf(a, "%s is not a valid storage account name. " NAME_RULE, name));
    return account_name_reply(
        taken ? "AlreadyExists" : NULL,
        arena_printf(a, "The storage account named %s is already taken.", name));
}

struct replied *accounts_check_name(struct request *r)
{
    struct err e;
    struct storage_account s = {0};
    json_t *doc;
    if (find_subscription(r, &e) < 0 ||
        storage_accept(r, &schema_account_name, false, &doc, &e) < 0)
        return reply_err(r, &e);
    const char *name = arena_strdup(&r->arena, text_at(doc, "name"));
    json_decref(doc);
    bool valid = account_name_is_valid(name);
    int rc = valid ? st_account_by_name(arm_of(r)->storage, &r->arena, name, &s, &e) : 0;
    bool taken = rc > 0 && !s.implicit;
    return rc < 0 ? reply_err(r, &e)
                  : reply_json(r, 200, availability(&r->arena, name, valid, taken));
}
