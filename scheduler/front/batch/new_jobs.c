/* SPDX-License-Identifier: MIT
 *
 * New jobs, each with its manager task, if it has one, as its first task.
 */
#include <string.h>

#include "lib/jsontext.h"
#include "model/batch/spec.h"
#include "scheduler/front/batch/front_priv.h"

#define MANAGER "jobManagerTask"

struct new_job {
    struct batch_front *f;
    struct arena *a;
    struct batch_job *j;
    struct batch_job_spec spec;
    const char *secrets;
};

/* Converts the job manager's document to a task's document; the default number of retries is the
 * job's. */
static const char *manager_doc(struct new_job *k)
{
    json_t *doc = json_loads(k->j->doc, 0, NULL);
    json_t *manager = batch_part(doc, MANAGER), *limits = batch_part(manager, "constraints");
    if (limits && !json_object_get(limits, "maxTaskRetryCount"))
        json_object_set_new(limits, "maxTaskRetryCount", json_integer(k->spec.limits.retries));
    k->j->doc = jsontext_in(k->a, doc);
    const char *text = jsontext_in(k->a, manager);
    json_decref(doc);
    return text;
}

static int add_manager(struct storage *st, struct new_job *k, const char *doc, struct err *e)
{
    const struct batch_job *j = k->j;
    const struct batch_task_spec *m = k->spec.manager;
    struct batch_task t = {.job_id = j->id,
                           .name = m->id,
                           .doc = doc,
                           .state = BATCH_TASK_ACTIVE,
                           .state_us = j->created_us,
                           .created_us = j->created_us,
                           .updated_us = j->created_us,
                           .slots = m->slots > 0 ? m->slots : 1,
                           .instances = 1,
                           .manager = BATCH_MANAGES | (m->kills_job ? BATCH_MANAGER_ENDS_JOB : 0U) |
                                      (m->exclusive ? BATCH_MANAGER_ALONE : 0U) |
                                      (m->any_node ? 0U : BATCH_MANAGER_OWN_CLASS)};
    const struct batch_waits nothing = {0};
    return batch_task_add(st, &t, batch_part_secrets(k->a, k->secrets, MANAGER), &nothing, e);
}

static int end_at_once(struct storage *st, const struct batch_job *j, const char *failure,
                       struct err *e)
{
    const struct st_batch_job_move m = {.now_us = j->created_us, .failure = failure};
    return job_move(st, j, BATCH_JOB_EV_TERMINATE, m, e);
}

static int add(struct storage *st, void *ctx, struct err *e)
{
    struct new_job *k = ctx;
    if (batch_account_accepts(k->f, k->j->account_id, e) < 0)
        return -1;
    const char *manager = k->spec.manager ? manager_doc(k) : NULL;
    struct auto_pool_made made = {.name = NULL};
    if (k->j->auto_life != 0 && !*k->j->pool_name &&
        auto_pool_make(k->f, k->a, k->j, &k->spec, k->secrets, &made, e) < 0)
        return -1;
    if (made.name)
        k->j->pool_name = made.name;
    if (st_batch_job_insert(st, k->j, k->secrets, &k->j->id, e) < 0 ||
        (manager && add_manager(st, k, manager, e) < 0))
        return -1;
    return made.failure ? end_at_once(st, k->j, made.failure, e) : 0;
}

int batch_job_add(struct batch_front *f, struct arena *a, struct batch_job *j, const char *secrets,
                  struct err *e)
{
    struct new_job k = {.f = f, .a = a, .j = j, .secrets = secrets};
    if (batch_job_columns(a, j, e) < 0 || batch_job_decode(a, j->doc, NULL, &k.spec, e) < 0)
        return -1;
    return st_whole(f->st, add, &k, e);
}
