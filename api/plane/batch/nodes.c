/* SPDX-License-Identifier: MIT
 *
 * Lists and shows nodes, and handles their operations: reboot, reimage, start, deallocate,
 * scheduling, logins. The scheduler owns the rows of nodes; a handler asks it for each change.
 * Memory is the request's. On the loop's thread.
 */
#include "api/plane/batch/nodes.h"

#include "api/http/accept.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"
#include "model/batch/tables_pool.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

/* --- lists ------------------------------------------------------------------------------------ */

enum {
    BY_STATE,
    BY_STATE_TIME,
    BY_BOOT,
    BY_ALLOCATION,
    BY_START_STATE,
    BY_START_RESULT,
    BY_START_EXIT,
    BY_START_BEGIN,
    BY_START_END,
    FILTERS
};

static bool is_wanted(const void *ctx, const struct filter_term *t)
{
    const struct shown_node *n = ctx;
    const struct node_setup *s = &n->setup;
    double exit_code = s->exit_code;
    switch (t->property) {
    case BY_STATE:
        return filter_text_is(t, enum_to_name(batch_node_state_names, (int)n->state));
    case BY_STATE_TIME:
        return filter_time_is(t, n->nd.state_us);
    case BY_BOOT:
        return filter_time_is(t, n->nd.booted_us);
    case BY_ALLOCATION:
        return filter_time_is(t, n->nd.created_us);
    case BY_START_STATE:
        return filter_text_is(t, s->node_id == 0 ? NULL : s->runs ? "running" : "completed");
    case BY_START_RESULT:
        return filter_text_is(t, s->node_id == 0 || s->runs ? NULL
                                 : s->failure != 0          ? "failure"
                                                            : "success");
    case BY_START_EXIT:
        return filter_number_is(t, s->has_exit_code ? &exit_code : NULL);
    case BY_START_BEGIN:
        return filter_time_is(t, s->start_us);
    case BY_START_END:
        return filter_time_is(t, s->end_us);
    }
    return false;
}

struct listed_node {
    const char *name;
    struct shown_node shown;
};

static int fetch(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e)
{
    struct request *r = l->r;
    struct node_rows found = {NULL, 0};
    if (st_node_list_named(arm_of(r)->storage, &r->arena, l->owner,
                           &(struct st_names){of->after, NULL, of->limit}, &found, e) < 0)
        return -1;
    struct listed_node *out = arena_alloc(&r->arena, (found.n + 1) * sizeof *out);
    for (size_t i = 0; i < found.n; i++) {
        out[i].name = found.items[i].name;
        if (node_look(r, &found.items[i], &out[i].shown, e) < 0)
            return -1;
    }
    *rows = out;
    *n = found.n;
    return 0;
}

static bool is_listed(const struct batch_list *l, const void *row)
{
    const struct listed_node *n = row;
    return !l->filter || filter_holds(l->filter, is_wanted, &n->shown);
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    struct shown_node n = ((const struct listed_node *)row)->shown;
    if (node_look_at_tasks(l->r, &n, e) < 0)
        return -1;
    node_render(l->r, l->of, &n, l->set, out);
    return 0;
}

