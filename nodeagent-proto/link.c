/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/link_priv.h"
#include "nodeagent-proto/message.h"

enum answer_kind { ANSWER_HELLO, ANSWER_DONE, ANSWER_TASK, ANSWER_TASKS };

/* A request on its way. Owned by the link until it is answered. */
struct pending {
    struct pending *next;
    int64_t id;
    enum answer_kind kind;
    union {
        node_done_cb done;
        node_task_cb task;
        node_tasks_cb tasks;
    } cb;
    void *ctx;
    json_t *parts;      /* ANSWER_TASKS: what came so far */
    struct err refused; /* code is not ERR_NONE: it could not be sent */
};

bool link_is_closing(const struct node_link *link)
{
    return link->state == LINK_CLOSING;
}

static void kick(struct node_link *link);

/* ---- answering ---- */

static void call_back(struct pending *p, const struct err *why, const struct task_status *list,
                      size_t n)
{
    switch (p->kind) {
    case ANSWER_HELLO:
        break;
    case ANSWER_DONE:
        if (p->cb.done)
            p->cb.done(p->ctx, why);
        break;
    case ANSWER_TASK:
        if (p->cb.task)
            p->cb.task(p->ctx, why, list);
        break;
    case ANSWER_TASKS:
        if (p->cb.tasks)
            p->cb.tasks(p->ctx, why, list, n);
        break;
    }
}

/* Takes `p` out of the list, so that whatever the callback does it is answered once. */
static void answer(struct node_link *link, struct pending *p, const struct err *why,
                   const struct task_status *list, size_t n)
{
    struct pending **at = &link->head;
    while (*at && *at != p)
        at = &(*at)->next;
    if (*at)
        *at = p->next;
    call_back(p, why, list, n);
    json_decref(p->parts);
    free(p);
}

/* Those made by now: a callback may ask again, and is answered in another turn. */
static void answer_all(struct node_link *link, const struct err *why)
{
    int64_t last = link->last_id;
    while (link->head && link->head->id <= last)
        answer(link, link->head, why, NULL, 0);
}

static struct pending *find_refused(const struct node_link *link, int64_t last)
{
    for (struct pending *p = link->head; p && p->id <= last; p = p->next)
        if (p->refused.code != ERR_NONE)
            return p;
    return NULL;
}

static void answer_refused(struct node_link *link)
{
    int64_t last = link->last_id;
    for (struct pending *p; (p = find_refused(link, last));) {
        struct err why = p->refused;
        answer(link, p, &why, NULL, 0);
    }
}

static void tell_down(struct node_link *link)
{
    struct err why = link->why;
    bool first = link->state != LINK_DOWN;
    link->state = LINK_DOWN;
    if (first)
        LOG_WARN(link->log, "node.link-down", LF_STR("node", link->name), LF_STR("why", why.msg));
    answer_all(link, &why);
    if (first && !link_is_closing(link) && link->user.down)
        link->user.down(link->user.ctx, &why);
}

static void on_kick(uv_timer_t *timer)
{
    struct node_link *link = timer->data;
    if (link_is_closing(link))
        return;
    if (link->why.code != ERR_NONE)
        tell_down(link);
    else
        answer_refused(link);
}

static void kick(struct node_link *link)
{
    if (!link_is_closing(link))
        uv_timer_start(&link->kick, on_kick, 0, 0);
}

void link_fail(struct node_link *link, const struct err *why)
{
    if (link_is_closing(link) || link->why.code != ERR_NONE)
        return;
    link->why = *why;
    if (link->why.code == ERR_NONE)
        link->why.code = ERR_NODE_LOST;
    kick(link);
}

/* ---- asking ---- */

/* Takes over `msg` (NULL: a text in it was not UTF-8). */
static void ask(struct node_link *link, const char *op, json_t *msg, struct pending p)
{
    struct pending *q = xcalloc(1, sizeof *q), **end = &link->head;
    struct strbuf frame = STRBUF_INIT;
    *q = p;
    q->id = ++link->last_id;
    if (link_is_closing(link)) {
        struct err why;
        err_set(&why, ERR_UNAVAILABLE, NULL, "the link to the node is closed");
        call_back(q, &why, NULL, 0);
        free(q);
        json_decref(msg);
        return;
    }
    while (*end)
        end = &(*end)->next;
    *end = q;
    if (!msg)
        err_set(&q->refused, ERR_INVALID_PROPERTY, NULL,
                "the request '%s' to the node has a text that is not UTF-8", op);
    else if (link->why.code == ERR_NONE) {
        json_object_set_new(msg, "id", json_integer(q->id));
        json_object_set_new(msg, "op", json_string(op));
        if (frame_encode(msg, &frame, &q->refused) == 0)
            link->transport->write(link, frame.s, frame.len);
    }
    if (q->refused.code != ERR_NONE || link->why.code != ERR_NONE)
        kick(link);
    json_decref(msg);
    if (frame.s)
        explicit_bzero(frame.s, frame.len);
    strbuf_free(&frame);
}

