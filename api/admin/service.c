/* SPDX-License-Identifier: MIT
 *
 * batchaid's own part of the API, which Azure does not have: its routes and struct service.
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/admin/admin.h"
#include "api/admin/errors.h"
#include "api/admin/routes.h"
#include "api/http/auth.h"
#include "api/http/request.h"

#define SUBMIT_JOB "Microsoft.BatchAI/workspaces/experiments/jobs/write"

#define NODE "/batchaid/nodes/{node}"
#define USER "/batchaid/users/{user}"

ERROR_TABLE(admin_words, ARM_ERRORS, ADMIN_OWN)

static const struct route routes[] = {
    {"GET", "/batchaid/nodes", 0, 0, nodes_list, "Nodes_List"},
    {"GET", NODE, 0, 0, nodes_get, "Nodes_Get"},
    {"POST", NODE "/drain", 0, ROUTE_JSON_OPTIONAL, nodes_drain, "Nodes_Drain"},
    {"POST", NODE "/undrain", 0, 0, nodes_undrain, "Nodes_Undrain"},
    {"POST", NODE "/reboot", 0, 0, nodes_reboot, "Nodes_Reboot"},
    {"GET", "/batchaid/gpus", 0, 0, gpus_list, "Gpus_List"},
    {"GET", "/batchaid/samples", 0, 0, samples_list, "Samples_List"},
    {"GET", "/batchaid/users", 0, 0, users_list, "Users_List"},
    {"POST", "/batchaid/users", 0, ROUTE_JSON, users_add, "Users_Add"},
    {"DELETE", USER, 0, 0, users_remove, "Users_Remove"},
    {"POST", USER "/reset", 0, ROUTE_JSON_OPTIONAL, users_reset, "Users_Reset"},
    {"GET", "/batchaid/subscriptions", 0, 0, site_subscriptions_list, "Subscriptions_ListAll"},
    {"POST", "/batchaid/subscriptions", 0, ROUTE_JSON_OPTIONAL, site_subscriptions_add,
     "Subscriptions_Add"},
    {"DELETE", "/batchaid/subscriptions/{subscription}", 0, 0, site_subscriptions_remove,
     "Subscriptions_Remove"},
    {"POST", "/batchaid/reload", 0, 0, configuration_reload, "Configuration_Reload"},
    {"GET", "/batchaid/counters", 0, 0, counters_get, "Counters_Get"},
    {"GET", "/batchaid/ca.pem", 0, ROUTE_OPEN, authority_get, "Authority_Get"},
    {"GET", "/batchaid/events", 0, 0, events_list, "Events_List"},
    {"GET", "/batchaid/events/stream", 0, 0, events_follow_all, "Events_Stream"},
    {"GET", "/batchaid/queue", 0, 0, queue_list, "Queue_List"},
    {"GET", "/batchaid/jobs", 0, 0, all_jobs_list, "Jobs_ListAll"},
    {"GET", "/batchaid/jobs/{group}/{workspace}/{experiment}/{job}", 0, 0, all_jobs_explain,
     "Jobs_Explain"},
    {"POST", "/batchaid/jobs/{group}/{workspace}/{experiment}/{job}/terminal", 0,
     ROUTE_JSON_OPTIONAL, terminal_open_in_job, "Jobs_OpenTerminal"},
    {"GET", "/batchaid/tasks", 0, 0, all_tasks_find, "Tasks_Find"},
    {"GET", "/batchaid/batch/pools", 0, 0, batch_pools_list_all, "BatchPools_ListAll"},
    {"GET", "/batchaid/batch/jobs", 0, 0, batch_jobs_list_all, "BatchJobs_ListAll"},
    {"GET", "/batchaid/batch/tasks", 0, 0, batch_tasks_list_all, "BatchTasks_List"},
    {"GET", "/batchaid/usage", 0, 0, usage_report, "Usage_Report"},
    {"GET", "/batchaid/usage/{group}/{workspace}/{experiment}/{job}", 0, 0, usage_of_job,
     "Usage_OfJob"},
    {"GET", "/batchaid/storage/deleted", 0, 0, deleted_shares_list, "DeletedShares_List"},
    {"POST", "/batchaid/storage/deleted/{number}/restore", 0, 0, deleted_shares_restore,
     "DeletedShares_Restore"},
    {"POST", "/batchaid/storage/shares", 0, ROUTE_JSON, shares_name, "Shares_Name"},
};

static const char *const paths[] = {"/batchaid/{rest*}", NULL};

/* Whether the list checks the rights for each job. */
static bool is_of_jobs(const struct request *r)
{
    static const char *const of_jobs[] = {"queue", "jobs", "tasks", "batch", "usage", NULL};
    for (const char *const *name = of_jobs; r->n_segments > 1 && *name; name++)
        if (strcasecmp(r->segment[1], *name) == 0)
            return true;
    return false;
}

