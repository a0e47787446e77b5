/* SPDX-License-Identifier: MIT
 *
 * The history of jobs, clusters, pools of Azure Batch and nodes: changes of state in the order in
 * which they were committed. The latest of each resource are kept, and removed with it.
 */
#include <limits.h>

#include "api/admin/admin.h"
#include "api/admin/handlers.h"
#include "lib/timefmt.h"
#include "storage/storage.h"

#define EVENTS_MAX     1000
#define EVENTS_DEFAULT 100

/* The place and the name of an event's resource. */
struct subject {
    struct scope scope;
    const char *cluster, *name; /* cluster: for a node */
};

static int find_job(struct storage *st, struct arena *a, int64_t id, struct subject *out,
                    struct err *e)
{
    struct job j;
    int rc = st_job_by_id(st, a, id, &j, e);
    if (rc > 0)
        *out = (struct subject){.scope = j.scope, .name = j.name};
    return rc;
}

static int find_cluster(struct storage *st, struct arena *a, int64_t id, struct subject *out,
                        struct err *e)
{
    struct cluster c;
    int rc = st_cluster_by_id(st, a, id, &c, e);
    if (rc > 0)
        *out = (struct subject){.scope = c.scope, .name = c.name};
    return rc;
}

/* Its account is in the place of a workspace. */
static int find_batch_pool(struct storage *st, struct arena *a, int64_t id, struct subject *out,
                           struct err *e)
{
    struct batch_pool p;
    struct batch_account b;
    int rc = st_batch_pool_by_id(st, a, id, &p, e);
    if (rc > 0)
        rc = st_batch_account_by_id(st, a, p.account_id, &b, e);
    if (rc > 0) {
        *out = (struct subject){.scope = b.scope, .name = p.name};
        out->scope.workspace = b.name;
    }
    return rc;
}

static int find_node(struct storage *st, struct arena *a, int64_t id, struct subject *out,
                     struct err *e)
{
    struct node nd;
    int rc = st_node_by_id(st, a, id, &nd, e);
    if (rc <= 0)
        return rc;
    rc = (nd.pool_kind == RES_BATCH_POOL ? find_batch_pool : find_cluster)(st, a, nd.cluster_id,
                                                                           out, e);
    out->cluster = out->name;
    out->name = nd.name;
    return rc < 0 ? -1 : 1;
}

/* Kinds of resources that have events. */
static const struct {
    int (*find)(struct storage *st, struct arena *a, int64_t id, struct subject *out,
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

static json_t *render(const struct event *ev, const struct subject *s)
{
    char at[TIMEFMT_SIZE];
    timefmt_wire(ev->at_us, at);
    return json_pack("{s:I, s:s, s:s, s:s*, s:s*, s:s*, s:s*, s:s, s:s*, s:s, s:s*}", "sequence",
                     (json_int_t)ev->seq, "time", at, "kind",
                     enum_to_name(resource_kind_names, (int)ev->kind), "resourceGroup",
                     s->scope.group, "workspace", s->scope.workspace, "experiment",
                     s->scope.experiment, "cluster", s->cluster, "name", s->name, "from",
                     state_name(ev, ev->from), "to", state_name(ev, ev->to), "reason", ev->reason);
}

static int add(struct request *r, const struct event *ev, json_t *list, struct err *e)
{
    struct subject s = {.name = ""};
    if ((size_t)ev->kind >= sizeof kinds / sizeof *kinds || !kinds[ev->kind].find) {
        LOG_WARN(r->config->log, "event.left-out", LF_INT("sequence", ev->seq),
                 LF_STR("why", "resources of its kind have no events; the row was not written by "
                               "this daemon"));
        return 0;
    }
    if (kinds[ev->kind].find(admin_of(r)->storage, &r->arena, ev->resource_id, &s, e) < 0)
        return -1;
    json_array_append_new(list, render(ev, &s));
    return 0;
}

struct replied *events_list(struct request *r)
{
    struct event *rows;
    struct err e;
    size_t n;
    long since, max;
    if (request_query_int(r, "since", 0, LONG_MAX, 0, &since, &e) < 0 ||
        request_query_int(r, "max", 1, EVENTS_MAX, EVENTS_DEFAULT, &max, &e) < 0 ||
        st_event_since(admin_of(r)->storage, &r->arena, since, (int)max, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (add(r, &rows[i], list, &e) < 0) {
            json_decref(list);
            return reply_err(r, &e);
        }
    return reply_json(r, 200,
                      json_pack("{s:o, s:I}", "value", list, "next",
                                (json_int_t)(n > 0 ? rows[n - 1].seq : since)));
}
