/* SPDX-License-Identifier: MIT
 *
 * Finds nodes of pools and renders them: state, errors, start task, endpoints. The pool's document
 * is read once for a list of nodes. Memory is the request's. On the loop's thread.
 */
#include <string.h>

#include "api/plane/batch/errors.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/nodes.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/tasks.h"
#include "lib/jsontext.h"
#include "lib/version.h"
#include "model/batch/tables_pool.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/front/batch/tasks.h"
#include "storage/storage.h"

int node_look(struct request *r, const struct node *nd, struct shown_node *out, struct err *e)
{
    *out = (struct shown_node){.nd = *nd};
    if (st_node_setup_get(arm_of(r)->storage, &r->arena, nd->id, &out->setup, e) < 0)
        return -1;
    /* An ended start task is shown as running until the scheduler has handled its end. */
    bool waits =
        out->setup.runs || (out->setup.node_id != 0 && out->setup.start_us >= nd->state_us);
    out->state = batch_node_state(nd, waits);
    return 0;
}

int node_of(struct request *r, struct batch_pool *p, struct shown_node *out, struct err *e)
{
    struct node nd;
    const char *name = request_param(r, "node");
    if (pool_of(r, false, p, e) < 0)
        return -1;
    int rc = st_node_named(arm_of(r)->storage, &r->arena, p->id, name, &nd, e);
    if (rc != 0)
        return rc < 0 ? -1 : node_look(r, &nd, out, e);
    return err_set(e, BATCH_NODE_NOT_FOUND, NULL, "the pool %s has no node %.100s", p->name, name);
}

const char *node_path_of(struct request *r, const struct batch_pool *p, const struct node *nd,
                         const char *behind)
{
    return pool_path_of(r, p->name,
                        arena_printf(&r->arena, "/nodes/%s%s", batch_segment(r, nd->name), behind));
}

/* --- of the pool ------------------------------------------------------------------------------ */

struct node_nat {
    const char *name, *protocol;
    int port;
};

/* A member of the pool's document as stored JSON text; NULL: the document lacks it. */
static const char *member(struct request *r, const struct batch_pool *p, const char *const *path)
{
    size_t n;
    const char *text = stored_member(p->doc, path, &n);
    return text ? arena_strndup(&r->arena, text, n) : NULL;
}

/* Renders the member in the form of the request's api-version. */
static const char *shown(struct request *r, const struct batch_pool *p, const char *const *path,
                         const struct schema *s)
{
    const char *text = member(r, p, path);
    struct strbuf b = STRBUF_INIT;
    if (!text)
        return NULL;
    schema_render(&b, &(struct rendering){.schema = s, .version = r->version, .stored = text});
    text = arena_strdup(&r->arena, b.s);
    strbuf_free(&b);
    return text;
}

static const char *kept_text(struct request *r, const json_t *object, const char *name)
{
    return arena_strdup(&r->arena, json_string_value(json_object_get(object, name)));
}

static void read_nats(struct request *r, struct node_pool *out)
{
    static const char *const given[] = {"networkConfiguration", "endpointConfiguration", NULL};
    const char *text = member(r, out->row, given);
    json_auto_t *asked = text ? json_loads(text, 0, NULL) : NULL;
    json_t *nat;
    const json_t *all = json_object_get(asked, "inboundNATPools");
    size_t i;
    out->nats = arena_alloc(&r->arena, (json_array_size(all) + 1) * sizeof *out->nats);
    json_array_foreach(all, i, nat) {
        out->nats[out->n_nats++] =
            (struct node_nat){kept_text(r, nat, "name"), kept_text(r, nat, "protocol"),
                              (int)json_integer_value(json_object_get(nat, "backendPort"))};
    }
}

void node_pool_read(struct request *r, const struct batch_pool *p, struct node_pool *out)
{
    static const char *const start_task[] = {"startTask", NULL};
    static const char *const image[] = {"virtualMachineConfiguration", "imageReference", NULL};
    *out = (struct node_pool){.row = p,
                              .start_task = shown(r, p, start_task, &schema_batch_start_task),
                              .image = shown(r, p, image, &schema_batch_image)};
    read_nats(r, out);
}

/* --- of the node ------------------------------------------------------------------------------ */

static json_t *failure_of(const struct node_setup *s)
{
    enum failure_code code = (enum failure_code)s->failure;
    if (code == FAIL_NODE_SETUP_FAILED)
        code = s->has_exit_code ? FAIL_RUN_FAILED : FAIL_RUN_START_FAILED;
    const struct batch_failure_words w = batch_failure_words(code);
    return json_pack("{s:s, s:s, s:s, s:[{s:s, s:s}]}", "category", "UserError", "code", w.code,
                     "message", w.message ? w.message : "", "details", "name", "Message", "value",
                     s->why ? s->why : "");
}

/* Renders the execution of the node's start task; NULL: the node has run none. */
static json_t *start_info(struct request *r, const struct node_setup *s)
{
    if (s->node_id == 0)
        return NULL;
    bool failed = s->failure != 0;
    json_t *o = json_pack("{s:s, s:s, s:s*, s:i, s:s*}", "state", s->runs ? "running" : "completed",
                          "startTime", batch_time_text(r, s->start_us), "endTime",
                          s->runs ? NULL : batch_time_text(r, s->end_us), "retryCount", s->retries,
                          "lastRetryTime", batch_time_text(r, s->retry_us));
    if (s->has_exit_code)
        json_object_set_new(o, "exitCode", json_integer(s->exit_code));
    if (failed)
        json_object_set_new(o, "failureInfo", failure_of(s));
    batch_container_add(r, &s->container, !s->runs, o);
    if (!s->runs)
        json_object_set_new(o, "result", json_string(failed ? "failure" : "success"));
    return o;
}

