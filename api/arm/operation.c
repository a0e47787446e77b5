/* SPDX-License-Identifier: MIT
 *
 * Starts operations in the transaction of their resource, finds them by their id, and shows them.
 * The state of an operation is in its row; in strict mode a finished operation may still be shown
 * as in progress. Called only on the loop's thread.
 */
#include "api/arm/operation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/arm/errors.h"
#include "api/arm/lookup.h"
#include "lib/hash.h"
#include "lib/jsontext.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/paced.h"
#include "storage/storage.h"

#define STRICT_RETRY_AFTER_S 15 /* the real service's value in each 202 */

/* The operation's resource as text: S$rg$ws$exp$job, or S$rg$job in the versions without
 * workspaces. Subscription and group are in lower case, the other names as their creator spelled
 * them. */
static const char *resource_key(struct request *r, const struct op_request *o)
{
    struct strbuf b = STRBUF_INIT;
    const struct scope *s = o->scope;
    strbuf_puts(&b, arena_lower(&r->arena, s->subscription));
    if (s->group)
        strbuf_concat(&b, "$", arena_lower(&r->arena, s->group));
    if (s->workspace && !o->in_group)
        strbuf_concat(&b, "$", s->workspace);
    if (s->experiment && !o->in_group)
        strbuf_concat(&b, "$", s->experiment);
    strbuf_concat(&b, "$", o->kind == RES_GROUP ? arena_lower(&r->arena, o->name) : o->name);
    const char *key = arena_strdup(&r->arena, b.s);
    strbuf_free(&b);
    return key;
}

/* The last digits of an operation's id are a hash of the other digits and of the object id of the
 * principal who began the operation. So the id tells whether a principal began the operation. */
#define BEGINNER_DIGITS 8
#define BEGINNER_AT     (GUID_SIZE - 1 - BEGINNER_DIGITS)

static void beginner_digits(struct request *r, const char *id, char out[BEGINNER_DIGITS + 1])
{
    const char *text = arena_lower(
        &r->arena, arena_printf(&r->arena, "%.*s %s", BEGINNER_AT, id, r->who->object_id));
    snprintf(out, BEGINNER_DIGITS + 1, "%08" PRIx32,
             (uint32_t)number_hash(text_hash(text, strlen(text))));
}

int operation_start(struct request *r, const struct op_request *o, const char **guid, struct err *e)
{
    assert(o->resource_id != 0); /* the scheduler finds and ends the operation by this id */
    char *id = arena_alloc(&r->arena, GUID_SIZE);
    request_guid_at(r, id);
    beginner_digits(r, id, id + BEGINNER_AT);
    struct operation op = {
        .guid = id,
        .subscription = arm_subscription(r),
        .location = region_name(&r->arena, o->scope->location),
        .resource_key = resource_key(r, o),
        .api_version = r->version_name,
        .kind = o->kind,
        .resource_id = o->resource_id,
        .is_delete = o->is_delete,
        .status = o->done ? OP_SUCCEEDED : OP_IN_PROGRESS,
        .start_us = r->now_us,
        .end_us = o->done ? r->now_us : 0,
    };
    *guid = id;
    return st_op_insert(arm_of(r)->storage, &op, e);
}

struct delete_tx {
    struct request *r;
    const struct op_request *op;
    const char **guid;
};

static int delete_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct delete_tx *t = ctx;
    if (operation_start(t->r, t->op, t->guid, e) < 0)
        return -1;
    return st_mark_deleting(st, t->op->kind, t->op->resource_id, t->r->now_us, e);
}