/* Whether the list checks the rights for each share. */
static bool is_of_deleted(const struct request *r)
{
    return r->n_segments > 2 && strcasecmp(r->segment[1], "storage") == 0 &&
           strcasecmp(r->segment[2], "deleted") == 0;
}

/* Whether the stream checks the rights for each event. */
static bool is_stream(const struct request *r)
{
    return r->n_segments == 3 && strcasecmp(r->segment[1], "events") == 0 &&
           strcasecmp(r->segment[2], "stream") == 0;
}

/* The noun in the name of the right, from the path. The right to read nodes includes their samples
 * and GPUs. */
static const char *noun_of(const struct request *r)
{
    const char *name = r->n_segments > 1 ? r->segment[1] : "";
    bool of_nodes = strcasecmp(name, "samples") == 0 || strcasecmp(name, "gpus") == 0;
    return of_nodes ? "nodes" : name;
}

/* A principal who may submit jobs somewhere may also create a share for them by its name, as a
 * job's mounts do. shares_name() checks the limits. */
static bool may_name_share(const struct request *r, const struct grants *g)
{
    bool names = strcmp(r->method, "POST") == 0 && r->n_segments == 3 &&
                 strcasecmp(r->segment[1], "storage") == 0 &&
                 strcasecmp(r->segment[2], "shares") == 0;
    for (size_t i = 0; names && i < g->n; i++)
        if (access_verdict(g, SUBMIT_JOB, g->rows[i].scope) != ACCESS_NO)
            return true;
    return false;
}

/* Rights to all other paths are checked at the subscription. Adding and removing users needs the
 * right to assign roles: an action below Microsoft.Authorization. */
static int may(struct request *r, struct err *e)
{
    struct grants g;
    const struct access *x = admin_of(r)->access;
    if (auth_check(r, e) < 0)
        return -1;
    if (r->who->first)
        return 0;
    if (is_of_jobs(r) || is_of_deleted(r) || is_stream(r))
        return sees_may(r, admin_of(r)->access, e);
    bool reads = strcmp(r->method, "GET") == 0;
    bool people = r->n_segments > 1 && strcasecmp(r->segment[1], "users") == 0;
    const char *action = arena_concat(&r->arena, people ? "Microsoft.Authorization/" : "batchaid/",
                                      noun_of(r), reads ? "/read" : "/write");
    const char *scope = arena_concat(&r->arena, "/subscriptions/", x->subscription_id);
    if (access_load(x, &r->arena, r->who, &g, e) < 0)
        return -1;
    if (access_verdict(&g, action, scope) != ACCESS_YES && !may_name_share(r, &g))
        return access_refuse(r, action, scope, e);
    r->grant = memcpy(arena_alloc(&r->arena, sizeof g), &g, sizeof g);
    return 0;
}

const struct service admin_service = {
    .name = "admin",
    .deps = "admin",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = admin_words,
};
