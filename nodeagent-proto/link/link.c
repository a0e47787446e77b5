/* SPDX-License-Identifier: MIT
 *
 * The common part of all links, whatever carries their bytes: requests and their answers, events,
 * and the end. A failure inside a call of the owner's is noted in the link or the request, and
 * reported by a timer (kick()) in the next turn, so that no call calls back.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"

/* An agent that hears nothing for this long asks whether we are there. */
#define PING_S 60

/* The picture at enum link_state as a table. */
static const bool steps[][LINK_CLOSING + 1] = {
    [LINK_OPENING] = {[LINK_READY] = true, [LINK_DOWN] = true, [LINK_CLOSING] = true},
    [LINK_READY] = {[LINK_DOWN] = true, [LINK_CLOSING] = true},
    [LINK_DOWN] = {[LINK_CLOSING] = true},
    [LINK_CLOSING] = {false},
};
static_assert(sizeof steps / sizeof steps[0] == LINK_CLOSING + 1, "a row a state");

static void go(struct node_link *link, enum link_state to)
{
    assert(steps[link->state][to]);
    link->state = to;
    assert(to != LINK_DOWN || link->why.code != ERR_NONE);
    assert(to == LINK_CLOSING || link->kick);
}

bool link_is_closing(const struct node_link *link)
{
    return link->state == LINK_CLOSING;
}

enum node_step node_link_step(const struct node_link *link)
{
    return link->step;
}

bool node_link_is_ready(const struct node_link *link)
{
    return link->state == LINK_READY && link->why.code == ERR_NONE;
}

bool node_link_is_new_host(const struct node_link *link)
{
    return link->new_host;
}

static void kick(struct node_link *link);

/* ---- answering ---- */

/* Takes `p` out of the list, so that whatever the callback does it is answered once. */
void link_answer(struct node_link *link, struct pending *p, const struct err *why, const void *what,
                 size_t n)
{
    struct pending **at = &link->head;
    while (*at && *at != p)
        at = &(*at)->next;
    assert(*at); /* otherwise it was answered before */
    *at = p->next;
    p->type->tell(p, why, what, n);
    json_decref(p->parts);
    free(p);
}

/* Answers the requests made until now. Requests that a callback makes are answered in another turn.
 */
static void answer_all(struct node_link *link, const struct err *why)
{
    int64_t last = link->last_id;
    while (link->head && link->head->id <= last)
        link_answer(link, link->head, why, NULL, 0);
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
        link_answer(link, p, &why, NULL, 0);
    }
}

static void tell_down(struct node_link *link)
{
    struct err why = link->why;
    assert(why.code != ERR_NONE);
    bool first = link->state != LINK_DOWN;
    if (first) {
        go(link, LINK_DOWN);
        LOG_DEBUG(link->log, "node.link-down", LF_STR("node", link->name), LF_STR("why", why.msg));
    }
    answer_all(link, &why);
    if (first && !link_is_closing(link) && link->user.down)
        link->user.down(link->user.ctx, &why);
}

static void on_kick(void *ctx)
{
    struct node_link *link = ctx;
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
        loop_timer_start(link->kick, loop_mono_us(link->loop));
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

int link_send(struct node_link *link, json_t *msg, struct err *e)
{
    struct strbuf frame = STRBUF_INIT;
    int rc = frame_encode(msg, &frame, e);
    if (rc == 0 && !link_is_closing(link) && link->why.code == ERR_NONE)
        link->transport->write(link, frame.s, frame.len);
    json_decref(msg);
    if (frame.s)
        explicit_bzero(frame.s, frame.len);
    strbuf_free(&frame);
    return rc;
}

void link_ask(struct node_link *link, const char *op, json_t *msg, struct pending p)
{
    struct pending *q = xcalloc(1, sizeof *q), **end = &link->head;
    assert(p.type && (!msg || json_is_object(msg)));
    *q = p;
    q->id = ++link->last_id;
    if (link_is_closing(link)) {
        struct err why;
        err_set(&why, ERR_UNAVAILABLE, NULL, "the link to the node is closed");
        q->type->tell(q, &why, NULL, 0);
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
        if (link_send(link, json_incref(msg), &q->refused) == 0)
            err_clear(&q->refused);
    }
    if (q->refused.code != ERR_NONE || link->why.code != ERR_NONE)
        kick(link);
    json_decref(msg);
}

/* ---- hearing ---- */

/* The first request of every link; nobody outside waits for its answer. */
static void tell_hello(struct pending *p, const struct err *why, const void *what, size_t n)
{
    (void)p;
    (void)why;
    (void)what;
    (void)n;
}

static int hear_hello(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    struct node_facts facts;
    struct node_epoch newest;
    struct arena arena;
    arena_init(&arena);
    assert(link->state == LINK_OPENING); /* it is asked once, and answered once */
    int rc = message_facts_read(json_object_get(msg, "node"), &arena, &facts, e);
    if (rc == 0)
        rc = message_epoch_read(json_object_get(msg, "epoch"), &newest, e);
    if (rc == 0 && newest.term > link->term)
        LOG_WARN(link->log, "node.newer-daemon", LF_STR("node", link->name),
                 LF_INT("its_term", newest.term), LF_INT("our_term", link->term));
    if (rc == 0) {
        go(link, LINK_READY);
        if (link->user.ready)
            link->user.ready(link->user.ctx, &facts);
    }
    arena_free(&arena);
    if (!link_is_closing(link)) /* node_close() in `ready` has answered everything */
        link_answer(link, p, NULL, NULL, 0);
    return rc;
}

static const struct answer_type answer_hello = {hear_hello, tell_hello};

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
        return p->type->hear(link, p, msg, e);
    message_err_read(json_object_get(msg, "error"), &why);
    if (p->type == &answer_hello) {
        *e = why;
        return -1;
    }
    link_answer(link, p, &why, NULL, 0);
    return 0;
}