static json_t *error_of(enum failure_code failure, const char *message, json_t *details)
{
    const struct batch_failure_words w = batch_failure_words(failure);
    const char *code = strcmp(w.code, "Unknown") == 0 ? failure_name(failure) : w.code;
    return json_pack("[{s:s, s:s, s:o*}]", "code", code, "message", message, "errorDetails",
                     details);
}

/* The errors of a node. A closed node, whose disk is full or cannot be written, first finishes its
 * tasks; until then the reason is only in memory. When it is unusable, its row has the reason. */
static json_t *errors_of(const struct request *r, const struct node *nd)
{
    const char *closed = fleet_node_closed(batch_of(r)->arm.fleet, nd->id);
    if (nd->state != NODE_UNUSABLE)
        return closed ? error_of(FAIL_NODE_DISK, closed, NULL) : NULL;
    json_auto_t *list = nd->errors ? json_loads(nd->errors, 0, NULL) : NULL;
    size_t n = json_array_size(list);
    json_t *last = n > 0 ? json_array_get(list, n - 1) : NULL,
           *details = json_incref(json_object_get(last, "details"));
    return error_of((enum failure_code)nd->failure, nd->why ? nd->why : "", details);
}

static json_t *endpoint(const char *name, const char *protocol, const char *address, int front,
                        int back)
{
    return json_pack("{s:s+, s:s, s:s, s:s, s:i, s:i}", "name", name, ".0", "protocol", protocol,
                     "publicIPAddress", address, "publicFQDN", address, "frontendPort", front,
                     "backendPort", back);
}

/* The endpoints of a node. Without address translation, each is the node's own address and the
 * backend port. */
static json_t *endpoints(const struct node_pool *p, const char *address)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_nats; i++) {
        const struct node_nat *nat = &p->nats[i];
        json_array_append_new(list,
                              endpoint(nat->name, nat->protocol, address, nat->port, nat->port));
    }
    json_array_append_new(list, endpoint("SSHRule", "tcp", address, 50000, 22));
    return json_pack("{s:o}", "inboundEndpoints", list);
}

static json_t *agent_of(struct request *r, const struct node *nd)
{
    return json_pack("{s:s, s:s}", "version", BATCHAID_VERSION, "lastUpdateTime",
                     batch_time_text(r, nd->created_us));
}

void node_render(struct request *r, const struct node_pool *p, const struct shown_node *n,
                 schema_set set, struct strbuf *out)
{
    const struct node *nd = &n->nd;
    const struct node_rt *rt = node_rt_find(batch_of(r)->arm.fleet, nd->id);
    const char *address = node_rt_address(rt);
    bool booted = nd->incarnation != NULL;
    const struct over machine[] = {SHOW_JSON("imageReference", p->image)};
    const struct over over[] = {
        SHOW_TEXT("id", nd->name),
        SHOW_TEXT("url", batch_url(r, node_path_of(r, p->row, nd, ""))),
        SHOW_TEXT("state", enum_to_name(batch_node_state_names, (int)n->state)),
        SHOW_TEXT("schedulingState", nd->off != 0 ? "disabled" : "enabled"),
        SHOW_TEXT("stateTransitionTime", batch_time_text(r, nd->state_us)),
        SHOW_TEXT("lastBootTime", booted ? batch_time_text(r, nd->booted_us) : NULL),
        SHOW_TEXT("allocationTime", batch_time_text(r, nd->created_us)),
        SHOW_TEXT("ipAddress", address),
        SHOW_TEXT("ipv6Address", address && strchr(address, ':') ? address : NULL),
        SHOW_TEXT("affinityId", arena_concat(&r->arena, BATCH_AFFINITY, nd->name)),
        SHOW_TEXT("vmSize", arena_lower(&r->arena, p->row->vm_size)),
        SHOW_INT("totalTasksRun", n->total.ended),
        SHOW_INT("runningTasksCount", n->running),
        SHOW_INT("runningTaskSlotsCount", n->running_slots),
        SHOW_INT("totalTasksSucceeded", n->total.succeeded),
        SHOW_DOC("recentTasks", jsontext_new_in(&r->arena, node_recent_tasks(r, n))),
        SHOW_JSON("startTask", p->start_task),
        SHOW_DOC("startTaskInfo", jsontext_new_in(&r->arena, start_info(r, &n->setup))),
        SHOW_DOC("certificateReferences", booted ? "[]" : NULL),
        SHOW_DOC("errors", jsontext_new_in(&r->arena, errors_of(r, nd))),
        SHOW_BOOL("isDedicated", nd->vm_priority == VM_DEDICATED),
        SHOW_DOC("endpointConfiguration", jsontext_new_in(&r->arena, endpoints(p, address))),
        SHOW_DOC("nodeAgentInfo", booted ? jsontext_new_in(&r->arena, agent_of(r, nd)) : NULL),
        SHOW_OBJECT("virtualMachineInfo", machine),
    };
    schema_render(
        out, &(struct rendering){
                 .schema = &schema_batch_node, .version = r->version, SHOW_LIST(over), .set = set});
}
