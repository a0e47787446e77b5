/* SPDX-License-Identifier: MIT
 *
 * Pools that a formula scales: enable, disable, evaluate. Memory is the
 * request's. On the loop's thread.
 */
#include <string.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/pools.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "model/batch/tables_pool.h"
#include "scheduler/front/batch/batch.h"

#define USUAL_INTERVAL_US (15 * INT64_C(60000000))

static const char *formula_of(struct request *r, const struct accepted *b)
{
    return arena_strdup(&r->arena, json_string_value(json_object_get(b->doc, "autoScaleFormula")));
}

/* Reads the formula and interval of the body; a missing value is taken from the pool. */
static int read_scaling(struct request *r, const struct batch_pool *p, const struct accepted *b,
                        struct batch_auto_scale *out, struct err *e)
{
    const char *formula = formula_of(r, b);
    int64_t interval_us = pool_body_us(b, "autoScaleEvaluationInterval");
    *out = p->scaling;
    if (!p->scaling.enabled)
        *out = (struct batch_auto_scale){.enabled = true, .interval_us = USUAL_INTERVAL_US};
    if (!formula && !p->scaling.enabled)
        return err_set(e, BATCH_MISSING_REQUIRED_PROPERTY, "autoScaleFormula",
                       "automatic scaling is off for this pool, so a formula is required");
    if (formula && batch_formula_accept(formula, e) < 0)
        return -1;
    if (formula)
        out->formula = formula;
    if (interval_us > 0)
        out->interval_us = interval_us;
    out->evaluated_us = 0; /* a new schedule begins now */
    return 0;
}

static int enable(struct request *r, struct batch_pool *p, struct err *e)
{
    struct batch_auto_scale s;
    struct accepted b;
    if (pool_of(r, true, p, e) < 0 || batch_conditions(r, p->updated_us, e) < 0 ||
        request_accept(r, &schema_batch_enable_auto_scale, SCHEMA_BATCH, &b, e) < 0)
        return -1;
    int rc = read_scaling(r, p, &b, &s, e);
    if (rc < 0)
        return -1;
    if (!batch_pool_is_steady(p))
        return err_set(e, BATCH_POOL_BEING_RESIZED, NULL, "the pool is being resized");
    if (!batch_pool_may_enable(batch_of(r)->front, p))
        return err_set(e, BATCH_TOO_MANY_ENABLE_AUTO_SCALE_REQUESTS, NULL,
                       "automatic scaling of a pool can be enabled or changed once in 30 seconds");
    p->updated_us = batch_modified(r, p->updated_us);
    return batch_pool_scale_by(batch_of(r)->front, p, &s, p->updated_us, e);
}

static REPLIED written(struct request *r, const struct batch_pool *p, const char *action)
{
    return batch_reply_written(r, 200, pool_path_of(r, p->name, action), p->updated_us);
}

struct replied *pools_enable_auto_scale(struct request *r)
{
    struct batch_pool p;
    struct err e;
    return enable(r, &p, &e) < 0 ? reply_err(r, &e) : written(r, &p, "/enableautoscale");
}

static int disable(struct request *r, struct batch_pool *p, struct err *e)
{
    const struct batch_auto_scale none = {.interval_us = USUAL_INTERVAL_US};
    if (pool_of(r, true, p, e) < 0)
        return -1;
    if (!p->scaling.enabled)
        return 0; /* scaling is disabled already */
    p->updated_us = batch_modified(r, p->updated_us);
    return batch_pool_scale_by(batch_of(r)->front, p, &none, p->updated_us, e);
}

struct replied *pools_disable_auto_scale(struct request *r)
{
    struct batch_pool p;
    struct err e;
    return disable(r, &p, &e) < 0 ? reply_err(r, &e) : written(r, &p, "/disableautoscale");
}

static int evaluate(struct request *r, struct batch_evaluation *out, struct err *e)
{
    struct batch_pool p;
    struct formula_error wrong;
    struct accepted b;
    if (pool_of(r, true, &p, e) < 0 ||
        request_accept(r, &schema_batch_evaluate_auto_scale, SCHEMA_BATCH, &b, e) < 0)
        return -1;
    const char *formula = formula_of(r, &b);
    if (!p.scaling.enabled)
        return err_set(
            e, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE, NULL,
            "automatic scaling is off for the pool; enable it before you evaluate a formula");
    int rc = batch_pool_evaluate(batch_of(r)->front, &r->arena, &p, formula, out, &wrong, e);
    return rc < 0 && wrong.fault != FORMULA_OK ? batch_formula_refuse(&wrong, e) : rc;
}

struct replied *pools_evaluate_auto_scale(struct request *r)
{
    struct batch_evaluation found = {0};
    struct strbuf text = STRBUF_INIT;
    struct err e;
    if (evaluate(r, &found, &e) < 0)
        return reply_err(r, &e);
    strbuf_puts(&text, found.run);
    return batch_reply_element(r, "Microsoft.Azure.Batch.Protocol.Entities.AutoScaleRun", &text);
}
