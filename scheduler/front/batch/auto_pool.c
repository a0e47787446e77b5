/* SPDX-License-Identifier: MIT
 *
 * Pools that are made for a job, or for the jobs of a schedule, and are deleted with that job or
 * schedule. If a job's pool cannot be made, the job ends with a schedulingError.
 */
#include <ctype.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/jsontext.h"
#include "model/batch/pool_spec.h"
#include "model/batch/spec.h"
#include "scheduler/front/batch/front_priv.h"

#define POOL "poolInfo.autoPoolSpecification.pool"

/* Why the requested pool cannot be made. */
struct trouble {
    const char *code, *message, *detail;
};

struct pool_making {
    struct batch_front *f;
    struct arena *a;
    const struct batch_job *j;
    const char *secrets; /* the job's secrets */
    struct trouble wrong;
};

/* A new pool name: "PREFIX_GUID", or "GUID". */
static const char *new_name(struct arena *a, const char *prefix)
{
    char guid[GUID_SIZE];
    guid_new(guid);
    for (char *p = guid; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return prefix && *prefix ? arena_concat(a, prefix, "_", guid) : arena_strdup(a, guid);
}

static bool refuse(struct pool_making *k, const char *code, const char *message, const char *detail)
{
    k->wrong = (struct trouble){code, message, arena_strdup(k->a, detail)};
    return false;
}

static bool formula_is_good(struct pool_making *k, const struct batch_pool *p)
{
    struct formula_error wrong;
    if (!p->scaling.enabled)
        return true;
    const char *text = p->scaling.formula ? p->scaling.formula : "";
    struct formula *f = formula_parse(text, strlen(text), &wrong);
    formula_free(f);
    return f ? true
             : refuse(k, "InvalidAutoScaleFormulaInAutoPool",
                      "The autoscale formula of the auto pool is invalid", wrong.msg);
}

static bool settings_are_good(struct pool_making *k, const struct batch_pool *p)
{
    static const struct scale none = {SCALE_MANUAL, 0, .dealloc = DEALLOC_REQUEUE};
    static const char says[] = "The settings of the auto pool are invalid";
    struct err why;
    if (sched_check_scale(k->f->sched, RES_BATCH_POOL, p->vm_size, VM_DEDICATED, &none, &why) < 0)
        return refuse(k, "InvalidAutoPoolSettings", says, why.msg);
    return formula_is_good(k, p);
}

/* Whether the pool can be made: 1: yes; 0: no; -1: error. */
static int may_be_made(struct pool_making *k, const struct batch_pool *p, struct err *e)
{
    int rc = settings_are_good(k, p) ? batch_pool_may_add(k->f, p->account_id, true, e) : 0;
    if (rc == 0 && !k->wrong.code)
        refuse(k, "AutoPoolCreationFailedWithQuotaReached",
               "The pool quota for the account is reached",
               arena_printf(k->a, "the account has %lld pools, and may not have more",
                            (long long)k->f->quotas.pools));
    return rc;
}

/* *name stays NULL if the pool cannot be made. */
static int make(struct pool_making *k, const json_t *doc, const char **name, struct err *e)
{
    struct batch_pool p;
    int64_t id;
    batch_pool_of_doc(k->a, doc, &p);
    p.account_id = k->j->account_id;
    p.created_by = k->j->created_by;
    p.created_us = p.updated_us = k->j->created_us;
    p.doc = jsontext_in(k->a, doc);
    int rc = may_be_made(k, &p, e);
    if (rc <= 0)
        return rc;
    if (batch_pool_add(k->f, &p, batch_part_secrets(k->a, k->secrets, POOL), &id, e) < 0)
        return -1;
    LOG_INFO(k->f->log, "pool.created", LF_STR("pool", p.name), LF_STR("job", k->j->name));
    *name = p.name;
    return 0;
}

int auto_pool_make(struct batch_front *f, struct arena *a, const struct batch_job *j,
                   const struct batch_job_spec *spec, const char *secrets,
                   struct auto_pool_made *out, struct err *e)
{
    struct pool_making k = {.f = f, .a = a, .j = j, .secrets = secrets};
    json_t *job = json_loads(j->doc, 0, NULL);
    json_t *doc = json_deep_copy(batch_part(job, POOL));
    int rc = 0;
    *out = (struct auto_pool_made){.name = NULL};
    if (doc) {
        json_object_set_new(doc, "id", json_string(new_name(a, spec->auto_prefix)));
        rc = make(&k, doc, &out->name, e);
    } else {
        refuse(&k, "InvalidAutoPoolSettings", "The settings of the auto pool are invalid",
               "autoPoolSpecification has no pool");
    }
    if (rc == 0 && !out->name) {
        const struct kv details[] = {{.name = "Message", .value = k.wrong.detail}};
        out->failure =
            batch_failure_text(a, "UserError", k.wrong.code, k.wrong.message, details, 1);
    }
    json_decref(doc);
    json_decref(job);
    return rc;
}

int auto_pool_end(struct batch_front *f, int64_t account_id, const char *name, struct err *e)
{
    struct arena a;
    struct batch_pool p;
    arena_init(&a);
    int rc = st_batch_pool_get(f->st, &a, account_id, name, &p, e);
    if (rc == 1 && p.state == BATCH_POOL_ACTIVE)
        rc = batch_pool_delete(f, &p, wakes_wall(f->wakes), e);
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

int auto_pool_end_of_job(struct batch_front *f, const struct batch_job *j, struct err *e)
{
    struct arena a;
    struct batch_job_spec spec;
    if (j->auto_life != BATCH_AUTO_OF_JOB || !*j->pool_name)
        return 0;
    arena_init(&a);
    int rc = batch_job_decode(&a, j->doc, NULL, &spec, e);
    if (rc == 0 && !spec.auto_keep)
        rc = auto_pool_end(f, j->account_id, j->pool_name, e);
    arena_free(&a);
    return rc;
}
