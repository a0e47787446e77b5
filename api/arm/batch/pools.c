/* SPDX-License-Identifier: MIT
 *
 * Pools of Batch accounts. They are the data plane's rows; functions of api/plane/batch/ create and
 * change them.
 */
#include "api/arm/batch/pools.h"
#include "api/arm/may.h"

#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/child.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/reply.h"
#include "model/batch/rm.h"
#include "model/batch/rm_words.h"
#include "storage/storage.h"

static const struct enum_name states[] = {
    {BATCH_POOL_ACTIVE, "Succeeded"}, {BATCH_POOL_DELETING, "Deleting"}, {0, NULL}};
static const struct enum_name allocations[] = {{BATCH_ALLOCATION_STEADY, "Steady"},
                                               {BATCH_ALLOCATION_RESIZING, "Resizing"},
                                               {BATCH_ALLOCATION_STOPPING, "Stopping"},
                                               {0, NULL}};
static const struct enum_name deallocations[] = {{DEALLOC_REQUEUE, "Requeue"},
                                                 {DEALLOC_TERMINATE, "Terminate"},
                                                 {DEALLOC_WAIT_FOR_COMPLETION, "TaskCompletion"},
                                                 {DEALLOC_WAIT_FOR_DATA, "RetainedData"},
                                                 {0, NULL}};

/* --- finding ---------------------------------------------------------------------------------- */

static int step_account(struct rm *m, struct err *e)
{
    struct rm_pool *x = m->row;
    return find_made_batch_account(m->r, &x->account, e);
}

/* Finds a pool by its name: 1, 0 (none) or -1. */
static int seek_named(struct request *r, const char *name, struct rm_pool *x, struct err *e)
{
    return st_batch_pool_get(arm_of(r)->storage, &r->arena, x->account.id, name, &x->row, e);
}

static int seek(struct rm *m, struct err *e)
{
    struct rm_pool *x = m->row;
    int rc = seek_named(m->r, m->name, x, e);
    return rc < 0 || child_conditions(m->r, rc > 0 ? x->row.updated_us : 0, e) < 0 ? -1 : rc;
}

static int find(struct rm *m, struct err *e)
{
    int rc = step_account(m, e) < 0 ? -1 : seek_named(m->r, m->name, m->row, e);
    if (rc == 0)
        return err_set(e, BATCHRM_POOL_NOT_FOUND, NULL, "The specified pool does not exist: %.100s",
                       m->name);
    return rc < 0 ? -1 : 0;
}

static int check_stays(const struct rm_pool *x, struct err *e)
{
    if (x->row.state != BATCH_POOL_DELETING)
        return 0;
    return err_set(e, BATCHRM_POOL_DELETING, NULL, "The pool %s is being deleted.", x->row.name);
}

/* Finds the pool; fails if the pool is being deleted. */
static int find_staying(struct rm *m, struct err *e)
{
    return find(m, e) < 0 ? -1 : check_stays(m->row, e);
}

static int find_to_patch(struct rm *m, struct err *e)
{
    const struct rm_pool *x = m->row;
    return find_staying(m, e) < 0 ? -1 : child_conditions(m->r, x->row.updated_us, e);
}

/* --- showing ---------------------------------------------------------------------------------- */

static json_t *scale_settings(const struct batch_pool *p)
{
    if (p->scaling.enabled)
        return json_pack("{s:{s:s, s:o}}", "autoScale", "formula", p->scaling.formula,
                         "evaluationInterval", child_span(p->scaling.interval_us));
    return json_pack("{s:{s:i, s:i, s:o}}", "fixedScale", "targetDedicatedNodes", p->size.dedicated,
                     "targetLowPriorityNodes", p->size.low, "resizeTimeout",
                     child_span(p->size.timeout_us));
}