int operation_delete(struct request *r, const struct op_request *o, const char **guid,
                     struct err *e)
{
    struct delete_tx t = {.r = r, .op = o, .guid = guid};
    if (st_tx(arm_of(r)->storage, "delete", delete_in_tx, &t, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "resource.deleting",
             LF_STR("kind", enum_to_name(resource_kind_names, (int)o->kind)),
             LF_STR("name", o->name), LF_STR("operation", *guid), LF_STR("by", r->who->name));
    batchai_wake_deletions(arm_of(r)->front);
    return 0;
}

const struct pace *arm_pace(const struct request *r)
{
    return wakes_pace(sched_wakes(arm_of(r)->sched));
}

bool arm_is_strict(struct request *r)
{
    const struct pace *pace = arm_pace(r);
    return arm_of(r)->strict || (pace_is_on(pace, NULL) && pace_is_on(pace, arm_subscription(r)));
}

void reply_retry_after(struct request *r)
{
    reply_header(r, "Retry-After", "%d",
                 arm_is_strict(r) ? STRICT_RETRY_AFTER_S : r->config->settings.retry_after_s);
}

/* Whether a row's time is so far in the future that it is not delayed: see PACE_AHEAD_US. */
static bool is_to_come(const struct request *r, int64_t began_us)
{
    return r->now_us < began_us - PACE_AHEAD_US;
}

void operation_look(const struct request *r, struct operation *op)
{
    int64_t takes_us =
        pace_us(arm_pace(r), op->subscription, pace_of_operation(op->kind, op->is_delete));
    int64_t until_us = op->start_us + takes_us;
    if (takes_us == 0 || op->status != OP_SUCCEEDED || is_to_come(r, op->start_us))
        return;
    if (r->now_us < until_us)
        op->status = OP_IN_PROGRESS;
    else if (op->end_us < until_us)
        op->end_us = until_us;
}

bool creation_look(const struct request *r, const char *subscription, enum pace_step step,
                   int64_t *made_us)
{
    int64_t takes_us = pace_us(arm_pace(r), subscription, step), created_us = *made_us;
    /* Requests of a seed always get the real state, also in strict mode. */
    if (r->seeds || is_to_come(r, created_us))
        return false;
    bool goes_on = takes_us > 0 && r->now_us < created_us + takes_us;
    if (!goes_on)
        *made_us += takes_us;
    return goes_on;
}

static void add_links(struct request *r, const char *location, const char *guid)
{
    const char *base =
        arena_concat(&r->arena, request_base(r), "/subscriptions/", arm_subscription(r),
                     "/providers/", arm_of(r)->provider, "/locations/", location);
    const char *id = arena_concat(&r->arena, guid, "?api-version=", r->version_name);
    reply_header_text(r, "Location", arena_concat(&r->arena, base, "/operationstatuses/", id));
    reply_header_text(r, "Azure-AsyncOperation",
                      arena_concat(&r->arena, base, "/operationresults/", id));
}

struct replied *reply_accepted(struct request *r, const struct scope *scope, const char *guid)
{
    add_links(r, region_name(&r->arena, scope->location), guid);
    reply_retry_after(r);
    return reply_empty(r, 202);
}

int operation_find(struct request *r, const char *guid, struct operation *op, struct err *e)
{
    if (find_subscription(r, e) < 0)
        return -1;
    int rc = st_op_get(arm_of(r)->storage, &r->arena, guid, op, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || strcasecmp(op->subscription, arm_subscription(r)) != 0)
        return err_set(e, ARM_OPERATION_NOT_FOUND, NULL, "The operation '%.100s' is not found.",
                       request_param(r, "operation"));
    operation_look(r, op);
    return 0;
}

int operation_is_own_delete(struct request *r, struct err *e)
{
    struct operation op;
    char digits[BEGINNER_DIGITS + 1];
    if (!(r->route->flags & ROUTE_PARTIAL) || !strstr(r->route->path, "{operation}"))
        return 0; /* a path with a resource would tell whether this exists */
    const char *given = request_param(r, "operation");
    size_t n = strlen(given);
    const char *guid = n < GUID_SIZE - 1 ? given : given + n - (GUID_SIZE - 1);
    int rc = st_op_get(arm_of(r)->storage, &r->arena, guid, &op, e);
    if (rc <= 0)
        return rc;
    beginner_digits(r, op.guid, digits);
    return op.is_delete && strcasecmp(op.subscription, arm_subscription(r)) == 0 &&
           strcmp(op.guid + BEGINNER_AT, digits) == 0;
}

static const char *status_name(enum op_status s)
{
    return enum_to_name(op_status_names, s);
}

static json_t *operation_body(struct request *r, const struct operation *op)
{
    char start[TIMEFMT_SIZE], end[TIMEFMT_SIZE];
    timefmt_wire(op->start_us, start);
    json_t *o =
        json_pack("{s:o, s:s, s:s, s:s}", "id", json_sprintf("%s%s", request_base(r), r->path),
                  "name", op->guid, "status", status_name(op->status), "startTime", start);
    if (op->status == OP_IN_PROGRESS)
        return o;
    timefmt_wire(op->end_us, end);
    json_object_set_new(o, "endTime", json_string(end));
    if (op->status == OP_SUCCEEDED)
        json_object_set_new(o, "properties", json_pack("{s:s}", "resourceId", op->resource_key));
    else
        json_object_set_new(o, "error",
                            json_pack("{s:s, s:o}", "code", op->error_code, "message",
                                      jsontext_string(op->error_message ? op->error_message : "")));
    return o;
}

struct replied *operation_results(struct request *r)
{
    struct err e;
    struct operation op;
    if (operation_find(r, request_param(r, "operation"), &op, &e) < 0)
        return reply_err(r, &e);
    /* The real service sent no Retry-After here; then its clients waited 30 s. */
    if (op.status == OP_IN_PROGRESS && !arm_is_strict(r))
        reply_retry_after(r);
    return reply_json(r, 200, operation_body(r, &op));
}

struct replied *operation_statuses(struct request *r)
{
    struct err e;
    struct operation op;
    if (operation_find(r, request_param(r, "operation"), &op, &e) < 0)
        return reply_err(r, &e);
    if (op.status != OP_IN_PROGRESS)
        return reply_empty(r, 204);
    add_links(r, op.location, op.guid);
    reply_retry_after(r);
    return reply_empty(r, 202);
}