struct replied *compute_nodes_list(struct request *r)
{
    static const struct batch_filter filters[FILTERS] = {
        [BY_STATE] = {"state", BATCH_BY_TEXT, FILTER_EQUAL, NULL},
        [BY_STATE_TIME] = {"stateTransitionTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BY_BOOT] = {"lastBootTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BY_ALLOCATION] = {"allocationTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BY_START_STATE] = {"startTaskInfo/state", BATCH_BY_TEXT, FILTER_EQUAL, NULL},
        [BY_START_RESULT] = {"startTaskInfo/result", BATCH_BY_TEXT, FILTER_EQUAL, NULL},
        [BY_START_EXIT] = {"startTaskInfo/exitCode", BATCH_BY_NUMBER, FILTER_ORDER, NULL},
        [BY_START_BEGIN] = {"startTaskInfo/startTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
        [BY_START_END] = {"startTaskInfo/endTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    };
    static const struct batch_rows rows = {.list = {.fragment = "nodes",
                                                    .filters = filters,
                                                    .n_filters = FILTERS,
                                                    .schema = &schema_batch_node},
                                           BATCH_ROWS_OF(struct listed_node),
                                           .fetch = fetch,
                                           .is_shown = is_listed,
                                           .render = render_row};
    struct batch_pool *p = arena_alloc(&r->arena, sizeof *p);
    struct node_pool *pool = arena_alloc(&r->arena, sizeof *pool);
    struct err e;
    if (pool_of(r, false, p, &e) < 0)
        return reply_err(r, &e);
    node_pool_read(r, p, pool);
    return batch_reply_rows(r, &rows, p->id, pool);
}

struct replied *compute_nodes_get(struct request *r)
{
    struct batch_pool p;
    struct node_pool pool;
    struct shown_node n;
    struct err e;
    schema_set set;
    struct strbuf out = STRBUF_INIT;
    if (node_of(r, &p, &n, &e) < 0 || batch_select(r, &schema_batch_node, &set, &e) < 0 ||
        node_look_at_tasks(r, &n, &e) < 0)
        return reply_err(r, &e);
    node_pool_read(r, &p, &pool);
    node_render(r, &pool, &n, set, &out);
    return batch_reply_element(r, "nodes/@Element", &out);
}

/* --- operations on one node ------------------------------------------------------------------- */

/* Refuses an operation while the node is busy with another. */
static int refuse_busy(const struct shown_node *n, struct err *e)
{
    static const struct {
        enum batch_node_state state;
        int kind;
    } busy[] = {{BATCH_NODE_CREATING, BATCH_NODE_BEING_CREATED},
                {BATCH_NODE_STARTING, BATCH_NODE_BEING_STARTED},
                {BATCH_NODE_WAITING_FOR_START_TASK, BATCH_NODE_BEING_STARTED},
                {BATCH_NODE_REBOOTING, BATCH_NODE_BEING_REBOOTED},
                {BATCH_NODE_REIMAGING, BATCH_NODE_BEING_REIMAGED},
                {BATCH_NODE_LEAVING_POOL, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE},
                {BATCH_NODE_PREEMPTED, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE},
                {BATCH_NODE_DEALLOCATING, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE},
                {BATCH_NODE_DEALLOCATED, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE}};
    for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++)
        if (busy[i].state == n->state)
            return err_set(e, busy[i].kind, NULL, "the node %s is %s", n->nd.name,
                           enum_to_name(batch_node_state_names, (int)n->state));
    return 0;
}

struct asking {
    /* NULL: the operation is start; only a deallocated node can be started */
    const struct schema *body;
    const char *how; /* the name of the body's option, such as nodeReimageOption */
    enum node_wish wish;
    const char *action;
};

/* Refuses to deallocate a node that is to be wiped: a deallocated node keeps its files. */
static int refuse_rest(const struct node *nd, struct err *e)
{
    if (nd->wish != WISH_WIPE && nd->wish != IS_BEING_WIPED)
        return 0;
    return err_set(e, BATCH_NODE_BEING_REIMAGED, NULL, "the node %s is to be reimaged", nd->name);
}

static struct replied *ask(struct request *r, const struct asking *k)
{
    struct batch_pool p;
    struct shown_node n;
    struct accepted b = {0};
    struct err e;
    if (node_of(r, &p, &n, &e) < 0 ||
        (k->body &&
         (refuse_busy(&n, &e) < 0 || request_accept(r, k->body, SCHEMA_BATCH, &b, &e) < 0)) ||
        (k->wish == WISH_REST && refuse_rest(&n.nd, &e) < 0))
        return reply_err(r, &e);
    enum dealloc_option how = k->body ? pool_body_how(&b, k->how) : DEALLOC_REQUEUE;
    if (sched_node_ask(batch_of(r)->arm.sched, &n.nd, k->wish, how, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 202, node_path_of(r, &p, &n.nd, k->action), 0);
}

struct replied *compute_nodes_reboot(struct request *r)
{
    static const struct asking k = {&schema_batch_reboot, "nodeRebootOption", WISH_RESTART,
                                    "/reboot"};
    return ask(r, &k);
}

/* In api-versions until 2024 only pools of cloud services supported this operation. */
struct replied *compute_nodes_reimage(struct request *r)
{
    static const struct asking k = {&schema_batch_reimage, "nodeReimageOption", WISH_WIPE,
                                    "/reimage"};
    static const char *const vm[] = {"virtualMachineConfiguration", NULL};
    struct batch_pool p;
    struct shown_node n;
    struct err e;
    size_t len;
    if (r->version >= BATCH_19_0)
        return ask(r, &k);
    if (node_of(r, &p, &n, &e) < 0)
        return reply_err(r, &e);
    if (!stored_member(p.doc, vm, &len))
        return ask(r, &k);
    err_set(&e, BATCH_OPERATION_NOT_VALID_ON_NODE, NULL,
            "nodes of a pool with virtualMachineConfiguration cannot be reimaged");
    return reply_err(r, &e);
}

struct replied *compute_nodes_deallocate(struct request *r)
{
    static const struct asking k = {&schema_batch_deallocate, "nodeDeallocateOption", WISH_REST,
                                    "/deallocate"};
    return ask(r, &k);
}

struct replied *compute_nodes_start(struct request *r)
{
    static const struct asking k = {NULL, NULL, WISH_RESTART, "/start"};
    struct batch_pool p;
    struct shown_node n;
    struct err e;
    if (node_of(r, &p, &n, &e) < 0)
        return reply_err(r, &e);
    if (n.state == BATCH_NODE_DEALLOCATED)
        return ask(r, &k);
    err_set(&e, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE, NULL, "the node %s is not deallocated",
            n.nd.name);
    return reply_err(r, &e);
}

static struct replied *set_off(struct request *r, enum dealloc_option off, const char *action)
{
    struct batch_pool p;
    struct shown_node n;
    struct err e;
    if (node_of(r, &p, &n, &e) < 0)
        return reply_err(r, &e);
    if ((n.nd.off != 0) == (off != 0)) {
        err_set(&e, BATCH_NODE_ALREADY_IN_TARGET_SCHEDULING_STATE, NULL,
                "scheduling is %s on the node %s", off != 0 ? "disabled" : "enabled", n.nd.name);
        return reply_err(r, &e);
    }
    if (sched_node_set_off(batch_of(r)->arm.sched, &n.nd, off, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 200, node_path_of(r, &p, &n.nd, action), 0);
}

struct replied *compute_nodes_disable(struct request *r)
{
    struct accepted b;
    struct err e;
    if (request_accept(r, &schema_batch_disable_scheduling, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    enum dealloc_option how = pool_body_how(&b, "nodeDisableSchedulingOption");
    return set_off(r, how, "/disablescheduling");
}

struct replied *compute_nodes_enable(struct request *r)
{
    return set_off(r, 0, "/enablescheduling");
}

/* --- logins ----------------------------------------------------------------------------------- */

struct replied *compute_nodes_login(struct request *r)
{
    struct batch_pool p;
    struct shown_node n;
    struct node_login at;
    struct err e;
    if (node_of(r, &p, &n, &e) < 0)
        return reply_err(r, &e);
    fleet_node_login(batch_of(r)->arm.fleet, &r->arena, &n.nd, &at);
    reply_header_text(r, "DataServiceId",
                      batch_url(r, node_path_of(r, &p, &n.nd, "/remoteloginsettings")));
    return batch_reply_json(
        r, 200,
        json_pack("{s:s, s:s, s:i}", "odata.metadata",
                  batch_metadata(r, "Microsoft.Azure.Batch.Protocol.Entities.RemoteLoginSettings"),
                  "remoteLoginIPAddress", at.address, "remoteLoginPort", at.port));
}

/* Refused, because nodes run Linux and have no remote desktop. */
struct replied *compute_nodes_desktop(struct request *r)
{
    struct batch_pool p;
    struct shown_node n;
    struct err e;
    if (node_of(r, &p, &n, &e) == 0)
        err_set(&e, BATCH_OPERATION_NOT_VALID_ON_NODE, NULL,
                "the node %s has no remote desktop: log in with ssh (remoteloginsettings)",
                n.nd.name);
    return reply_err(r, &e);
}

/* --- extensions ------------------------------------------------------------------------------- */

/* An empty list, because no virtual machine extensions are ever installed. */
struct replied *compute_nodes_extensions(struct request *r)
{
    static const struct batch_list_kind kind = {.fragment = "nodeextensions",
                                                .schema = &schema_batch_node_extension};
    struct batch_list l;
    struct batch_pool p;
    struct shown_node n;
    struct err e;
    if (node_of(r, &p, &n, &e) < 0 || batch_list_begin(r, &kind, &l, &e) < 0)
        return reply_err(r, &e);
    return page_reply(l.page);
}

struct replied *compute_nodes_extension(struct request *r)
{
    struct batch_pool p;
    struct shown_node n;
    struct err e;
    if (node_of(r, &p, &n, &e) == 0)
        err_set(&e, BATCH_RESOURCE_NOT_FOUND, NULL, "the node %s has no extension %.64s", n.nd.name,
                request_param(r, "extension"));
    return reply_err(r, &e);
}

/* --- counts ----------------------------------------------------------------------------------- */

static bool is_counted(const struct request *r, int state)
{
    switch (state) {
    case BATCH_NODE_UPGRADING_OS:
        return r->version >= BATCH_19_0;
    case BATCH_NODE_DEALLOCATED:
    case BATCH_NODE_DEALLOCATING:
        return r->version >= BATCH_20_0;
    }
    return true;
}

static json_t *counts_of(const struct request *r, const int *counts)
{
    json_t *o = json_object();
    int total = 0;
    for (const struct enum_name *k = batch_node_count_names; k->name; k++) {
        total += counts[k->value];
        if (is_counted(r, k->value))
            json_object_set_new(o, k->name, json_integer(counts[k->value]));
    }
    json_object_set_new(o, "total", json_integer(total));
    return o;
}

static int render_counts(const struct batch_list *l, const void *row, struct strbuf *out,
                         struct err *e)
{
    struct request *r = l->r;
    const struct batch_pool *p = row;
    int dedicated[BATCH_NODE_STATES] = {0}, low[BATCH_NODE_STATES] = {0};
    struct node *nodes;
    size_t n;
    if (st_node_list(arm_of(r)->storage, &r->arena, p->id, &nodes, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct shown_node shown;
        if (node_look(r, &nodes[i], &shown, e) < 0)
            return -1;
        (nodes[i].vm_priority == VM_LOWPRIORITY ? low : dedicated)[shown.state]++;
    }
    json_auto_t *counts = json_pack("{s:s, s:o, s:o}", "poolId", p->name, "dedicated",
                                    counts_of(r, dedicated), "lowPriority", counts_of(r, low));
    jsontext_add(out, counts);
    return 0;
}

struct replied *compute_nodes_count(struct request *r)
{
    static const struct batch_filter filters[] = {
        [BATCH_POOL_ID] = {"poolId", BATCH_BY_TEXT, 1U << FILTER_EQ, NULL}};
    static const struct batch_rows rows = {
        .list = {.fragment = "poolnodecounts", .filters = filters, .n_filters = 1},
        BATCH_ROWS_OF(struct batch_pool),
        .fetch = batch_pools_fetch,
        .render = render_counts};
    return batch_reply_rows(r, &rows, batch_account_of(r)->id, NULL);
}
