/* SPDX-License-Identifier: MIT
 *
 * Storage accounts as a kind of resource (api/arm/kind.h). An account is created at once, but as in
 * the real service the reply is 202 with the URL of an operation, which returns the account.
 */
#include <string.h>
#include <strings.h>

#include "api/arm/errors.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/arm/storage/account.h"
#include "api/arm/storage/errors.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/storage_rm.h"
#include "lib/jsontext.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

#define NAME_RULE                                                                                  \
    " is not a valid storage account name. Storage account name must be between 3 and 24 "         \
    "characters in length and use numbers and lower-case letters only."

/* --- create ----------------------------------------------------------------------------------- */

static void fill(struct rm *m, struct storage_account *s)
{
    const char *sku = rm_text(json_object_get(m->given.doc, "sku"), "name");
    const char *kind = rm_text(m->given.doc, "kind");
    s->doc = rm_given_text(m, "properties", s->doc ? s->doc : "{}");
    s->tags = rm_given_text(m, "tags", s->tags);
    s->sku = sku ? sku : s->sku;
    s->kind = kind ? kind : s->kind;
}

/* A mount has created the account implicitly; now the client creates it explicitly. Moves the
 * account to the client's group; keys and contents stay, roles at the old path end. */
static int adopt(struct rm *m, const struct storage_account *there, struct err *e)
{
    struct storage_account s = *there;
    s.group_id = m->group.id;
    s.scope.location = rm_text(m->given.doc, "location");
    s.created_by = m->r->who->object_id;
    s.created_us = s.updated_us = m->r->now_us;
    s.implicit = false;
    fill(m, &s);
    m->id = s.id;
    return s.group_id == there->group_id ? st_account_update(arm_of(m->r)->storage, &s, e)
                                         : st_account_move(arm_of(m->r)->storage, &s, e);
}

static int insert(struct rm *m, struct err *e)
{
    const struct storage_account *there = m->row;
    struct request *r = m->r;
    struct account_keys keys;
    struct storage_account s = {.group_id = m->group.id,
                                .name = m->name,
                                .scope = {.location = rm_text(m->given.doc, "location")},
                                .created_by = r->who->object_id,
                                .prov_state = PROV_SUCCEEDED,
                                .created_us = r->now_us,
                                .updated_us = r->now_us,
                                .key1_us = r->now_us,
                                .key2_us = r->now_us};
    if (there->implicit)
        return adopt(m, there, e);
    fill(m, &s);
    st_account_new_keys(&keys);
    int rc = st_account_insert(arm_of(r)->storage, &s, &keys, &m->id, e);
    st_account_forget_keys(&keys);
    return rc;
}

static void add_location(struct request *r, const char *location, const char *guid)
{
    reply_header(r, "Location",
                 "%s/subscriptions/%s/providers/Microsoft.Storage/locations/%s/asyncoperations/%s"
                 "?monitor=true&api-version=%s",
                 request_base(r), arm_subscription(r), region_name(&r->arena, location), guid,
                 r->version_name);
    if (arm_is_strict(r))
        reply_header_text(r, "Retry-After", "17"); /* no other provider sends this value */
    else
        reply_retry_after(r);
}

static struct replied *reply_created(struct request *r, const char *location, const char *guid)
{
    add_location(r, location, guid);
    return reply_text(r, 202, "text/plain; charset=utf-8", xstrdup(""));
}

