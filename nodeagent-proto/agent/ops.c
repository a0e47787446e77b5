/* SPDX-License-Identifier: MIT
 *
 * Decides whether and when a request may be executed, and calls its handler. Also contains the
 * handlers of requests about the link and about tasks.
 */
#include "nodeagent-proto/agent/ops.h"

#include <assert.h>
#include <string.h>

#include "nodeagent-proto/agent/ops_priv.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/wire/message.h"

/* The most tasks in a reply. Even with the longest ends of stderr, with escapes, they need only a
 * quarter of a frame. */
#define TASKS_PER_REPLY 100
#define PING_MAX_S      86400

enum outcome serve_hello(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_hello *r = &q->r.hello;
    if (!a->looks_at && epoch_hear(&a->epoch, a->root, &r->epoch, e) < 0)
        return SERVE_FAILED;
    facts_refresh(&a->facts);
    json_t *facts = message_facts(&a->facts.node);
    if (!facts) {
        err_set(e, ERR_INTERNAL, NULL, "the node's description is not UTF-8");
        return SERVE_FAILED;
    }
    json_object_set_new(q->reply, "node", facts);
    if (a->epoch.term > 0)
        json_object_set_new(q->reply, "epoch",
                            message_epoch(&(struct node_epoch){a->epoch.term, a->epoch.id}));
    agent_send(a, json_incref(q->reply));
    if (r->ping_s > 0)
        peer_open(a, r->ping_s < PING_MAX_S ? (int)r->ping_s : PING_MAX_S);
    tasks_announce(&a->tasks);
    return SERVE_ANSWERED;
}

enum outcome serve_run(struct agent *a, struct ops_asked *q, struct err *e)
{
    json_int_t id = json_integer_value(json_object_get(q->msg, "id"));
    json_t *task = json_object_get(q->msg, "task"); /* a helper gets the task object unchanged */
    return tasks_run(&a->tasks, q->r.run.task, task, id, e) < 0 ? SERVE_FAILED : SERVE_ANSWERED;
}

enum outcome serve_signal(struct agent *a, struct ops_asked *q, struct err *e)
{
    return outcome(tasks_signal(&a->tasks, q->r.signal.task, q->r.signal.signal, e));
}

struct ops_listing {
    struct agent *a;
    json_t *reply, *tasks;
};

static void list_one(void *ctx, json_t *status)
{
    struct ops_listing *l = ctx;
    assert(json_array_size(l->tasks) <= TASKS_PER_REPLY);
    if (json_array_size(l->tasks) == TASKS_PER_REPLY) {
        json_t *part = json_deep_copy(l->reply);
        json_object_set(part, "tasks", l->tasks);
        json_object_set_new(part, "more", json_true());
        agent_send(l->a, part);
        json_array_clear(l->tasks);
    }
    json_array_append(l->tasks, status);
}

enum outcome serve_tasks(struct agent *a, struct ops_asked *q, struct err *e)
{
    struct ops_listing l = {a, q->reply, json_array()};
    (void)e;
    tasks_each(&a->tasks, list_one, &l);
    json_object_set_new(q->reply, "tasks", l.tasks);
    return SERVE_DONE;
}

enum outcome serve_forget(struct agent *a, struct ops_asked *q, struct err *e)
{
    return outcome(tasks_forget(&a->tasks, q->r.forget.task, e));
}

enum outcome serve_ping(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)a;
    (void)q;
    (void)e;
    return SERVE_DONE;
}

#define HANDLER(name) [REQUEST_##name] = serve_##name,
static const serve_fn handlers[N_REQUESTS] = {REQUESTS(HANDLER)};
#undef HANDLER

static int may_look(const struct agent *a, enum request_op op, struct err *e)
{
    if (op == REQUEST_hello || op == REQUEST_ping || op == REQUEST_mounting)
        return 0;
    if (op == REQUEST_health)
        return agent_look(a, e);
    return err_set(e, ERR_NOT_SUPPORTED, "op", "this agent only inspects; it does not serve '%s'",
                   request_form(op)->name);
}

static int may(const struct agent *a, enum request_op op, struct err *e)
{
    const struct request_form *f = request_form(op);
    if (a->looks_at)
        return may_look(a, op, e);
    return f->looks ? 0 : epoch_may_change(&a->epoch, f->name, e);
}

static enum outcome serve(struct agent *a, struct ops_asked *q, struct err *e)
{
    return may(a, q->r.op, e) < 0 ? SERVE_FAILED : handlers[q->r.op](a, q, e);
}

/* ---- in the order they came ---- */

static const char *task_of(json_t *req)
{
    json_t *task = json_object_get(req, "task");
    const char *id = json_string_value(json_is_object(task) ? json_object_get(task, "id") : task);
    return id ? id : "";
}

static bool start_waits(const struct agent *a, const char *task)
{
    size_t i;
    json_t *held;
    json_array_foreach(a->held, i, held) {
        const char *name = json_string_value(json_object_get(held, "op"));
        if (name && strcmp(name, "run") == 0 && strcmp(task_of(held), task) == 0)
            return true;
    }
    return false;
}

static bool must_wait(const struct agent *a, json_t *req)
{
    const char *name = json_string_value(json_object_get(req, "op"));
    enum request_op op;
    if ((!workers_in_order(a) && json_array_size(a->held) == 0) || !name ||
        !request_find(name, &op))
        return false;
    int when = request_form(op)->when;
    return when == REQUEST_IN_ORDER || (when == REQUEST_BY_TASK && start_waits(a, task_of(req)));
}

void ops_serve(struct agent *a, json_t *req)
{
    if (must_wait(a, req))
        json_array_append(a->held, req);
    else
        ops_serve_by(a, req, serve);
}

void ops_serve_held(struct agent *a)
{
    while (!workers_in_order(a) && json_array_size(a->held) > 0) {
        json_t *req = json_incref(json_array_get(a->held, 0));
        assert(json_is_object(req));
        json_array_remove(a->held, 0);
        ops_serve_by(a, req, serve);
        json_decref(req);
    }
}
