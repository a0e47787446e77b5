/* SPDX-License-Identifier: MIT
 *
 * Batch accounts as a kind of resource (api/arm/kind.h). An account is created at once, but the
 * reply is that of the real service: 202, and a URL that later returns the account. A deleted
 * account is removed when it is empty.
 */
#include <string.h>

#include "api/arm/batch/account.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/errors.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "lib/jsontext.h"
#include "model/batch/rm.h"
#include "storage/storage.h"

#define NAME_RULE                                                                                  \
    "The account name must be at least 3 characters and at most 24 characters, and use numbers "   \
    "and lower-case letters only."

/* --- create ----------------------------------------------------------------------------------- */

static void fill(struct rm *m, struct batch_account *b)
{
    const json_t *stored = request_own(
        m->r, json_pack("{s:O?}", "properties", json_object_get(m->given.doc, "properties")));
    b->doc = request_own_text(m->r, jsontext(stored));
    b->tags = rm_given_text(m, "tags", b->tags);
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

static int prepare(struct rm *m, struct err *e)
{
    return check_quota(m->r, e) < 0 ? -1 : take_auto_storage(m->r, m->given.doc, e);
}

static int insert(struct rm *m, struct err *e)
{
    struct account_keys keys;
    struct batch_account b = {.group_id = m->group.id,
                              .name = m->name,
                              .scope = {.location = rm_text(m->given.doc, "location")},
                              .created_by = m->r->who->object_id,
                              .prov_state = PROV_SUCCEEDED,
                              .created_us = m->r->now_us,
                              .updated_us = m->r->now_us};
    fill(m, &b);
    st_account_new_keys(&keys);
    int rc = st_batch_account_insert(arm_of(m->r)->storage, &b, &keys, &m->id, e);
    st_account_forget_keys(&keys);
    return rc;
}

static struct replied *reply_creating(struct request *r, const char *place)
{
    reply_header(r, "Location", "%s%s?api-version=%s", request_base(r), place, r->version_name);
    reply_retry_after(r);
    return reply_empty(r, 202);
}

static struct replied *made(struct rm *m)
{
    LOG_INFO(m->r->config->log, "batch_account.created", LF_STR("account", m->name),
             LF_STR("group", m->group.name), LF_STR("by", m->r->who->name));
    return reply_creating(m->r,
                          arena_concat(&m->r->arena, m->r->path, "/operationResults/", m->guid));
}

/* GET of the URL that the 202 after a PUT contains. */
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

/* --- change ----------------------------------------------------------------------------------- */

static int seek(struct rm *m, struct err *e)
{
    struct batch_account *b = m->row;
    int rc = st_batch_account_by_name(arm_of(m->r)->storage, &m->r->arena, m->name, b, e);
    if (rc <= 0)
        return rc;
    if (b->group_id != m->group.id)
        return err_set(e, BATCHRM_TAKEN, NULL,
                       "An account named '%s' exists already; names of Batch accounts are unique "
                       "in this cloud.",
                       b->name);
    return check_alive("Batch account", b->name, b->prov_state, e) < 0 ||
                   rm_check_location(m, b->name, b->scope.location, b->scope.group, e) < 0
               ? -1
               : 1;
}

/* Whether `given` removes auto-storage: {} does, and in a PATCH also null. */
static bool takes_storage_away(const json_t *given)
{
    return json_is_null(given) || (json_is_object(given) && json_object_size(given) == 0);
}

/* Each property in the body replaces the stored property as a whole. */
static int change(struct rm *m, struct err *e)
{
    struct batch_account *b = m->row;
    json_t *doc = m->given.doc;
    if (take_auto_storage(m->r, doc, e) < 0)
        return -1;
    json_t *properties = json_object_get(request_own(m->r, batch_account_doc(b)), "properties");
    if (takes_storage_away(
            json_object_get(json_object_get(m->r->body, "properties"), "autoStorage")))
        json_object_del(properties, "autoStorage");
    json_object_update(properties, json_object_get(doc, "properties"));
    json_object_set(doc, "properties", properties);
    fill(m, b);
    b->updated_us = m->r->now_us;
    return st_batch_account_update(arm_of(m->r)->storage, b, e);
}

/* --- show, list, delete ----------------------------------------------------------------------- */

static int find(struct rm *m, struct err *e)
{
    return find_batch_account(m->r, m->row, e);
}

static void headers(struct rm *m)
{
    batch_account_headers(m->r, m->row);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    batch_account_render(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct batch_account_rows found = {NULL, 0};
    int rc =
        st_batch_account_list(arm_of(r)->storage, &r->arena, &q->filter,
                              &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

/* Adds the URL for polling a deletion. It ends with NAME-GUID; only the GUID is used. */
static void add_deletion_place(struct request *r, const char *location, const char *name,
                               const char *guid)
{
    reply_header(r, "Location",
                 "%s/subscriptions/%s/providers/Microsoft.Batch/locations/%s/"
                 "accountOperationResults/%s-%s?api-version=%s",
                 request_base(r), arm_subscription(r), location, name, guid, r->version_name);
    reply_retry_after(r);
}

static struct replied *remove_account(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    const struct batch_account *b = m->row;
    const char *guid;
    const struct op_request op = {.kind = RES_BATCH_ACCOUNT,
                                  .resource_id = b->id,
                                  .scope = &b->scope,
                                  .name = b->name,
                                  .in_group = true,
                                  .is_delete = true};
    if (operation_delete(r, &op, &guid, &e) < 0)
        return reply_err(r, &e);
    add_deletion_place(r, region_name(&r->arena, b->scope.location), b->name, guid);
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

/* --- the kind --------------------------------------------------------------------------------- */

static int taken(struct rm *m, struct err *e)
{
    return st_batch_account_by_name(arm_of(m->r)->storage, &m->r->arena, m->name, m->row, e);
}

static const struct rm_name_rule name_rule = {
    .is_valid = account_name_is_valid,
    .error = BATCHRM_INVALID_BODY,
    .shown = 100,
    .invalid = {"The specified account name '", "' is invalid. " NAME_RULE},
    .reason = "Invalid",
    .answer_invalid = {NAME_RULE, NULL},
    .answer_taken = {"An account named '", "' is already in use."},
};

static rm_step *const steps[] = {rm_step_group, rm_step_group_alive, rm_step_name, rm_step_body,
                                 NULL};

const struct rm_kind batch_account_kind = {
    .what = "Batch account",
    .param = "account",
    .kind = RES_BATCH_ACCOUNT,
    .columns = RM_COLUMNS(struct batch_account),
    .schema = &schema_batch_account,
    .patch_schema = &schema_batch_account_update,
    .named_schema = &schema_batch_account_name,
    .name_rule = &name_rule,
    .other_location = BATCHRM_OTHER_LOCATION,
    .steps = steps,
    .seek = seek,
    .prepare = prepare,
    .insert = insert,
    .operation = true,
    .change = change,
    .made = made,
    .patch = change,
    .find = find,
    .missing = rm_missing,
    .remove = remove_account,
    .headers = headers,
    .render = render,
    .list = list,
    .hides_deleting = true,
    .taken = taken,
};
