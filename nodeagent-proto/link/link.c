/* SPDX-License-Identifier: MIT
 *
 * The common part of all links, for every transport: state, requests and their answers, and failing
 * (link_hear.c has the rest). A failure inside a call of the owner is stored in the link or the
 * request, and reported by a timer (kick()) in the next turn of the loop, so that no function calls
 * its caller back.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"

/* The edges of the picture at enum link_state. */
static const bool steps[][LINK_CLOSING + 1] = {
    [LINK_OPENING] = {[LINK_READY] = true, [LINK_DOWN] = true, [LINK_CLOSING] = true},
    [LINK_READY] = {[LINK_DOWN] = true, [LINK_CLOSING] = true},
    [LINK_DOWN] = {[LINK_CLOSING] = true},
    [LINK_CLOSING] = {false},
};
static_assert(sizeof steps / sizeof steps[0] == LINK_CLOSING + 1, "a row a state");

void link_go(struct node_link *link, enum link_state to)
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

int64_t node_link_silent_since(const struct node_link *link)
{
    return link->silent ? link->heard_us : 0;
}

const char *node_link_own_address(const struct node_link *link)
{
    return link->own_address;
}

/* ---- answering ---- */

/* Calls the request's callback. `why` is NULL on success; then `what` is an array of n results. */
static void tell(const struct link_pending *p, const struct err *why, const void *what, size_t n)
{
    const struct node_dir dir = {what, n, p->cut, p->left_out};
    if (!p->cb.done)
        return; /* nobody waits for the reply */
    switch (p->form->answer) {
    case ANSWER_NOTHING:
        p->cb.done(p->ctx, why);
        break;
    case ANSWER_STATUS:
        p->cb.task(p->ctx, why, what);
        break;
    case ANSWER_STATUSES:
        p->cb.tasks(p->ctx, why, what, n);
        break;
    case ANSWER_ENTRIES:
        p->cb.dir(p->ctx, why, &dir);
        break;
    case ANSWER_TEXTS:
        p->cb.texts(p->ctx, why, what, n);
        break;
    case ANSWER_HEALTH:
        p->cb.health(p->ctx, why, what);
        break;
    case ANSWER_USAGE:
        p->cb.usage(p->ctx, why, what);
        break;
    case ANSWER_SAMPLE:
        p->cb.sample(p->ctx, why, what);
        break;
    case ANSWER_BYTES:
        p->cb.bytes(p->ctx, why, what);
        break;
    case ANSWER_FACTS: /* the callback `ready` has passed the facts on */
    case N_ANSWER_KINDS:
        break;
    }
}

/* Takes `p` out of the list first, so that the request is answered once, even if the callback uses
 * the link. */
void link_answer(struct node_link *link, struct link_pending *p, const struct err *why,
                 const void *what, size_t n)
{
    struct link_pending **at = &link->head;
    while (*at && *at != p)
        at = &(*at)->next;
    assert(*at); /* otherwise the request was answered before */
    *at = p->next;
    if (!p->next)
        link->tail = at;
    tell(p, why, what, n);
    json_decref(p->parts);
    free(p);
}

void link_answer_all(struct node_link *link, const struct err *why)
{
    int64_t last = link->last_id;
    while (link->head && link->head->id <= last)
        link_answer(link, link->head, why, NULL, 0);
}

static struct link_pending *find_refused(const struct node_link *link, int64_t last)
{
    for (struct link_pending *p = link->head; p && p->id <= last; p = p->next)
        if (p->refused.code != ERR_NONE)
            return p;
    return NULL;
}

static void answer_refused(struct node_link *link)
{
    int64_t last = link->last_id;
    for (struct link_pending *p; (p = find_refused(link, last));) {
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
        link_go(link, LINK_DOWN);
        LOG_DEBUG(link->log, "node.link_closed", LF_STR("node", link->name),
                  LF_STR("why", why.msg));
    }
    link_answer_all(link, &why);
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

void link_begin(struct node_link *link, struct loop *loop)
{
    link->loop = loop;
    link->kick = loop_timer_create(loop, on_kick, link);
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

void link_ask(struct node_link *link, const struct node_request *r, struct link_pending p)
{
    struct link_pending *q = xcalloc(1, sizeof *q);
    json_t *msg = request_pack(r);
    *q = p;
    q->form = request_form(r->op);
    q->id = ++link->last_id;
    if (link_is_closing(link)) {
        struct err why;
        err_set(&why, ERR_UNAVAILABLE, NULL, "the link to the node is closed");
        tell(q, &why, NULL, 0);
        free(q);
        json_decref(msg);
        return;
    }
    *(link->tail ? link->tail : &link->head) = q;
    link->tail = &q->next;
    if (!msg)
        err_set(&q->refused, ERR_INVALID_PROPERTY, NULL,
                "the request '%s' to the node has a text that is not UTF-8", q->form->name);
    else if (link->why.code == ERR_NONE) {
        json_object_set_new(msg, "id", json_integer(q->id));
        json_object_set_new(msg, "op", json_string(q->form->name));
        if (link_send(link, json_incref(msg), &q->refused) == 0)
            err_clear(&q->refused);
    }
    if (q->refused.code != ERR_NONE || link->why.code != ERR_NONE)
        kick(link);
    json_decref(msg);
}
