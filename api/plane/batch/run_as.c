/* SPDX-License-Identifier: MIT
 *
 * Before anything is written, finds the parts of a body that need the right
 * batchaid/nodes/runAsAdmin/action: user accounts, start tasks and tasks that run on a node as root
 * or as the user of the daemon.
 */
#include "api/plane/batch/run_as.h"

#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "model/batch/spec.h"
#include "scheduler/front/batch/tasks.h"
#include "scheduler/scheduler.h"
#include "storage/batch.h"
#include "storage/batch_jobs.h"

#define LIST_KEYS "Microsoft.Batch/batchAccounts/listKeys/action"

/* --- parts of a body that need the right ------------------------------------------------------ */

static bool is_admin(const json_t *level)
{
    const char *text = json_string_value(level);
    return text && strcasecmp(text, "admin") == 0;
}

/* Sets *out to the user accounts of a pool, owned by the request; NULL: the pool does not exist. */
static int load_accounts(struct request *r, const char *pool, json_t **out, struct err *e)
{
    struct batch_pool p;
    int rc = pool ? st_batch_pool_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, pool,
                                      &p, e)
                  : 0;
    json_auto_t *doc = rc > 0 ? json_loads(p.doc, 0, NULL) : NULL;
    json_t *accounts = json_object_get(doc, "userAccounts");
    *out = doc ? request_own(r, accounts ? json_incref(accounts) : json_array()) : NULL;
    return rc < 0 ? -1 : 0;
}

/* Whether the account `name` is an administrator; NULL: whether any account is. An unknown account
 * counts as an administrator, because the pool may get it later. */
static bool account_is_admin(const json_t *accounts, const char *name)
{
    bool known = accounts && !name;
    for (size_t i = 0; i < json_array_size(accounts); i++) {
        const json_t *one = json_array_get(accounts, i);
        const char *called = json_string_value(json_object_get(one, "name"));
        bool same = !name || (called && strcmp(called, name) == 0);
        if (same && is_admin(json_object_get(one, "elevationLevel")))
            return true;
        known |= same;
    }
    return !known;
}

static bool identity_is_admin(const json_t *identity, const json_t *accounts)
{
    const char *name = json_string_value(json_object_get(identity, "username"));
    const json_t *automatic = json_object_get(identity, "autoUser");
    return name ? account_is_admin(accounts, name)
                : is_admin(json_object_get(automatic, "elevationLevel"));
}

/* Whether tasks of administrators are root at this site, whether processes in containers may have
 * the uids of a node's own users, and the accounts of the pool. */
struct wide {
    bool admins, containers;
    const json_t *accounts;
};

static bool member_asks(const char *name, const json_t *value, const struct wide *w);

/* Whether a document asks for an administrator. The depth of the recursion is bounded, because
 * accepted documents are not deeper than their schema tables. */
static bool asks(const json_t *doc, const struct wide *w)
{
    const char *name;
    json_t *value;
    size_t i;
    json_array_foreach(doc, i, value)
        if (asks(value, w))
            return true;
    json_object_foreach((json_t *)doc, name, value) {
        if (member_asks(name, value, w))
            return true;
    }
    return false;
}

static bool member_asks(const char *name, const json_t *value, const struct wide *w)
{
    if (strcmp(name, "userIdentity") == 0)
        return w->admins && identity_is_admin(value, w->accounts);
    if (strcmp(name, "containerSettings") == 0 && w->containers)
        return json_is_object(value);
    return asks(value, w);
}

static bool site_is_wide(struct request *r, struct wide *w)
{
    w->admins = batch_admins_are_root(batch_of(r)->front);
    w->containers = batch_images_bring_users(batch_of(r)->front);
    return w->admins || w->containers;
}

/* 1: a part of the document runs as an administrator; 0: none does; -1: error. */
static int asks_in(struct request *r, const json_t *doc, const char *pool, struct err *e)
{
    json_t *accounts;
    struct wide w;
    if (!site_is_wide(r, &w))
        return 0;
    if (load_accounts(r, pool, &accounts, e) < 0)
        return -1;
    w.accounts = accounts;
    return asks(doc, &w);
}

