/* SPDX-License-Identifier: MIT
 *
 * Batch accounts: create, change, show, list, delete. One is made at once, but told of as the
 * service does: 202, and a place to ask that answers with the account. One that is deleted goes
 * when everything in it is gone.
 */
#include <string.h>

#include "api/arm/account.h"
#include "api/arm/errors.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "api/batchrm/account.h"
#include "api/batchrm/errors.h"
#include "api/batchrm/handlers.h"
#include "api/http/paging.h"
#include "lib/jsontext.h"
#include "model/batch/rm.h"
#include "storage/storage.h"

#define NAME_RULE                                                                                  \
    "The account name must be at least 3 characters and at most 24 characters, and use numbers "   \
    "and lower-case letters only."

/* --- a row's columns out of an accepted body -------------------------------------------------- */

static void fill(struct batch_account *b, struct account_given *g)
{
    json_t *stored = json_pack("{s:O?}", "properties", json_object_get(g->doc, "properties"));
    g->text = jsontext(stored);
    json_decref(stored);
    b->doc = g->text;
    b->tags = account_given_tags(g, b->tags);
}

/* --- create ----------------------------------------------------------------------------------- */

struct creation {
    struct request *r;
    const struct resource_group *g;
    struct account_given *given;
    const char *guid; /* of the operation */
};

static int insert(const struct creation *c, int64_t *id, struct err *e)
{
    struct account_keys keys;
    struct request *r = c->r;
    struct batch_account b = {
        .group_id = c->g->id,
        .name = request_param(r, "account"),
        .scope = {.location = json_string_value(json_object_get(c->given->doc, "location"))},
        .created_by = r->who->object_id,
        .prov_state = PROV_SUCCEEDED,
        .created_us = r->now_us,
        .updated_us = r->now_us};
    fill(&b, c->given);
    st_account_new_keys(&keys);
    int rc = st_batch_account_insert(arm_of(r)->storage, &b, &keys, id, e);
    st_account_forget_keys(&keys);
    return rc;
}

static int create_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct creation *c = ctx;
    int64_t id = 0;
    (void)st;
    if (insert(c, &id, e) < 0)
        return -1;
    const struct scope scope = {.subscription = c->g->subscription,
                                .group = c->g->name,
                                .location =
                                    json_string_value(json_object_get(c->given->doc, "location"))};
    const struct op_request op = {.kind = RES_BATCH_ACCOUNT,
                                  .resource_id = id,
                                  .scope = &scope,
                                  .name = request_param(c->r, "account"),
                                  .in_group = true,
                                  .done = true};
    return operation_start(c->r, &op, &c->guid, e);
}

static int check_quota(struct request *r, struct err *e)
{
    int64_t n;
    if (st_batch_account_count(arm_of(r)->storage, arm_subscription(r), &n, e) < 0)
        return -1;
    if (n < BATCH_ACCOUNTS_MAX)
        return 0;
    return err_set(e, BATCHRM_QUOTA, NULL,
                   "The subscription has %lld Batch accounts; it may have %d.", (long long)n,
                   BATCH_ACCOUNTS_MAX);
}

static struct replied *reply_creating(struct request *r, const char *place)
{
    reply_header(r, "Location", "%s%s?api-version=%s", request_base(r), place, r->version_name);
    reply_retry_after(r);
    return reply_empty(r, 202);
}

