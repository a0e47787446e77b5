/* SPDX-License-Identifier: MIT
 *
 * Iterates over the jobs of all groups in order of their ids and shows those that the caller may
 * read. The request owns all memory. Called only on the loop's thread.
 */
#include "api/admin/seen_jobs.h"

#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/http/auth.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/enums.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/scheduler.h"
#include "storage/batch_jobs.h"
#include "storage/storage.h"
#include "storage/usage.h"

bool seen_job(const struct request *r, const struct job *j)
{
    return sees_job(r->grant, j);
}

const char *seen_detail(struct request *r, const char *name, const char *value)
{
    size_t n = strlen(value);
    while (n > 0 && (value[n - 1] == '\n' || value[n - 1] == '\r'))
        n--;
    return arena_printf(&r->arena, "%s: %.*s", name, (int)n, value);
}

int seen_use_read(struct request *r, enum resource_kind owner, int64_t owner_id,
                  struct seen_use *out, struct err *e)
{
    return st_usage_of_run(admin_of(r)->storage, &r->arena, owner, owner_id, 0, &out->rows, &out->n,
                           e);
}

/* The machine that had the node's name. NULL: none, or it is not known. */
static const char *machine_of(const struct seen_use *use, const char *node)
{
    for (size_t i = 0; node && i < use->n; i++)
        if (strcmp(use->rows[i].node_name, node) == 0)
            return use->rows[i].machine;
    return NULL;
}

const char *seen_node(struct request *r, const struct seen_use *use, int64_t node_id,
                      const char *name)
{
    const struct fleet *fl = sched_fleet(admin_of(r)->sched);
    const char *machine =
        node_id ? node_rt_machine(node_rt_find(fl, node_id)) : machine_of(use, name);
    return machine ? arena_printf(&r->arena, "%s (machine %s)", name, machine) : name;
}

json_t *seen_time(int64_t us)
{
    char text[TIMEFMT_SIZE];
    if (us == 0)
        return NULL;
    timefmt_wire(us, text);
    return json_string(text);
}

json_t *seen_line(int64_t at_us, const char *text)
{
    return json_pack("{s:o*, s:o}", "time", seen_time(at_us), "text", jsontext_string(text));
}

/* The maker of the job, by the name for logging in; the object id if the maker is gone. */
static const char *maker(struct request *r, const struct job *j)
{
    struct identity i;
    struct err e;
    if (!j->created_by)
        return NULL;
    int rc = access_identity(admin_of(r)->access, &r->arena, j->created_by, &i, &e);
    return rc == 1 ? i.name : j->created_by;
}

/* False for tasks of Azure Batch: they have no maker. */
static bool is_mine(const struct request *r, const struct job *j)
{
    return j->created_by && strcasecmp(j->created_by, r->who->object_id) == 0;
}

bool seen_job_is_by(struct request *r, const struct job *j)
{
    const char *mine = request_query(r, "mine");
    if (mine && strcasecmp(mine, "true") == 0 && !is_mine(r, j))
        return false;
    const char *wanted = request_query(r, "user"), *name = wanted ? maker(r, j) : NULL;
    if (!wanted)
        return true;
    size_t n = strlen(wanted);
    return name && (strcasecmp(name, wanted) == 0 || /* the domain may be omitted */
                    (strncasecmp(name, wanted, n) == 0 && name[n] == '@'));
}

/* The last part of a resource id. */
static const char *last_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static bool has_ended(const struct job *j)
{
    return j->exec_state == EXEC_SUCCEEDED || j->exec_state == EXEC_FAILED;
}

/* NULL for the configured subscription: it is omitted, because most jobs are in it. */
static json_t *subscription(struct request *r, const void *row)
{
    const struct job *j = row;
    bool usual = strcasecmp(j->scope.subscription, admin_of(r)->access->subscription_id) == 0;
    return usual ? NULL : json_string(j->scope.subscription);
}

static json_t *created_by(struct request *r, const void *row)
{
    return jsontext_optional(maker(r, row));
}

#define MEMBER(function, value)                                                                    \
    static json_t *function(struct request *r, const void *row)                                    \
    {                                                                                              \
        const struct job *j = row;                                                                 \
        (void)r;                                                                                   \
        return value;                                                                              \
    }
MEMBER(group, json_string(j->scope.group))
MEMBER(workspace, json_string(j->scope.workspace))
MEMBER(experiment, json_string(j->scope.experiment))
MEMBER(name, json_string(j->name))
MEMBER(cluster, jsontext_optional(last_of(j->cluster_ref)))
MEMBER(state, json_string(enum_to_name(exec_state_names, (int)j->exec_state)))
MEMBER(priority, json_integer(j->priority))
MEMBER(node_count, json_integer(j->node_count))
MEMBER(created, seen_time(j->created_us))
MEMBER(started, seen_time(j->start_us))
MEMBER(ended, has_ended(j) ? seen_time(j->end_us) : NULL)
MEMBER(exit_code, has_ended(j) && j->has_exit_code ? json_integer(j->exit_code) : NULL)