/* --- the right -------------------------------------------------------------------------------- */

/* Checks a request with a task's token: it may add administrator tasks only if the task itself runs
 * as an administrator. */
static int task_may(struct request *r, const struct batch_task *t, struct err *e)
{
    struct batch_job j;
    int rc = st_batch_job_by_id(arm_of(r)->storage, &r->arena, t->job_id, &j, e);
    json_auto_t *doc = rc > 0 ? json_loads(t->doc, 0, NULL) : NULL;
    rc = doc ? asks_in(r, doc, j.pool_name, e) : rc < 0 ? -1 : 0;
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return err_set(e, BATCH_INSUFFICIENT_ACCOUNT_PERMISSIONS, NULL,
                   "The token of a task that does not run as administrator does not allow "
                   "'" ACTION_RUN_AS_ADMIN "'.");
}

static int may(struct request *r, struct err *e)
{
    const struct batch_grant *g = batch_grant(r);
    if (g->by_key || r->seeds)
        return 0;
    return g->task ? task_may(r, g->task, e) : batch_check_role(r, ACTION_RUN_AS_ADMIN, e);
}

/* --- local nodes that serve the first principal alone ------------------------------------------
 */

/* Whether all principals may use pools of this size, of either priority. */
static bool is_for_all(struct request *r, const char *vm_size)
{
    const struct sched *s = arm_of(r)->sched;
    return sched_is_for_all(s, vm_size, VM_DEDICATED) &&
           sched_is_for_all(s, vm_size, VM_LOWPRIORITY);
}

int batch_is_firsts(struct request *r, struct err *e)
{
    const struct batch_grant *g = batch_grant(r);
    if (r->seeds || (r->who && r->who->first))
        return 1;
    if (g->task || !g->by_key)
        return 0;
    int others =
        access_others_may(batch_of(r)->arm.access, &r->arena, LIST_KEYS, batch_account_scope(r), e);
    return others < 0 ? -1 : !others;
}

int batch_check_local(struct request *r, const char *vm_size, struct err *e)
{
    if (is_for_all(r, vm_size))
        return 0;
    /* the token's task already runs on such a node */
    int rc = batch_grant(r)->task ? 1 : batch_is_firsts(r, e);
    return rc == 0 ? access_refuse_local(r, e) : rc < 0 ? -1 : 0;
}

/* Checks the pool of a job. A pool that does not exist yet (size "") may later be of local
 * nodes. */
static int check_local_pool(struct request *r, const json_t *doc, const char *pool, struct err *e)
{
    const char *made =
        json_string_value(batch_part(doc, "poolInfo.autoPoolSpecification.pool.vmSize"));
    struct batch_pool p = {.vm_size = made ? made : ""};
    if (pool &&
        st_batch_pool_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, pool, &p, e) < 0)
        return -1;
    return batch_check_local(r, p.vm_size, e);
}

/* --- both ------------------------------------------------------------------------------------- */

int batch_check_run_as(struct request *r, const json_t *doc, const char *pool, struct err *e)
{
    pool = pool ? pool : json_string_value(batch_part(doc, "poolInfo.poolId"));
    if (check_local_pool(r, doc, pool, e) < 0)
        return -1;
    int rc = asks_in(r, doc, pool, e);
    if (rc <= 0 || may(r, e) == 0)
        return rc < 0 ? -1 : 0;
    return err_prefix(e, "Only an administrator of the nodes may run this as root (userIdentity, "
                         "or containerSettings where containers.user is image)");
}

int batch_check_run_in(struct request *r, const char *pool, struct err *e)
{
    json_t *accounts;
    if (!pool || !*pool)
        return 0;
    if (check_local_pool(r, NULL, pool, e) < 0)
        return -1;
    if (!batch_admins_are_root(batch_of(r)->front))
        return 0;
    if (load_accounts(r, pool, &accounts, e) < 0)
        return -1;
    if (!account_is_admin(accounts, NULL) || may(r, e) == 0)
        return 0;
    return err_prefix(e,
                      "Only an administrator of the nodes may use the pool %.64s: it has user "
                      "accounts that are root",
                      pool);
}