static struct replied *create(struct request *r, const struct resource_group *g,
                              struct account_given *given)
{
    struct err e;
    struct creation c = {.r = r, .g = g, .given = given};
    if (check_quota(r, &e) < 0 || take_auto_storage(r, given->doc, &e) < 0 ||
        st_tx(arm_of(r)->storage, "create Batch account", create_in_tx, &c, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "batch_account.created",
             LF_STR("account", request_param(r, "account")), LF_STR("group", g->name),
             LF_STR("by", r->who->name));
    return reply_creating(r, arena_concat(&r->arena, r->path, "/operationResults/", c.guid));
}

/* --- change ----------------------------------------------------------------------------------- */

/* The given properties take the place of stored ones, each as a whole. Of an object with the value
 * null in a PATCH nothing is left. */
static void merge(struct request *r, const struct batch_account *b, json_t *doc)
{
    json_t *stored = batch_account_doc(b);
    json_t *properties = json_incref(json_object_get(stored, "properties"));
    const json_t *body = json_object_get(r->body, "properties");
    if (json_is_null(json_object_get(body, "autoStorage")))
        json_object_del(properties, "autoStorage");
    json_object_update(properties, json_object_get(doc, "properties"));
    json_object_set_new(doc, "properties", properties);
    json_decref(stored);
}

static struct replied *change(struct request *r, struct batch_account *b,
                              struct account_given *given)
{
    struct err e;
    if (take_auto_storage(r, given->doc, &e) < 0)
        return reply_err(r, &e);
    merge(r, b, given->doc);
    fill(b, given);
    b->updated_us = r->now_us;
    if (st_batch_account_update(arm_of(r)->storage, b, &e) < 0)
        return reply_err(r, &e);
    return batch_account_show(r, 200, b);
}

static struct replied *put(struct request *r, const struct resource_group *g,
                           struct account_given *given)
{
    struct err e;
    struct batch_account b;
    int rc = st_batch_account_by_name(arm_of(r)->storage, &r->arena, request_param(r, "account"),
                                      &b, &e);
    if (rc == 0)
        return create(r, g, given);
    if (rc > 0 && b.group_id != g->id)
        rc = err_set(&e, BATCHRM_TAKEN, NULL,
                     "An account named '%s' exists already; names of Batch accounts are unique in "
                     "this cloud.",
                     b.name);
    if (rc < 0 || check_alive("Batch account", b.name, b.prov_state, &e) < 0 ||
        account_check_location(r, b.name, &b.scope, given->doc, BATCHRM_OTHER_LOCATION, &e) < 0)
        return reply_err(r, &e);
    return change(r, &b, given);
}

struct replied *batch_accounts_create(struct request *r)
{
    struct err e;
    struct resource_group g;
    struct account_given given = {0};
    const char *name = request_param(r, "account");
    if (find_group(r, &g, &e) < 0 || check_group_alive(&g, &e) < 0)
        return reply_err(r, &e);
    if (!account_name_is_valid(name)) {
        err_set(&e, BATCHRM_INVALID_BODY, NULL,
                "The specified account name '%.100s' is invalid. " NAME_RULE, name);
        return reply_err(r, &e);
    }
    if (batchrm_accept(r, &schema_batch_account, false, &given.doc, &e) < 0)
        return reply_err(r, &e);
    struct replied *done = put(r, &g, &given);
    account_given_free(&given);
    return done;
}

struct replied *batch_accounts_update(struct request *r)
{
    struct err e;
    struct batch_account b;
    struct account_given given = {0};
    if (find_batch_account(r, &b, &e) < 0 ||
        batchrm_accept(r, &schema_batch_account_update, true, &given.doc, &e) < 0)
        return reply_err(r, &e);
    struct replied *done = change(r, &b, &given);
    account_given_free(&given);
    return done;
}

/* The place that a 202 after a PUT names. */
struct replied *batch_accounts_created(struct request *r)
{
    struct err e;
    struct operation op;
    struct batch_account b;
    const char *guid = request_param(r, "operation");
    if (find_batch_account(r, &b, &e) < 0)
        return reply_err(r, &e);
    int rc = operation_find(r, guid, &op, &e);
    if (rc == 0 && (op.kind != RES_BATCH_ACCOUNT || op.resource_id != b.id))
        rc = err_set(&e, ARM_OPERATION_NOT_FOUND, NULL, "The operation '%.100s' is not found.",
                     guid);
    if (rc < 0)
        return reply_err(r, &e);
    return op.status == OP_IN_PROGRESS ? reply_creating(r, r->path)
                                       : batch_account_show(r, 200, &b);
}

/* --- show, list, delete ----------------------------------------------------------------------- */

struct replied *batch_accounts_get(struct request *r)
{
    struct err e;
    struct batch_account b;
    return find_batch_account(r, &b, &e) < 0 ? reply_err(r, &e) : batch_account_show(r, 200, &b);
}

static struct replied *list(struct request *r, int64_t group_id)
{
    struct err e;
    struct page page;
    struct batch_account *rows;
    struct strbuf *out;
    size_t n;
    if (page_parse(r, &page, &e) < 0 ||
        st_batch_account_list(arm_of(r)->storage, &r->arena, arm_subscription(r), group_id,
                              page.after, page_limit(&page), &rows, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n; i++)
        if (rows[i].prov_state != PROV_DELETING &&
            (!r->grant || arm_sees(r, batch_account_id(r, &rows[i]))) &&
            (out = page_row(&page, rows[i].id)))
            batch_account_render(r, &rows[i], out);
    arm_page_end(r, &page, n, n > 0 ? rows[n - 1].id : 0);
    return page_reply(r, &page);
}

struct replied *batch_accounts_list(struct request *r)
{
    struct err e;
    return find_subscription(r, &e) < 0 ? reply_err(r, &e) : list(r, 0);
}

struct replied *batch_accounts_list_by_group(struct request *r)
{
    struct err e;
    struct resource_group g;
    return find_group(r, &g, &e) < 0 ? reply_err(r, &e) : list(r, g.id);
}

/* Where a client asks whether a deleted account is gone: NAME-GUID, by which nothing is found but
 * the GUID is enough. */
static void add_deletion_place(struct request *r, const char *location, const char *name,
                               const char *guid)
{
    reply_header(r, "Location",
                 "%s/subscriptions/%s/providers/Microsoft.Batch/locations/%s/"
                 "accountOperationResults/%s-%s?api-version=%s",
                 request_base(r), arm_subscription(r), location, name, guid, r->version_name);
    reply_retry_after(r);
}

struct replied *batch_accounts_delete(struct request *r)
{
    struct err e;
    struct batch_account b;
    const char *guid;
    if (find_batch_account(r, &b, &e) < 0)
        return e.code == ERR_RESOURCE_NOT_FOUND ? reply_empty(r, 204) : reply_err(r, &e);
    const struct op_request op = {.kind = RES_BATCH_ACCOUNT,
                                  .resource_id = b.id,
                                  .scope = &b.scope,
                                  .name = b.name,
                                  .in_group = true,
                                  .is_delete = true};
    if (operation_delete(r, &op, &guid, &e) < 0)
        return reply_err(r, &e);
    add_deletion_place(r, region_name(&r->arena, b.scope.location), b.name, guid);
    return reply_empty(r, 202);
}

struct replied *batch_accounts_deleted(struct request *r)
{
    struct err e;
    struct operation op = {0};
    const char *given = request_param(r, "operation"), *dash = strchr(given, '-');
    int rc = operation_find(r, dash ? dash + 1 : "", &op, &e);
    if (rc == 0 && (op.kind != RES_BATCH_ACCOUNT || !op.is_delete))
        rc = err_set(&e, ARM_OPERATION_NOT_FOUND, NULL, "The operation '%.100s' is not found.",
                     given);
    if (rc < 0)
        return reply_err(r, &e);
    if (op.status != OP_IN_PROGRESS)
        return reply_empty(r, 200);
    add_deletion_place(r, op.location, arena_strndup(&r->arena, given, (size_t)(dash - given)),
                       op.guid);
    return reply_empty(r, 202);
}

/* --- names ------------------------------------------------------------------------------------ */

static json_t *availability(struct arena *a, const char *name, bool valid, bool taken)
{
    if (!valid)
        return account_name_reply("Invalid", NAME_RULE);
    return account_name_reply(taken ? "AlreadyExists" : NULL,
                              arena_printf(a, "An account named '%s' is already in use.", name));
}

struct replied *batch_accounts_check_name(struct request *r)
{
    struct err e;
    struct batch_account b;
    json_t *doc;
    if (find_subscription(r, &e) < 0 ||
        batchrm_accept(r, &schema_batch_account_name, false, &doc, &e) < 0)
        return reply_err(r, &e);
    const char *name = arena_strdup(&r->arena, json_string_value(json_object_get(doc, "name")));
    json_decref(doc);
    bool valid = account_name_is_valid(name);
    int rc = valid ? st_batch_account_by_name(arm_of(r)->storage, &r->arena, name, &b, &e) : 0;
    return rc < 0 ? reply_err(r, &e)
                  : reply_json(r, 200, availability(&r->arena, name, valid, rc > 0));
}
