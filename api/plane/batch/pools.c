/* SPDX-License-Identifier: MIT
 *
 * Pools: add, show, list, delete. pools_change.c changes them. Memory is the request's. On the
 * loop's thread.
 */
#include "api/plane/batch/pools.h"

#include <string.h>
#include <strings.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/pool_mounts.h"
#include "api/plane/batch/pool_stats.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/run_as.h"
#include "model/batch/tables_pool.h"
#include "model/span.h"

/* --- finding and showing ---------------------------------------------------------------------- */

int pool_of(struct request *r, bool changes, struct batch_pool *out, struct err *e)
{
    int rc = st_batch_pool_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id,
                               request_param(r, "pool"), out, e);
    if (rc == 0)
        return err_set(e, BATCH_POOL_NOT_FOUND, NULL, "there is no pool %.64s",
                       request_param(r, "pool"));
    if (rc == 1 && changes && out->state == BATCH_POOL_DELETING)
        return err_set(e, BATCH_POOL_BEING_DELETED, NULL, "the pool %s is being deleted",
                       out->name);
    return rc < 0 ? -1 : 0;
}

const char *pool_path_of(struct request *r, const char *name, const char *behind)
{
    return arena_printf(&r->arena, "/pools/%s%s", batch_segment(r, name), behind);
}

static const char *span_of(struct request *r, int64_t us)
{
    char text[SPAN_SIZE];
    if (us == 0)
        return NULL;
    span_text(us, text);
    return arena_strdup(&r->arena, text);
}

void pool_render(struct request *r, const struct batch_pool *p, schema_set set, struct strbuf *out)
{
    bool scaled = p->scaling.enabled;
    const struct over over[] = {
        SHOW_TEXT("url", batch_url(r, pool_path_of(r, p->name, ""))),
        SHOW_TEXT("eTag", batch_etag_text(r, p->updated_us)),
        SHOW_TEXT("lastModified", batch_time_text(r, p->updated_us)),
        SHOW_TEXT("creationTime", batch_time_text(r, p->created_us)),
        SHOW_TEXT("state", enum_to_name(batch_pool_state_names, (int)p->state)),
        SHOW_TEXT("stateTransitionTime", batch_time_text(r, p->state_us)),
        SHOW_TEXT("allocationState", enum_to_name(batch_allocation_names, (int)p->size.state)),
        SHOW_TEXT("allocationStateTransitionTime", batch_time_text(r, p->size.state_us)),
        SHOW_TEXT("resizeTimeout", scaled ? NULL : span_of(r, p->size.timeout_us)),
        SHOW_INT("currentDedicatedNodes", p->has_dedicated),
        SHOW_INT("targetDedicatedNodes", p->size.dedicated),
        SHOW_INT("currentLowPriorityNodes", p->has_low),
        SHOW_INT("targetLowPriorityNodes", p->size.low),
        SHOW_JSON("resizeErrors", p->size.errors),
        SHOW_BOOL("enableAutoScale", scaled),
        SHOW_TEXT("autoScaleFormula", scaled ? p->scaling.formula : NULL),
        SHOW_TEXT("autoScaleEvaluationInterval",
                  scaled ? span_of(r, p->scaling.interval_us) : NULL),
        SHOW_JSON("autoScaleRun", scaled ? p->scaling.run : NULL),
        SHOW_JSON("stats", pool_stats(r, p, pool_path_of(r, p->name, ""))),
    };
    schema_render(out, &(struct rendering){.schema = &schema_batch_pool,
                                           .version = r->version,
                                           .stored = p->doc,
                                           SHOW_LIST(over),
                                           .set = set});
    arm_show_secrets(r, out, p->id, st_batch_pool_secrets);
}

struct replied *pools_get(struct request *r)
{
    struct batch_pool p;
    struct err e;
    schema_set set;
    struct strbuf out = STRBUF_INIT;
    if (pool_of(r, false, &p, &e) < 0 || batch_select(r, &schema_batch_pool, &set, &e) < 0 ||
        batch_conditions(r, p.updated_us, &e) < 0)
        return reply_err(r, &e);
    pool_render(r, &p, set, &out);
    batch_etag(r, p.updated_us);
    return batch_reply_element(r, "pools/@Element", &out);
}

struct replied *pools_exists(struct request *r)
{
    struct batch_pool p;
    struct err e;
    if (pool_of(r, false, &p, &e) < 0 || batch_conditions(r, p.updated_us, &e) < 0)
        return reply_err(r, &e);
    batch_etag(r, p.updated_us);
    return reply_empty(r, 200);
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    (void)e;
    pool_render(l->r, row, l->set, out);
    return 0;
}

