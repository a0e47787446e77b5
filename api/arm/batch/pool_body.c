/* SPDX-License-Identifier: MIT
 *
 * Bodies of pools. A body is checked twice: first by the resource manager's table (its names, words
 * and versions); then, translated to the data plane's words, by the data plane's table.
 */
#include <string.h>

#include "api/arm/batch/errors.h"
#include "api/arm/batch/pools.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/pool_mounts.h"
#include "api/plane/batch/reply.h"
#include "model/batch/rm.h"
#include "model/batch/rm_words.h"
#include "model/batch/tables_pool.h"
#include "model/batch/versions.h"

/* The data plane's versions that together contain all properties of the request's version. */
static enum api_version plane_of(const struct request *r)
{
    return (enum api_version)(r->version >= RM_2025_06 ? BATCH_2025_06 | BATCH_MANAGED
                                                       : (unsigned)BATCH_19_0 | BATCH_20_0);
}

enum { HOW = SCHEMA_TEXT_NUMBERS | SCHEMA_SPANS };

/* What happens to tasks on nodes that are removed. */
static enum dealloc_option how_of(const json_t *properties)
{
    const json_t *scale = json_object_get(properties, "scaleSettings");
    const struct accepted fixed = {.doc = json_object_get(scale, "fixedScale")};
    return pool_body_how(&fixed, "nodeDeallocationOption");
}

/* Reads the body with its secrets and translates it to the data plane's words. */
static int read_named(struct request *r, bool partial, struct rm_pool_body *out, struct err *e)
{
    struct accepted given;
    if (request_accept(r, &schema_rm_pool, HOW | (partial ? SCHEMA_PARTIAL : 0), &given, e) < 0)
        return -1;
    const json_t *whole = request_own(r, schema_merge_secrets(given.doc, given.secrets));
    const json_t *properties = json_object_get(whole, "properties");
    out->how = how_of(properties);
    out->tags = json_object_get(given.doc, "tags");
    int rc = rm_pool_to_plane(properties, &out->named, e);
    request_own(r, out->named);
    return rc;
}

/* Adds members from the stored pool to the body of a partial change: required members, and those
 * that the check of the others reads. */
static json_t *completed(const struct rm_pool_body *b, const char *name, const json_t *stored)
{
    static const char *const machines[] = {"virtualMachineConfiguration",
                                           "cloudServiceConfiguration"};
    json_t *all = json_copy(b->named);
    json_object_set_new(all, "id", json_string(name));
    if (!stored)
        return all;
    if (!json_object_get(all, "vmSize"))
        json_object_set(all, "vmSize", json_object_get(stored, "vmSize"));
    if (!json_object_get(all, "userAccounts") && json_object_get(stored, "userAccounts"))
        json_object_set(all, "userAccounts", json_object_get(stored, "userAccounts"));
    if (!json_object_get(all, machines[0]) && !json_object_get(all, machines[1]))
        for (size_t i = 0; i < 2; i++)
            if (json_object_get(stored, machines[i]))
                json_object_set(all, machines[i], json_object_get(stored, machines[i]));
    return all;
}

/* The data plane's check has failed: names the place in the body of this request. Returns -1. */
static int name_place(struct request *r, struct err *e)
{
    return *e->target ? err_set(e, e->code, rm_pool_place(&r->arena, e->target), "%s",
                                arena_strdup(&r->arena, e->msg))
                      : -1;
}

int rm_pool_accept(struct request *r, const json_t *stored, struct rm_pool_body *out, struct err *e)
{
    *out = (struct rm_pool_body){0};
    if (read_named(r, stored != NULL, out, e) < 0)
        return -1;
    const json_t *all = request_own(r, completed(out, request_param(r, "pool"), stored));
    if (request_accept_json(r, &schema_batch_pool, plane_of(r), HOW, all, &out->plane, e) < 0)
        return name_place(r, e);
    if (out->tags) {
        json_object_set(out->named, RM_POOL_TAGS, out->tags);
        json_object_set(out->plane.doc, RM_POOL_TAGS, out->tags);
    }
    return 0;
}

int rm_pool_check_subnet(struct request *r, const struct batch_account *account, const json_t *doc,
                         struct err *e)
{
    return pool_check_subnet(&r->arena, account, doc, e) < 0 ? name_place(r, e) : 0;
}