static int hear_event(struct node_link *link, json_t *msg, struct err *e)
{
    struct task_status s;
    if (strcmp(json_string_value(json_object_get(msg, "event")), "task_ended") != 0)
        return 0; /* an event of a newer agent: it knows our version and may send more than we know
                   */
    if (message_task_status_read(json_object_get(msg, "task"), &s, e) < 0)
        return -1;
    if (link->user.task_ended)
        link->user.task_ended(link->user.ctx, &s);
    return 0;
}

static int hear(struct node_link *link, json_t *msg, struct err *e)
{
    switch (message_kind(msg)) {
    case MESSAGE_EVENT:
        return hear_event(link, msg, e);
    case MESSAGE_REQUEST:
        link_serve(link, msg);
        return 0;
    case MESSAGE_REPLY:
        return hear_reply(link, msg, e);
    }
    return 0;
}

void link_received(struct node_link *link, const char *bytes, size_t n)
{
    struct err e;
    json_t *msg;
    int rc = 0;
    if (link_is_closing(link) || link->why.code != ERR_NONE)
        return;
    if (link->watch)
        link_watch_heard(link->watch);
    frame_decoder_feed(&link->in, bytes, n);
    while (rc == 0 && !link_is_closing(link) &&
           (rc = frame_decoder_next(&link->in, &msg, &e)) > 0) {
        rc = hear(link, msg, &e);
        json_decref(msg);
    }
    if (rc < 0)
        link_fail(link, &e);
}

/* ---- beginning and end ---- */

void link_start(struct node_link *link, const struct link_start *how)
{
    assert(link->state == LINK_OPENING && !link->head);
    link->transport = how->transport;
    link->user = *how->user;
    link->log = how->log;
    link->name = how->name;
    link->term = how->epoch->term;
    link->epoch_id = how->epoch->id ? xstrdup(how->epoch->id) : NULL;
    link->step = NODE_STEP_AGENT;
    link->loop = how->loop;
    link->kick = loop_timer_create(how->loop, on_kick, link);
    if (how->dead_ms > 0)
        link->watch = link_watch_start(link, how->dead_ms);
    frame_decoder_init(&link->in);
    json_t *hello = json_pack("{s:i, s:i}", "version", PROTOCOL_VERSION, "ping_s", PING_S);
    if (how->epoch->term > 0)
        json_object_set_new(hello, "epoch", message_epoch(how->epoch));
    link_ask(link, "hello", hello, (struct pending){.type = &answer_hello});
}

void link_released(struct node_link *link)
{
    void (*closed)(void *ctx) = link->closed;
    void *ctx = link->closed_ctx;
    assert(link_is_closing(link) && !link->head && !link->watch && !link->kick);
    frame_decoder_free(&link->in);
    free(link->epoch_id);
    link->transport->free(link);
    if (closed)
        closed(ctx);
}

void node_close(struct node_link *link, void (*closed)(void *ctx), void *ctx)
{
    struct err why;
    if (link_is_closing(link))
        return;
    go(link, LINK_CLOSING);
    link->closed = closed;
    link->closed_ctx = ctx;
    err_set(&why, ERR_UNAVAILABLE, NULL, "the link to the node was closed");
    answer_all(link, &why);
    loop_timer_destroy(link->kick);
    link->kick = NULL;
    if (link->watch)
        link_watch_close(link->watch);
    link->transport->close(link);
}
