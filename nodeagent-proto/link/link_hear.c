/* SPDX-License-Identifier: MIT
 *
 * The beginning and the end of a link, and the messages of the agent in between.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"

/* An agent that has received nothing for this long (seconds) asks for a sign of life. */
#define PING_S 60

/* ---- hearing ---- */

static int hear_hello(struct node_link *link, struct link_pending *p, json_t *msg, struct err *e)
{
    struct node_facts facts;
    struct node_epoch newest;
    struct arena arena;
    arena_init(&arena);
    assert(link->state == LINK_OPENING); /* hello is sent once, and answered once */
    int rc = message_facts_read(json_object_get(msg, "node"), &arena, &facts, e);
    if (rc == 0)
        rc = message_epoch_read(json_object_get(msg, "epoch"), &newest, e);
    if (rc == 0 && newest.term > link->term)
        LOG_WARN(link->log, "node.newer_daemon_found", LF_STR("node", link->name),
                 LF_INT("node_term", newest.term), LF_INT("daemon_term", link->term));
    if (rc == 0) {
        link_go(link, LINK_READY);
        if (link->user.ready)
            link->user.ready(link->user.ctx, &facts);
    }
    arena_free(&arena);
    /* if `ready` called node_close(), all requests are answered already */
    if (!link_is_closing(link))
        link_answer(link, p, NULL, NULL, 0);
    return rc;
}

static int hear_reply(struct node_link *link, json_t *msg, struct err *e)
{
    struct err why;
    int64_t id = json_integer_value(json_object_get(msg, "id"));
    struct link_pending *p = link->head;
    while (p && p->id != id)
        p = p->next;
    if (!p)
        return err_set(e, ERR_PROTOCOL, NULL, "the agent answered request %lld, which was not sent",
                       (long long)id);
    bool is_hello = p->form->answer == ANSWER_FACTS;
    if (json_is_true(json_object_get(msg, "ok")))
        return is_hello ? hear_hello(link, p, msg, e) : link_hear_answer(link, p, msg, e);
    message_err_read(json_object_get(msg, "error"), &why);
    if (is_hello) {
        *e = why;
        return -1;
    }
    link_answer(link, p, &why, NULL, 0);
    return 0;
}

static int hear_event(struct node_link *link, json_t *msg, struct err *e)
{
    struct task_status s;
    const char *name = json_string_value(json_object_get(msg, "event"));
    if (strcmp(name, REMOTE_EVENT) == 0) {
        link_remote(link, msg);
        return 0;
    }
    if (strcmp(name, "task_ended") != 0)
        return 0; /* ignores an unknown event: a newer agent may send events that this version does
                   * not know */
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
    link->heard_us = loop_mono_us(link->loop);
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
    link_begin(link, how->loop);
    if (how->dead_ms > 0)
        link->watch = link_watch_start(link, how->dead_ms);
    frame_decoder_init(&link->in);
    link_ask(link,
             REQUEST(hello, .version = PROTOCOL_VERSION, .ping_s = PING_S, .epoch = *how->epoch),
             (struct link_pending){0}); /* nobody outside waits for its answer */
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
    link_go(link, LINK_CLOSING);
    link->closed = closed;
    link->closed_ctx = ctx;
    err_set(&why, ERR_UNAVAILABLE, NULL, "the link to the node was closed");
    link_answer_all(link, &why);
    loop_timer_destroy(link->kick);
    link->kick = NULL;
    if (link->watch)
        link_watch_close(link->watch);
    link->transport->close(link);
}