struct replied *pools_list(struct request *r)
{
    static const struct batch_filter filters[BATCH_POOL_PROPERTIES] = {
        [BATCH_POOL_ID] = {"id", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
        [BATCH_POOL_STATE] = {"state", BATCH_BY_STATE, FILTER_EQUAL, batch_pool_state_names},
        [BATCH_POOL_STATE_TIME] = {"stateTransitionTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BATCH_POOL_ALLOCATION] = {"allocationState", BATCH_BY_STATE, FILTER_EQUAL,
                                   batch_allocation_names},
        [BATCH_POOL_ALLOCATION_TIME] = {"allocationStateTransitionTime", BATCH_BY_TIME,
                                        FILTER_ORDER, NULL},
        [BATCH_POOL_CREATED] = {"creationTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BATCH_POOL_MODIFIED] = {"lastModified", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BATCH_POOL_AUTO_SCALE] = {"enableAutoScale", BATCH_BY_BOOL, FILTER_EQUAL, NULL},
        [BATCH_POOL_INTERNODE] = {"enableInterNodeCommunication", BATCH_BY_BOOL, FILTER_EQUAL,
                                  NULL},
        [BATCH_POOL_VM_SIZE] = {"vmSize", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
    };
    static const struct batch_rows rows = {.list = {.fragment = "pools",
                                                    .filters = filters,
                                                    .n_filters = BATCH_POOL_PROPERTIES,
                                                    .schema = &schema_batch_pool},
                                           BATCH_ROWS_OF(struct batch_pool),
                                           .fetch = batch_pools_fetch,
                                           .render = render_row};
    return batch_reply_rows(r, &rows, batch_account_of(r)->id, NULL);
}

/* --- adding ----------------------------------------------------------------------------------- */

static int refuse_taken(struct request *r, const char *name, struct err *e)
{
    struct batch_pool there;
    int rc =
        st_batch_pool_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, name, &there, e);
    if (rc != 1)
        return rc;
    return there.state == BATCH_POOL_DELETING
               ? err_set(e, BATCH_POOL_BEING_DELETED, NULL, "the pool %s is being deleted", name)
               : err_set(e, BATCH_POOL_EXISTS, NULL, "the pool %s exists already", name);
}

static int check_quota(struct request *r, struct err *e)
{
    const struct batch_front *f = batch_of(r)->front;
    int rc = batch_pool_may_add(f, batch_account_of(r)->id, false, e);
    if (rc == 0)
        return err_set(e, BATCH_POOL_QUOTA_REACHED, NULL,
                       "the account has %lld pools, and may not have more",
                       (long long)f->quotas.pools);
    return rc < 0 ? -1 : 0;
}

static int add(struct request *r, const struct accepted *b, struct batch_pool *p, struct err *e)
{
    pool_from(&r->arena, b, r->now_us, p);
    p->account_id = batch_account_of(r)->id;
    p->created_by = r->who ? r->who->object_id : NULL;
    if (batch_check_local(r, p->vm_size, e) < 0 ||
        (p->scaling.enabled && batch_formula_accept(p->scaling.formula, e) < 0) ||
        refuse_taken(r, p->name, e) < 0 || check_quota(r, e) < 0 ||
        pool_check_subnet(&r->arena, batch_account_of(r), b->doc, e) < 0 ||
        batch_check_packages(r, json_object_get(b->doc, "applicationPackageReferences"), e) < 0 ||
        batch_take_mounts(r, b, "", NULL, e) < 0)
        return -1;
    return pool_make(batch_of(r)->front, p, b, e) < 0 ? batch_not_accepted(e) : 0;
}

struct replied *pools_add(struct request *r)
{
    struct accepted b;
    struct batch_pool p;
    struct err e;
    if (request_accept(r, &schema_batch_pool, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    int rc = add(r, &b, &p, &e);
    const char *path = rc == 0 ? pool_path_of(r, p.name, "") : NULL;
    if (rc == 0)
        LOG_INFO(r->config->log, "pool.created", LF_STR("pool", p.name),
                 LF_STR("account", batch_account_of(r)->name),
                 LF_INT("dedicated", p.size.dedicated), LF_INT("low_priority", p.size.low));
    return rc < 0 ? reply_err(r, &e) : batch_reply_written(r, 201, path, p.updated_us);
}

struct replied *pools_delete(struct request *r)
{
    struct batch_pool p;
    struct err e;
    if (pool_of(r, true, &p, &e) < 0 || batch_conditions(r, p.updated_us, &e) < 0 ||
        batch_pool_delete(batch_of(r)->front, &p, batch_modified(r, p.updated_us), &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "pool.deleting", LF_STR("pool", p.name),
             LF_STR("account", batch_account_of(r)->name));
    return reply_empty(r, 202);
}