static struct pending expect_done(node_done_cb cb, void *ctx)
{
    return (struct pending){.kind = ANSWER_DONE, .cb.done = cb, .ctx = ctx};
}

void node_mount_folder(struct node_link *link, const char *source, const char *target,
                       node_done_cb cb, void *ctx)
{
    ask(link, "mount_folder", json_pack("{s:s, s:s}", "source", source, "target", target),
        expect_done(cb, ctx));
}

void node_unmount(struct node_link *link, const char *target, node_done_cb cb, void *ctx)
{
    ask(link, "unmount", json_pack("{s:s}", "target", target), expect_done(cb, ctx));
}

void node_make_dirs(struct node_link *link, const char *as, const char *const *paths, size_t n,
                    node_done_cb cb, void *ctx)
{
    json_t *list = json_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = json_array_append_new(list, json_string(paths[i]));
    json_t *msg = rc == 0 ? json_pack("{s:O, s:s*}", "paths", list, "as", as) : NULL;
    json_decref(list);
    ask(link, "make_dirs", msg, expect_done(cb, ctx));
}

void node_remove_tree(struct node_link *link, const char *path, node_done_cb cb, void *ctx)
{
    ask(link, "remove_tree", json_pack("{s:s}", "path", path), expect_done(cb, ctx));
}

void node_append(struct node_link *link, const char *as, const char *path, const char *text,
                 node_done_cb cb, void *ctx)
{
    ask(link, "append", json_pack("{s:s, s:s, s:s*}", "path", path, "text", text, "as", as),
        expect_done(cb, ctx));
}

void node_write_file(struct node_link *link, const char *as, const char *path, const char *text,
                     int mode, node_done_cb cb, void *ctx)
{
    ask(link, "write_file",
        json_pack("{s:s, s:s, s:i, s:s*}", "path", path, "text", text, "mode", mode, "as", as),
        expect_done(cb, ctx));
}

void node_run(struct node_link *link, const struct task_spec *spec, node_task_cb cb, void *ctx)
{
    json_t *task = message_task_spec(spec);
    ask(link, "run", task ? json_pack("{s:o}", "task", task) : NULL,
        (struct pending){.kind = ANSWER_TASK, .cb.task = cb, .ctx = ctx});
}

void node_signal(struct node_link *link, const char *task_id, int signo, node_done_cb cb, void *ctx)
{
    ask(link, "signal", json_pack("{s:s, s:i}", "task", task_id, "signal", signo),
        expect_done(cb, ctx));
}

void node_tasks(struct node_link *link, node_tasks_cb cb, void *ctx)
{
    ask(link, "tasks", json_object(),
        (struct pending){.kind = ANSWER_TASKS, .cb.tasks = cb, .ctx = ctx});
}

void node_forget(struct node_link *link, const char *task_id, node_done_cb cb, void *ctx)
{
    ask(link, "forget", json_pack("{s:s}", "task", task_id), expect_done(cb, ctx));
}

/* ---- hearing ---- */

static int hear_hello(struct node_link *link, json_t *msg, struct err *e)
{
    struct node_facts facts;
    json_t *node = json_object_get(msg, "node");
    if (message_facts_read(node, &facts, e) < 0)
        return -1;
    char *gpus = json_dumps(json_object_get(node, "gpus"), JSON_COMPACT);
    facts.gpus = gpus ? gpus : "[]";
    link->state = LINK_READY;
    if (link->user.ready)
        link->user.ready(link->user.ctx, &facts);
    free(gpus);
    return 0;
}

static int hear_task(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    struct task_status s;
    if (message_task_status_read(json_object_get(msg, "task"), &s, e) < 0)
        return -1;
    answer(link, p, NULL, &s, 1);
    return 0;
}

