/* SPDX-License-Identifier: MIT
 *
 * uploadbatchservicelogs: uploads the records about a node between two instants as blobs below a
 * directory of a container, then replies. daemon.log and agent.log contain the records about the
 * node in the daemon's in-memory log: agent.log those that the node's agent wrote, daemon.log all
 * others; events.log contains the node's changes of state from the database.
 */
#include <string.h>

#include "api/http/accept.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/nodes.h"
#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"
#include "lib/log_kept.h"
#include "lib/timefmt.h"
#include "model/batch/tables_pool.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/transfer/blobs.h"
#include "scheduler/fleet/transfer/put.h"
#include "scheduler/front/batch/batch.h"
#include "storage/overview.h"

enum { DAEMON_LOG, AGENT_LOG, EVENTS_LOG, LOGS };
static const char *const log_names[LOGS] = {"daemon.log", "agent.log", "events.log"};

struct log_uploading {
    struct request *r;
    const struct node *node;
    const char *machine; /* NULL: a local node */
    int64_t from_us, to_us;
    struct strbuf logs[LOGS]; /* an empty log is not uploaded */
    struct batch_destination to;
    const char *directory; /* the directory in the container for the blobs */
    int at, done;          /* at: index of the present log; done: number of uploaded logs */
    struct transfer_put *put;
};

static void uploading_free(void *ctx)
{
    struct log_uploading *u = ctx;
    transfer_put_end(u->put);
    for (int i = 0; i < LOGS; i++)
        strbuf_free(&u->logs[i]);
}

/* --- the log files of a node ------------------------------------------------------------------ */

/* Whether a log record is about the node. `subject`: the name of the node's link:
 * USER@MACHINE:PORT, or for a local node the node root, which ends in the node's name. */
static bool is_about(const struct log_uploading *u, const char *subject)
{
    const char *behind = strrchr(subject, '/');
    if (!behind)
        behind = strchr(subject, '@');
    subject = behind ? behind + 1 : subject;
    if (strcmp(subject, u->node->name) == 0)
        return true;
    size_t n = u->machine ? strlen(u->machine) : 0;
    return n > 0 && strncmp(subject, u->machine, n) == 0 &&
           (subject[n] == '\0' || strcmp(subject + n, ":22") == 0);
}

static bool is_between(const struct log_uploading *u, int64_t at_us)
{
    return at_us >= u->from_us && at_us <= u->to_us;
}

static void take_line(void *ctx, const struct log_kept_line *l)
{
    struct log_uploading *u = ctx;
    bool said = strcmp(l->event, "node.agent_wrote") == 0;
    if (is_between(u, l->at_us) && is_about(u, l->subject))
        strbuf_puts(&u->logs[said ? AGENT_LOG : DAEMON_LOG], l->text);
}

static void take_event(struct log_uploading *u, const struct event *ev)
{
    char when[TIMEFMT_SIZE];
    struct strbuf *b = &u->logs[EVENTS_LOG];
    const char *from = ev->from ? enum_to_name(node_state_names, ev->from) : NULL;
    const char *to = enum_to_name(node_state_names, ev->to);
    if (!is_between(u, ev->at_us))
        return;
    timefmt_fixed(ev->at_us, when);
    strbuf_concat(b, when, " info node.state node=", u->node->name);
    if (from)
        strbuf_concat(b, " from=", from);
    strbuf_concat(b, " to=", to ? to : "?");
    if (ev->reason) {
        strbuf_puts(b, " why=");
        jsontext_add_text(b, ev->reason, strlen(ev->reason));
    }
    strbuf_putc(b, '\n');
}