static struct replied *made(struct rm *m)
{
    const struct storage_account *there = m->row;
    LOG_INFO(m->r->config->log, "storage_account.created", LF_STR("account", m->name),
             LF_STR("group", m->group.name), LF_INT("existed_before", there->implicit),
             LF_STR("by", m->r->who->name));
    return reply_created(m->r, rm_text(m->given.doc, "location"), m->guid);
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

/* --- change ----------------------------------------------------------------------------------- */

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

/* Whether the caller may take over an implicitly created account: the principal whose mount created
 * it may, and everybody with the right to write it. */
static bool may_adopt(struct request *r, const struct storage_account *s)
{
    struct err e;
    return (s->created_by && strcmp(s->created_by, r->who->object_id) == 0) ||
           arm_check(r, "Microsoft.Storage/storageAccounts/write", account_id(r, s), &e) == 0;
}

static int check_location(struct rm *m, const struct storage_account *s, struct err *e)
{
    return rm_check_location(m, s->name, s->scope.location, s->scope.group, e);
}

/* 1: the account exists; 0: it does not exist, or it was created implicitly and the caller may take
 * it over (adopt()); -1: err. */
static int seek(struct rm *m, struct err *e)
{
    struct storage_account *s = m->row;
    int rc = st_account_by_name(arm_of(m->r)->storage, &m->r->arena, m->name, s, e);
    if (rc <= 0)
        return rc;
    if (check_alive("storage account", s->name, s->prov_state, e) < 0)
        return -1;
    if (s->implicit)
        return may_adopt(m->r, s) ? 0 : refuse_name(m->r, s, e);
    if (s->group_id != m->group.id)
        return refuse_name(m->r, s, e);
    return check_location(m, s, e) < 0 || check_account_is_idle(m->r, s, e) < 0 ? -1 : 1;
}

/* Each property in the body replaces the stored property as a whole. */
static int change(struct rm *m, struct err *e)
{
    struct storage_account *s = m->row;
    json_t *properties = request_own(m->r, account_properties(s));
    json_object_update(properties, json_object_get(m->given.doc, "properties"));
    json_object_set(m->given.doc, "properties", properties);
    fill(m, s);
    s->updated_us = m->r->now_us;
    return st_account_update(arm_of(m->r)->storage, s, e);
}

static int patch(struct rm *m, struct err *e)
{
    const struct storage_account *s = m->row;
    return check_location(m, s, e) < 0 ? -1 : change(m, e);
}

/* --- show, list, delete ----------------------------------------------------------------------- */

static int find(struct rm *m, struct err *e)
{
    return find_account(m->r, m->row, e);
}

static int find_made(struct rm *m, struct err *e)
{
    return find_made_account(m->r, m->row, e);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    account_render(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct storage_account_rows found = {NULL, 0};
    int rc = st_account_list(arm_of(r)->storage, &r->arena, &q->filter,
                             &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

/* Replies after the account was deleted. */
static void on_deleted(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 200));
}

static struct replied *remove_account(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    const struct storage_account *s = m->row;
    if (check_account_is_idle(r, s, &e) < 0 ||
        shares_delete_account(arm_of(r)->shares, s->id, r->now_us, on_deleted, r, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "storage_account.deleting", LF_STR("account", s->name),
             LF_STR("group", s->scope.group), LF_STR("by", r->who->name));
    return reply_later(r);
}

/* --- the kind --------------------------------------------------------------------------------- */

static int taken(struct rm *m, struct err *e)
{
    struct storage_account *s = m->row;
    int rc = st_account_by_name(arm_of(m->r)->storage, &m->r->arena, m->name, s, e);
    return rc > 0 ? !s->implicit : rc;
}

static const struct rm_name_rule name_rule = {
    .is_valid = account_name_is_valid,
    .error = STORAGE_RM_INVALID_NAME,
    .shown = 100,
    .invalid = {"", NAME_RULE},
    .reason = "AccountNameInvalid",
    .answer_invalid = {"", NAME_RULE},
    .answer_taken = {"The storage account named ", " is already taken."},
};

static rm_step *const steps[] = {rm_step_group, rm_step_group_alive, rm_step_name, rm_step_body,
                                 NULL};

const struct rm_kind storage_account_kind = {
    .what = "storage account",
    .param = "account",
    .kind = RES_STORAGE_ACCOUNT,
    .columns = RM_COLUMNS(struct storage_account),
    .schema = &schema_storage_account,
    .patch_schema = &schema_storage_account,
    .named_schema = &schema_account_name,
    .name_rule = &name_rule,
    .other_location = STORAGE_RM_OTHER_LOCATION,
    .steps = steps,
    .seek = seek,
    .insert = insert,
    .operation = true,
    .change = change,
    .made = made,
    .find_made = find_made,
    .patch = patch,
    .find = find,
    .missing = rm_missing,
    .remove = remove_account,
    .render = render,
    .list = list,
    .hides_deleting = true,
    .taken = taken,
};