const struct member seen_job_members[] = {
    {"subscription", subscription},
    {"resourceGroup", group},
    {"workspace", workspace},
    {"experiment", experiment},
    {"name", name},
    {"cluster", cluster},
    {"state", state},
    {"priority", priority},
    {"nodeCount", node_count},
    {"createdBy", created_by},
    {"createdTime", created},
    {"startTime", started},
    {"endTime", ended},
    {"exitCode", exit_code},
    {NULL, NULL},
};

json_t *seen_job_render(struct request *r, const struct job *j)
{
    return members_show(r, seen_job_members, UINT64_MAX, j);
}

static enum exec_state state_of(const struct run *run)
{
    switch (run->state) {
    case RUN_WAITING:
        return EXEC_QUEUED;
    case RUN_ALLOCATED:
        return run->stop == STOP_NOT ? EXEC_RUNNING : EXEC_TERMINATING;
    case RUN_RELEASING:
    case RUN_OVER:
        break;
    }
    return run->failure == 0 ? EXEC_SUCCEEDED : EXEC_FAILED;
}

/* State and start of an index of an array job are those of its run, not of the job. */
json_t *seen_run_render(struct request *r, const struct job *j, const struct run *run)
{
    json_t *out = seen_job_render(r, j);
    if (run->owner_kind == RES_BATCH_TASK)
        json_object_set_new(out, "kind", json_string("task"));
    if (run->runs == 1)
        return out;
    json_object_set_new(out, "index", json_integer(run->number));
    json_object_set_new(out, "state",
                        json_string(enum_to_name(exec_state_names, (int)state_of(run))));
    json_object_del(out, "startTime");
    if (run->start_us > 0)
        json_object_set_new(out, "startTime", seen_time(run->start_us));
    return out;
}

bool seen_in_account(const struct request *r, const struct batch_account *b, const char *action)
{
    struct arena a;
    if (!r->grant)
        return true;
    arena_init(&a);
    const char *id =
        arena_concat(&a, "/subscriptions/", b->scope.subscription, "/resourceGroups/",
                     b->scope.group, "/providers/Microsoft.Batch/batchAccounts/", b->name);
    bool may =
        access_to_data(r->grant, action, id) || access_verdict(r->grant, action, id) == ACCESS_YES;
    arena_free(&a);
    return may;
}

/* Shows a task of Azure Batch among jobs of Batch AI: its account takes the place of the workspace,
 * its job the place of the experiment. */
static int seen_task(struct request *r, const struct run *run, struct job *out, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    struct batch_task t;
    struct batch_pool p;
    struct batch_account b;
    int rc = st_batch_task_by_id(st, &r->arena, run->owner_id, &t, e);
    if (rc > 0)
        rc = st_batch_pool_by_id(st, &r->arena, run->pool_id, &p, e);
    if (rc > 0)
        rc = st_batch_account_by_id(st, &r->arena, t.account_id, &b, e);
    if (rc <= 0)
        return rc;
    *out = (struct job){.scope = b.scope,
                        .name = t.name,
                        .cluster_ref = p.name,
                        .priority = run->priority,
                        .node_count = run->nodes,
                        .exec_state = state_of(run),
                        .created_us = t.created_us,
                        .start_us = run->start_us,
                        .end_us = run->end_us};
    out->scope.workspace = b.name;
    out->scope.experiment = t.job_name;
    return seen_in_account(r, &b, SEEN_BATCH_JOBS);
}

json_t *seen_task_render(struct request *r, const struct batch_account *b,
                         const struct batch_job *j, const struct batch_task *t)
{
    static const enum exec_state states[] = {[BATCH_TASK_ACTIVE] = EXEC_QUEUED,
                                             [BATCH_TASK_PREPARING] = EXEC_RUNNING,
                                             [BATCH_TASK_RUNNING] = EXEC_RUNNING,
                                             [BATCH_TASK_COMPLETED] = EXEC_SUCCEEDED};
    struct job shown = {.scope = b->scope,
                        .name = t->name,
                        .cluster_ref = j->pool_name,
                        .priority = j->priority,
                        .node_count = t->instances,
                        .exec_state = t->result == BATCH_FAILURE ? EXEC_FAILED : states[t->state],
                        .created_us = t->created_us,
                        .start_us = t->start_us,
                        .end_us = t->end_us,
                        .has_exit_code = t->has_exit_code,
                        .exit_code = t->exit_code};
    shown.scope.workspace = b->name;
    shown.scope.experiment = j->name;
    return seen_job_render(r, &shown);
}

int seen_job_with(struct request *r, const struct run *run, struct job *out, struct err *e)
{
    if (run->owner_kind == RES_BATCH_TASK)
        return seen_task(r, run, out, e);
    if (run->owner_kind == RES_BATCH_CHORE)
        return 0; /* the tasks of its job are shown */
    int rc = st_job_by_id(admin_of(r)->storage, &r->arena, run->owner_id, out, e);
    return rc == 1 && !seen_job(r, out) ? 0 : rc;
}

int seen_job_of_run(struct request *r, int64_t run_id, struct job *out, struct run *found,
                    struct err *e)
{
    int rc = st_run_by_id(admin_of(r)->storage, &r->arena, run_id, found, e);
    return rc > 0 ? seen_job_with(r, found, out, e) : rc;
}