static int gather(struct log_uploading *u, struct err *e)
{
    struct request *r = u->r;
    struct event *events;
    size_t n;
    if (st_event_of(arm_of(r)->storage, &r->arena, RES_NODE, u->node->id, &events, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        take_event(u, &events[i]);
    log_kept_read(r->config->log->kept, take_line, u);
    return 0;
}

/* --- where it goes ---------------------------------------------------------------------------- */

static struct replied *answer(const struct log_uploading *u)
{
    return batch_reply_json(
        u->r, 200,
        json_pack("{s:s, s:s, s:i}", "odata.metadata",
                  batch_metadata(
                      u->r, "Microsoft.Azure.Batch.Protocol.Entities.UploadBatchServiceLogsResult"),
                  "virtualDirectoryName", u->directory, "numberOfFilesUploaded", u->done));
}

static struct replied *refuse_container(struct request *r, const char *why)
{
    struct err e;
    err_set(&e, BATCH_INVALID_PROPERTY_VALUE, "containerUrl",
            "the log files cannot be uploaded there: %s", why);
    return reply_err(r, &e);
}

static void put_next(struct log_uploading *u);

static void on_put(void *ctx, const struct err *why)
{
    struct log_uploading *u = ctx;
    if (why) {
        request_finish(u->r, refuse_container(u->r, why->msg));
        return;
    }
    transfer_put_end(u->put);
    u->put = NULL;
    u->at++;
    u->done++;
    put_next(u);
}

static bool find_next(struct log_uploading *u)
{
    while (u->at < LOGS && u->logs[u->at].len == 0)
        u->at++;
    return u->at < LOGS;
}

static void put_next(struct log_uploading *u)
{
    if (!find_next(u)) {
        request_finish(u->r, answer(u));
        return;
    }
    struct arena *a = &u->r->arena;
    const struct strbuf *b = &u->logs[u->at];
    const char *blob = arena_concat(a, u->directory, "/", log_names[u->at]);
    u->put = transfer_put_begin(fleet_transfers(batch_of(u->r)->arm.fleet),
                                blob_url(a, u->to.url, blob), u->to.own, b->s, b->len, on_put, u);
}

/* --- the request ------------------------------------------------------------------------------ */

static int64_t time_of(const struct accepted *b, const char *name, int64_t otherwise)
{
    const char *text = json_string_value(json_object_get(b->doc, name));
    int64_t us;
    return text && timefmt_parse(text, &us) == 0 ? us : otherwise;
}

/* Reads the interval. It starts at the earliest when the node joined the pool. */
static int read_times(struct log_uploading *u, const struct accepted *b, struct err *e)
{
    u->from_us = time_of(b, "startTime", 0);
    u->to_us = time_of(b, "endTime", INT64_MAX);
    if (u->to_us < u->from_us)
        return err_set(e, BATCH_INVALID_PROPERTY_VALUE, "endTime", "it is before startTime");
    if (u->from_us < u->node->created_us)
        u->from_us = u->node->created_us;
    return 0;
}

static struct log_uploading *begin(struct request *r, const struct batch_pool *p,
                                   const struct node *nd)
{
    char id[GUID_SIZE];
    struct machine_use use;
    struct log_uploading *u = arena_alloc(&r->arena, sizeof *u);
    request_guid(r, id);
    *u = (struct log_uploading){
        .r = r, .node = nd, .directory = arena_concat(&r->arena, p->name, "/", nd->name, "/", id)};
    if (nd->machine_id != 0 && machines_use(batch_of(r)->arm.fleet, nd->machine_id, &use))
        u->machine = arena_strdup(&r->arena, use.name);
    return u;
}

struct replied *compute_nodes_upload_logs(struct request *r)
{
    struct batch_pool p;
    struct shown_node *n = arena_alloc(&r->arena, sizeof *n);
    struct accepted b;
    struct err e;
    if (node_of(r, &p, n, &e) < 0 ||
        request_accept(r, &schema_batch_upload_logs, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    struct log_uploading *u = begin(r, &p, &n->nd);
    const char *url =
        arena_strdup(&r->arena, json_string_value(json_object_get(b.secrets, "containerUrl")));
    bool identity = json_object_get(b.doc, "identityReference") != NULL;
    int rc = read_times(u, &b, &e);
    if (rc < 0)
        return reply_err(r, &e);
    if (batch_destination(batch_of(r)->front, &r->arena, p.account_id, url, identity, &u->to, &e) <
        0)
        return refuse_container(r, e.msg);
    request_keep(r, u, uploading_free);
    if (gather(u, &e) < 0)
        return reply_err(r, &e);
    if (!find_next(u))
        return answer(u);
    put_next(u);
    return reply_later(r);
}