int rm_pool_check_packages(struct request *r, const struct batch_account *b,
                           const struct rm_pool_body *given, struct err *e)
{
    const char *application, *text;
    int rc = package_refs_missing(arm_of(r)->storage, &r->arena, b->id,
                                  json_object_get(given->plane.doc, "applicationPackageReferences"),
                                  &application, &text, e);
    if (rc <= 0)
        return rc;
    return err_set(e, BATCHRM_PACKAGE_REFERENCES, "properties.applicationPackages",
                   "There is no active application package %s.", text);
}

/* --- changes ---------------------------------------------------------------------------------- */

struct pool_change {
    struct request *r;
    const struct batch_account *account;
    struct batch_pool *p;
    const struct rm_pool_body *b;
    struct accepted stored;
    bool whole; /* the body replaces the pool; otherwise it changes what it names */
    int64_t updated_us;
};

/* Whether a request may change the member: the display name, the tags, or a member that the data
 * plane's PATCH may change (since 2024-07-01 more members). */
static bool may_change(const struct request *r, const char *name)
{
    enum batch_version v = r->version >= RM_2025_06   ? BATCH_2025_06
                           : r->version >= RM_2024_07 ? BATCH_20_0
                                                      : BATCH_16_0;
    schema_set set;
    struct err none;
    return strcmp(name, "displayName") == 0 || strcmp(name, RM_POOL_TAGS) == 0 ||
           schema_select(&schema_batch_pool_patch, (enum api_version)v, name, &set, &none) == 0;
}

/* Whether the request's version has the member. A stored member that only an older version has
 * stays unchanged. */
static bool is_known(const struct request *r, const char *name)
{
    schema_set set;
    struct err none;
    return r->version < RM_2025_06 || strcmp(name, RM_POOL_TAGS) == 0 ||
           schema_select(&schema_batch_pool, plane_of(r), name, &set, &none) == 0;
}

static int refuse_fixed(const struct pool_change *c, const char *name, struct err *e)
{
    if (strcmp(name, "displayName") == 0)
        return 0;
    if (!pool_fixes(c->p, &c->stored, &c->b->plane, name))
        return 0;
    return err_set(e, BATCHRM_FIXED, rm_pool_place(&c->r->arena, name),
                   "This property can be changed only while the pool has no nodes.");
}

static int change_member(struct pool_change *c, const char *name, struct err *e)
{
    json_t *to = json_object_get(c->b->plane.doc, name);
    const json_t *from = json_object_get(c->stored.doc, name);
    if (rm_pool_is_size(name) || strcmp(name, "id") == 0)
        return 0;
    if (may_change(c->r, name)) {
        if (refuse_fixed(c, name, e) < 0)
            return -1;
        pool_replace(&c->stored, &c->b->plane, name, to);
        return 0;
    }
    if (to == from || (to && from && json_equal(to, from)))
        return 0;
    return err_set(e, BATCHRM_FIXED, rm_pool_place(&c->r->arena, name),
                   "A property that cannot be updated was specified as part of the request.");
}

int rm_pool_take_mounts(struct request *r, const struct batch_account *account,
                        const struct accepted *b, const char *vm_size, struct err *e)
{
    const struct pool_asker who = {account, batchrm_of(r)->store, r->who->first || r->seeds};
    return pool_mounts_take(r, &who, b, "", vm_size, e);
}

static int take_new_mounts(struct pool_change *c, struct err *e)
{
    static const char mounts[] = "mountConfiguration";
    const json_t *given = json_object_get(c->whole ? c->b->plane.doc : c->b->named, mounts);
    if (!given || !may_change(c->r, mounts))
        return 0;
    return rm_pool_take_mounts(c->r, c->account, &c->b->plane, NULL, e);
}

static int change_members(struct pool_change *c, struct err *e)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach(c->whole ? c->b->plane.doc : c->b->named, name, value) {
        if (change_member(c, name, e) < 0)
            return -1;
    }
    if (!c->whole)
        return 0;
    json_object_foreach_safe(c->stored.doc, next, name, value) {
        if (!json_object_get(c->b->plane.doc, name) && is_known(c->r, name) &&
            change_member(c, name, e) < 0)
            return -1;
    }
    return 0;
}