static int hear_tasks(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    json_t *j;
    size_t i;
    if (!p->parts)
        p->parts = json_array();
    json_array_extend(p->parts, json_object_get(msg, "tasks"));
    if (json_is_true(json_object_get(msg, "more")))
        return 0;
    size_t n = json_array_size(p->parts);
    struct task_status *list = xcalloc(n + 1, sizeof *list);
    int rc = 0;
    json_array_foreach(p->parts, i, j)
        if (rc == 0)
            rc = message_task_status_read(j, &list[i], e);
    if (rc == 0)
        answer(link, p, NULL, list, n);
    free(list);
    return rc;
}

static int hear_success(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    int rc = 0;
    switch (p->kind) {
    case ANSWER_HELLO:
        rc = hear_hello(link, msg, e);
        if (!link_is_closing(link)) /* node_close() in `ready` has answered everything */
            answer(link, p, NULL, NULL, 0);
        return rc;
    case ANSWER_DONE:
        answer(link, p, NULL, NULL, 0);
        return 0;
    case ANSWER_TASK:
        return hear_task(link, p, msg, e);
    case ANSWER_TASKS:
        return hear_tasks(link, p, msg, e);
    }
    return rc;
}

static int hear_reply(struct node_link *link, json_t *msg, struct err *e)
{
    struct err why;
    int64_t id = json_integer_value(json_object_get(msg, "id"));
    struct pending *p = link->head;
    while (p && p->id != id)
        p = p->next;
    if (!p)
        return err_set(e, ERR_PROTOCOL, NULL, "the agent answered request %lld, which nobody made",
                       (long long)id);
    if (json_is_true(json_object_get(msg, "ok")))
        return hear_success(link, p, msg, e);
    message_err_read(json_object_get(msg, "error"), &why);
    if (p->kind == ANSWER_HELLO) {
        *e = why;
        return -1;
    }
    answer(link, p, &why, NULL, 0);
    return 0;
}

static int hear_event(struct node_link *link, const char *event, json_t *msg, struct err *e)
{
    struct task_status s;
    if (strcmp(event, "task_ended") != 0)
        return 0; /* of a newer agent; it is told our version and may say more than we know */
    if (message_task_status_read(json_object_get(msg, "task"), &s, e) < 0)
        return -1;
    if (link->user.task_ended)
        link->user.task_ended(link->user.ctx, &s);
    return 0;
}

void link_received(struct node_link *link, const char *bytes, size_t n)
{
    struct err e;
    json_t *msg;
    int rc = 0;
    if (link_is_closing(link) || link->why.code != ERR_NONE)
        return;
    frame_decoder_feed(&link->in, bytes, n);
    while (rc == 0 && !link_is_closing(link) &&
           (rc = frame_decoder_next(&link->in, &msg, &e)) > 0) {
        const char *event = json_string_value(json_object_get(msg, "event"));
        rc = event ? hear_event(link, event, msg, &e) : hear_reply(link, msg, &e);
        json_decref(msg);
    }
    if (rc < 0)
        link_fail(link, &e);
}

/* ---- beginning and end ---- */

void link_start(struct node_link *link, uv_loop_t *loop, const struct link_transport *transport,
                const struct node_callbacks *user, const struct log *log, const char *name)
{
    link->transport = transport;
    link->user = *user;
    link->log = log;
    link->name = name;
    link->to_release = 2;
    uv_timer_init(loop, &link->kick);
    link->kick.data = link;
    frame_decoder_init(&link->in);
    ask(link, "hello", json_pack("{s:i}", "version", PROTOCOL_VERSION),
        (struct pending){.kind = ANSWER_HELLO});
}

static void on_kick_closed(uv_handle_t *handle)
{
    link_released(handle->data);
}

void link_released(struct node_link *link)
{
    if (--link->to_release > 0)
        return;
    void (*closed)(void *ctx) = link->closed;
    void *ctx = link->closed_ctx;
    frame_decoder_free(&link->in);
    link->transport->free(link);
    if (closed)
        closed(ctx);
}

void node_close(struct node_link *link, void (*closed)(void *ctx), void *ctx)
{
    struct err why;
    if (link_is_closing(link))
        return;
    link->state = LINK_CLOSING;
    link->closed = closed;
    link->closed_ctx = ctx;
    err_set(&why, ERR_UNAVAILABLE, NULL, "the link to the node was closed");
    answer_all(link, &why);
    uv_timer_stop(&link->kick);
    uv_close((uv_handle_t *)&link->kick, on_kick_closed);
    link->transport->close(link);
}
