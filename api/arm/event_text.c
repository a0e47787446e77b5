/* SPDX-License-Identifier: MIT
 *
 * Writes an event as JSON: its resource, its change, and its reason. Texts are in the arena. Called
 * only on the loop's thread.
 */
#include "api/arm/event_text.h"

#include "lib/timefmt.h"
#include "scheduler/fleet/node/node.h"
#include "storage/storage.h"

static int find_job(struct storage *st, struct arena *a, int64_t id, struct event_subject *out,
                    struct err *e)
{
    struct job j;
    int rc = st_job_by_id(st, a, id, &j, e);
    if (rc > 0)
        *out = (struct event_subject){.scope = j.scope, .name = j.name};
    return rc;
}

static int find_cluster(struct storage *st, struct arena *a, int64_t id, struct event_subject *out,
                        struct err *e)
{
    struct cluster c;
    int rc = st_cluster_by_id(st, a, id, &c, e);
    if (rc > 0)
        *out = (struct event_subject){.scope = c.scope, .name = c.name};
    return rc;
}

/* Finds a pool of Azure Batch; its account is returned in place of a workspace. */
static int find_batch_pool(struct storage *st, struct arena *a, int64_t id,
                           struct event_subject *out, struct err *e)
{
    struct batch_pool p;
    struct batch_account b;
    int rc = st_batch_pool_by_id(st, a, id, &p, e);
    if (rc > 0)
        rc = st_batch_account_by_id(st, a, p.account_id, &b, e);
    if (rc > 0) {
        *out = (struct event_subject){.scope = b.scope, .name = p.name, .is_batch = true};
        out->scope.workspace = b.name;
    }
    return rc;
}

static int find_node(struct storage *st, struct arena *a, int64_t id, struct event_subject *out,
                     struct err *e)
{
    struct node nd;
    int rc = st_node_by_id(st, a, id, &nd, e);
    if (rc <= 0)
        return rc;
    rc = (nd.pool_kind == RES_BATCH_POOL ? find_batch_pool : find_cluster)(st, a, nd.pool_id, out,
                                                                           e);
    out->cluster = out->name;
    out->name = nd.name;
    return rc < 0 ? -1 : 1;
}

/* The kinds of resources that have events, by enum resource_kind. */
static const struct {
    int (*find)(struct storage *st, struct arena *a, int64_t id, struct event_subject *out,
                struct err *e);
    const struct enum_name *states;
} kinds[] = {
    [RES_JOB] = {find_job, exec_state_names},
    [RES_CLUSTER] = {find_cluster, alloc_state_names},
    [RES_NODE] = {find_node, node_state_names},
    [RES_BATCH_POOL] = {find_batch_pool, alloc_state_names},
};

static const char *state_name(const struct event *ev, int state)
{
    return state == 0 ? NULL : enum_to_name(kinds[ev->kind].states, state);
}

static json_t *number_of(const struct event *ev)
{
    return ev->seq > 0 ? json_integer((json_int_t)ev->seq) : NULL;
}

json_t *event_show(const struct event *ev, const struct event_subject *s)
{
    char at[TIMEFMT_SIZE];
    timefmt_wire(ev->at_us, at);
    return json_pack("{s:o*, s:s, s:s, s:s*, s:s*, s:s*, s:s*, s:s*, s:s, s:s*, s:s*, s:s, s:s*}",
                     "sequence", number_of(ev), "time", at, "kind",
                     enum_to_name(resource_kind_names, (int)ev->kind), "subscription",
                     s->scope.subscription, "resourceGroup", s->scope.group, "workspace",
                     s->scope.workspace, "experiment", s->scope.experiment, "cluster", s->cluster,
                     "name", s->name, "machine", s->machine, "from", state_name(ev, ev->from), "to",
                     ev->to == 0 ? EVENT_REMOVED : state_name(ev, ev->to), "reason", ev->reason);
}

bool event_has_kind(enum resource_kind kind)
{
    return (size_t)kind < sizeof kinds / sizeof *kinds && kinds[kind].find;
}

int event_subject(struct storage *st, const struct fleet *fl, struct arena *a,
                  const struct event *ev, struct event_subject *out, struct err *e)
{
    *out = (struct event_subject){.name = ""};
    if (!event_has_kind(ev->kind))
        return 0;
    if (kinds[ev->kind].find(st, a, ev->resource_id, out, e) < 0)
        return -1;
    if (ev->kind == RES_NODE)
        out->machine = node_rt_machine(node_rt_find(fl, ev->resource_id));
    return 1;
}

const char *event_action(const struct event *ev, const struct event_subject *s)
{
    if (s->is_batch)
        return "Microsoft.Batch/batchAccounts/read";
    return ev->kind == RES_JOB ? "Microsoft.BatchAI/workspaces/experiments/jobs/read"
                               : "Microsoft.BatchAI/workspaces/clusters/read";
}

const char *event_scope(struct arena *a, const struct event *ev, const struct event_subject *s)
{
    const char *group = arena_concat(a, "/subscriptions/", s->scope.subscription,
                                     "/resourceGroups/", s->scope.group, "/providers/");
    if (s->is_batch)
        return arena_concat(a, group, "Microsoft.Batch/batchAccounts/", s->scope.workspace);
    const char *place = arena_concat(a, group, "Microsoft.BatchAI/workspaces/", s->scope.workspace);
    if (ev->kind == RES_JOB)
        return arena_concat(a, place, "/experiments/", s->scope.experiment, "/jobs/", s->name);
    return arena_concat(a, place, "/clusters/", s->cluster ? s->cluster : s->name);
}