int rm_pool_check_formula(const struct batch_pool *p, struct err *e)
{
    struct formula_error wrong;
    if (!p->scaling.enabled)
        return 0;
    struct formula *f = formula_parse(p->scaling.formula, strlen(p->scaling.formula), &wrong);
    formula_free(f);
    if (f)
        return 0;
    return err_set(e, wrong.fault == FORMULA_TOO_LONG ? BATCHRM_FORMULA_TOO_LONG : BATCHRM_FORMULA,
                   "properties.scaleSettings.autoScale.formula", "%s", wrong.msg);
}

static int check_steady(const struct batch_pool *p, struct err *e)
{
    if (batch_pool_is_steady(p))
        return 0;
    return err_set(e, BATCHRM_POOL_RESIZING, NULL, "The pool %s is being resized.", p->name);
}

/* Changes automatic scaling. `to`: a pool with the body's settings. */
static int scale_by(const struct pool_change *c, const struct batch_pool *to, struct err *e)
{
    struct batch_front *front = batchrm_of(c->r)->front;
    const struct batch_auto_scale *now = &c->p->scaling;
    if (now->enabled && strcmp(now->formula, to->scaling.formula) == 0 &&
        now->interval_us == to->scaling.interval_us)
        return 0;
    if (rm_pool_check_formula(to, e) < 0 || check_steady(c->p, e) < 0)
        return -1;
    return batch_pool_scale_by(front, c->p, &to->scaling, c->updated_us, e);
}

/* Checks what the members of the changed pool ask of one another. */
static int check_changed(const struct pool_change *c, struct err *e)
{
    const json_t *given = c->whole ? c->b->plane.doc : c->b->named;
    return batch_check_users(c->stored.doc, "", e) < 0
               ? name_place(c->r, e)
               : rm_pool_check_subnet(c->r, c->account, given, e);
}

/* Whether the request gives this target. */
static bool gives(const struct pool_change *c, const char *target)
{
    return c->whole || json_object_get(c->b->named, target);
}

static int resize(const struct pool_change *c, const struct batch_pool *to, struct err *e)
{
    struct batch_front *front = batchrm_of(c->r)->front;
    const struct batch_size *now = &c->p->size, *size = &to->size;
    const struct batch_auto_scale none = {.interval_us = c->p->scaling.interval_us};
    const struct batch_targets t = {
        .dedicated = gives(c, "targetDedicatedNodes") ? size->dedicated : now->dedicated,
        .low = gives(c, "targetLowPriorityNodes") ? size->low : now->low,
        .timeout_us = size->timeout_us,
        .how = c->b->how};
    if (!c->p->scaling.enabled && now->dedicated == t.dedicated && now->low == t.low)
        return 0;
    if (check_steady(c->p, e) < 0)
        return -1;
    if (c->p->scaling.enabled && batch_pool_scale_by(front, c->p, &none, c->updated_us, e) < 0)
        return -1;
    return batch_pool_resize(front, c->p, &t, c->updated_us, e);
}

static int write_change(struct storage *st, void *ctx, struct err *e)
{
    const struct pool_change *c = ctx;
    struct arena *a = &c->r->arena;
    struct batch_pool to;
    (void)st;
    pool_from(a, &c->b->plane, c->r->now_us, &to);
    if (pool_store(batchrm_of(c->r)->front, a, &c->stored, c->updated_us, c->p, e) < 0)
        return -1;
    if (!json_object_get(c->b->named, "enableAutoScale")) /* the body has no scale settings */
        return 0;
    return to.scaling.enabled ? scale_by(c, &to, e) : resize(c, &to, e);
}

int rm_pool_change(struct request *r, struct rm_pool *x, const struct rm_pool_body *b, bool whole,
                   struct err *e)
{
    struct pool_change c = {.r = r,
                            .account = &x->account,
                            .p = &x->row,
                            .b = b,
                            .whole = whole,
                            .updated_us = batch_modified(r, x->row.updated_us)};
    if (pool_load(r, batchrm_of(r)->front, &x->row, &c.stored, e) < 0)
        return -1;
    if (change_members(&c, e) < 0 || check_changed(&c, e) < 0 || take_new_mounts(&c, e) < 0)
        return -1;
    return st_tx(arm_of(r)->storage, "change pool", write_change, &c, e) < 0 ? -1 : 0;
}