static json_t *parsed(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

/* The resize in progress, or the last resize. */
static json_t *resize_status(const struct batch_pool *p)
{
    return json_pack("{s:i, s:i, s:o, s:s, s:o, s:o*}", "targetDedicatedNodes", p->size.dedicated,
                     "targetLowPriorityNodes", p->size.low, "resizeTimeout",
                     child_span(p->size.timeout_us), "nodeDeallocationOption",
                     enum_to_name(deallocations, (int)p->dealloc), "startTime",
                     child_time(p->size.began_us), "errors", parsed(p->size.errors));
}

static json_t *properties_of(struct request *r, const struct rm_pool *x)
{
    const struct batch_pool *p = &x->row;
    json_auto_t *doc = parsed(p->doc);
    json_t *out = rm_pool_from_plane(doc, batch_account_id(r, &x->account));
    json_auto_t *now = json_pack(
        "{s:o, s:o, s:s, s:o, s:s, s:o, s:s, s:i, s:i, s:o, s:o*, s:o}", "lastModified",
        child_time(p->updated_us), "creationTime", child_time(p->created_us), "provisioningState",
        enum_to_name(states, (int)p->state), "provisioningStateTransitionTime",
        child_time(p->state_us), "allocationState", enum_to_name(allocations, (int)p->size.state),
        "allocationStateTransitionTime", child_time(p->size.state_us), "vmSize", p->vm_size,
        "currentDedicatedNodes", p->has_dedicated, "currentLowPriorityNodes", p->has_low,
        "scaleSettings", scale_settings(p), "autoScaleRun",
        p->scaling.enabled ? parsed(p->scaling.run) : NULL, "resizeOperationStatus",
        resize_status(p));
    json_object_update(out, now);
    return out;
}

static const struct child_kind kind = {"pools", &schema_rm_pool, &schema_rm_pool_properties,
                                       "poolOperationResults"};

static struct child child_of(const struct rm_pool *x)
{
    return (struct child){&kind, &x->account, x->row.name, x->row.updated_us, NULL};
}

/* The pool with its tags, which are in its document. */
static struct child tagged_child_of(struct request *r, const struct rm_pool *x)
{
    struct child c = child_of(x);
    json_auto_t *doc = parsed(x->row.doc);
    const json_t *kept = json_object_get(doc, RM_POOL_TAGS);
    json_auto_t *body = kept ? json_pack("{s:O}", "tags", kept) : NULL;
    c.tags = child_tags(r, body);
    return c;
}

static struct replied *show(struct rm *m, int status)
{
    const struct rm_pool *x = m->row;
    const struct child c = tagged_child_of(m->r, x);
    (void)status;
    return child_show(m->r, &c, properties_of(m->r, x));
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    const struct child_list *list = l->of;
    const struct rm_pool x = {.account = list->account, .row = *(const struct batch_pool *)row};
    const struct child c = tagged_child_of(l->r, &x);
    (void)e;
    child_render(l->r, &c, properties_of(l->r, &x), list->set, out);
    return 0;
}

struct replied *batch_pools_list(struct request *r)
{
    static const struct batch_filter filters[BATCH_POOL_PROPERTIES] = {
        [BATCH_POOL_ID] = {"name", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
        [BATCH_POOL_STATE] = {"properties/provisioningState", BATCH_BY_STATE, FILTER_EQUAL, states},
        [BATCH_POOL_STATE_TIME] = {"properties/provisioningStateTransitionTime", BATCH_BY_TIME,
                                   FILTER_ORDER, NULL},
        [BATCH_POOL_ALLOCATION] = {"properties/allocationState", BATCH_BY_STATE, FILTER_EQUAL,
                                   allocations},
        [BATCH_POOL_ALLOCATION_TIME] = {"properties/allocationStateTransitionTime", BATCH_BY_TIME,
                                        FILTER_ORDER, NULL},
        [BATCH_POOL_CREATED] = {"properties/creationTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BATCH_POOL_MODIFIED] = {"properties/lastModified", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BATCH_POOL_VM_SIZE] = {"properties/vmSize", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
    };
    static const struct batch_rows rows = {
        .list = {.filters = filters, .n_filters = BATCH_POOL_PROPERTIES},
        BATCH_ROWS_OF(struct batch_pool),
        .fetch = batch_pools_fetch,
        .render = render_row};
    return child_list(r, &kind, &rows);
}

/* --- making and changing ---------------------------------------------------------------------- */

static int check_quota(struct request *r, const struct rm_pool *x, struct err *e)
{
    const struct batch_front *f = batchrm_of(r)->front;
    int rc = batch_pool_may_add(f, x->account.id, false, e);
    if (rc == 0)
        return err_set(e, BATCHRM_POOL_QUOTA, NULL,
                       "The Batch account %s has %lld pools, and may not have more.",
                       x->account.name, (long long)f->quotas.pools);
    return rc < 0 ? -1 : 0;
}

/* Fails unless the caller may use the nodes of both priorities, because a pool may get both. */
static int check_local(struct request *r, const struct batch_pool *p, struct err *e)
{
    return arm_check_local(r, p->vm_size, VM_DEDICATED, e) < 0
               ? -1
               : arm_check_local(r, p->vm_size, VM_LOWPRIORITY, e);
}

static int insert(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    struct rm_pool *x = m->row;
    struct rm_pool_body b;
    if (check_quota(r, x, e) < 0 || rm_pool_accept(r, NULL, &b, e) < 0)
        return -1;
    pool_from(&r->arena, &b.plane, r->now_us, &x->row);
    x->row.account_id = x->account.id;
    x->row.created_by = r->who->object_id;
    if (check_local(r, &x->row, e) < 0 || rm_pool_check_formula(&x->row, e) < 0 ||
        rm_pool_check_subnet(r, &x->account, b.plane.doc, e) < 0 ||
        rm_pool_check_packages(r, &x->account, &b, e) < 0 ||
        rm_pool_take_mounts(r, &x->account, &b.plane, x->row.vm_size, e) < 0 ||
        pool_make(batchrm_of(r)->front, &x->row, &b.plane, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "pool.created", LF_STR("pool", m->name),
             LF_STR("account", x->account.name), LF_STR("by", r->who->name));
    return 0;
}

/* The pool's document with its secrets. */
static int read_stored(struct request *r, const struct batch_pool *p, const json_t **doc,
                       struct err *e)
{
    struct accepted stored;
    if (pool_load(r, batchrm_of(r)->front, p, &stored, e) < 0)
        return -1;
    *doc = request_own(r, schema_merge_secrets(stored.doc, stored.secrets));
    return 0;
}

static int take(struct rm *m, bool whole, struct err *e)
{
    struct request *r = m->r;
    struct rm_pool *x = m->row;
    struct rm_pool_body b;
    struct batch_pool to;
    if (check_local(r, &x->row, e) < 0)
        return -1;
    const json_t *stored = NULL;
    if (!whole && read_stored(r, &x->row, &stored, e) < 0)
        return -1;
    if (rm_pool_accept(r, stored, &b, e) < 0 || rm_pool_check_packages(r, &x->account, &b, e) < 0)
        return -1;
    pool_from(&r->arena, &b.plane, r->now_us, &to);
    if (check_local(r, &to, e) < 0)
        return -1;
    return rm_pool_change(r, x, &b, whole, e);
}

static int change(struct rm *m, struct err *e)
{
    return check_stays(m->row, e) < 0 ? -1 : take(m, true, e);
}

static int patch(struct rm *m, struct err *e)
{
    return take(m, false, e);
}

static struct replied *remove_pool(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    struct rm_pool *x = m->row;
    if (x->row.state != BATCH_POOL_DELETING) {
        x->row.updated_us = batch_modified(r, x->row.updated_us);
        if (batch_pool_delete(batchrm_of(r)->front, &x->row, x->row.updated_us, &e) < 0)
            return reply_err(r, &e);
        LOG_INFO(r->config->log, "pool.deleting", LF_STR("pool", x->row.name),
                 LF_STR("account", x->account.name), LF_STR("by", r->who->name));
    }
    const struct child c = child_of(x);
    return child_deleted(r, &c);
}

static rm_step *const steps[] = {step_account, NULL};
static const int missing[] = {BATCHRM_POOL_NOT_FOUND, 0};

const struct rm_kind batch_pool_kind = {
    .what = "pool",
    .param = "pool",
    .columns = {.size = sizeof(struct rm_pool),
                .id = offsetof(struct rm_pool, row.id),
                .name = offsetof(struct rm_pool, row.name),
                .updated = offsetof(struct rm_pool, row.updated_us)},
    .steps = steps,
    .seek = seek,
    .insert = insert,
    .change = change,
    .rereads = true,
    .find_made = find_to_patch,
    .patch = patch,
    .find = find,
    .missing = missing,
    .remove = remove_pool,
    .show = show,
};

/* --- other operations ------------------------------------------------------------------------- */

static struct replied *show_again(struct rm *m)
{
    struct err e;
    return find(m, &e) < 0 ? reply_err(m->r, &e) : show(m, 200);
}

struct replied *batch_pools_disable_auto_scale(struct request *r)
{
    struct err e;
    struct rm m = rm_begin_named(r);
    struct rm_pool *x = m.row;
    if (find_staying(&m, &e) < 0)
        return reply_err(r, &e);
    const struct batch_auto_scale none = {.interval_us = x->row.scaling.interval_us};
    if (x->row.scaling.enabled && batch_pool_scale_by(batchrm_of(r)->front, &x->row, &none,
                                                      batch_modified(r, x->row.updated_us), &e) < 0)
        return reply_err(r, &e);
    return show_again(&m);
}

struct replied *batch_pools_stop_resize(struct request *r)
{
    struct err e;
    struct rm m = rm_begin_named(r);
    struct rm_pool *x = m.row;
    int rc = find_staying(&m, &e);
    if (rc == 0 && batch_pool_is_steady(&x->row))
        rc = err_set(&e, BATCHRM_STATE, NULL, "The pool %s is not being resized.", x->row.name);
    if (rc == 0 && x->row.size.state == BATCH_ALLOCATION_RESIZING)
        rc = batch_pool_stop_resize(batchrm_of(r)->front, &x->row, &e);
    return rc < 0 ? reply_err(r, &e) : show_again(&m);
}

struct replied *batch_pools_deleted(struct request *r)
{
    struct err e;
    struct rm_pool x = {.row = {.id = 0}};
    uint64_t ticks;
    const char *name = child_deletion(r, &ticks);
    int rc = find_made_batch_account(r, &x.account, &e) < 0 ? -1 : seek_named(r, name, &x, &e);
    if (rc < 0)
        return reply_err(r, &e);
    if (rc == 0 || ticks != (uint64_t)time_to_ticks(x.row.updated_us))
        return reply_empty(r, 200);
    const struct child c = child_of(&x);
    return child_deleted(r, &c);
}
