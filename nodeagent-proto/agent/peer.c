/* SPDX-License-Identifier: MIT
 *
 * The agent's requests to the daemon, found by their ids, and the check that the daemon is alive:
 * the agent sends a ping after ping_s seconds without a message, and ends the link after PATIENCE
 * times ping_s seconds without a message. Runs on the agent's thread; struct agent owns the
 * requests.
 */
#include "nodeagent-proto/agent/peer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/wire/message.h"

/* If the daemon has not answered a ping, the link ends when the last message is this many times
 * ping_s old. */
#define PATIENCE 5

struct peer_request {
    struct peer_request *next;
    json_int_t id;
    peer_cb cb;
    void *ctx;
};

void peer_open(struct agent *a, int ping_s)
{
    a->peer.ping_ms = ping_s * 1000LL;
    peer_heard(a);
}

void peer_heard(struct agent *a)
{
    a->peer.heard_ms = monotonic_ms();
}

void peer_ask(struct agent *a, const char *op, json_t *msg, peer_cb cb, void *ctx)
{
    assert(json_is_object(msg) && cb);
    struct peer_request *r = xcalloc(1, sizeof *r);
    *r = (struct peer_request){a->peer.requests, ++a->peer.last_id, cb, ctx};
    a->peer.requests = r;
    json_object_set_new(msg, "id", json_integer(r->id));
    json_object_set_new(msg, "op", json_string(op));
    agent_send(a, msg);
}

int peer_hear(struct agent *a, json_t *reply, struct err *e)
{
    json_int_t id = json_integer_value(json_object_get(reply, "id"));
    struct peer_request **at = &a->peer.requests, *r;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (!(r = *at))
        return err_set(e, ERR_PROTOCOL, NULL,
                       "the daemon answered request %lld, which was not sent", (long long)id);
    *at = r->next;
    if (json_is_true(json_object_get(reply, "ok"))) {
        r->cb(a, r->ctx, reply, NULL);
    } else {
        struct err why;
        message_err_read(json_object_get(reply, "error"), &why);
        r->cb(a, r->ctx, NULL, &why);
    }
    free(r);
    return 0;
}

void peer_close(struct agent *a)
{
    while (a->peer.requests) {
        struct peer_request *r = a->peer.requests;
        a->peer.requests = r->next;
        free(r);
    }
}

static int64_t next_ms(const struct agent_peer *p)
{
    return p->heard_ms + (p->asked ? PATIENCE : 1) * p->ping_ms;
}

int peer_poll_timeout(const struct agent *a)
{
    if (a->peer.ping_ms == 0)
        return -1;
    int64_t left = next_ms(&a->peer) - monotonic_ms();
    return left > INT32_MAX ? INT32_MAX : left > 0 ? (int)left : 0;
}

static void on_pong(struct agent *a, void *ctx, json_t *reply, const struct err *why)
{
    (void)ctx;
    (void)reply;
    (void)why; /* any answer shows that the daemon is alive */
    a->peer.asked = false;
}

void peer_poll_act(struct agent *a)
{
    struct agent_peer *p = &a->peer;
    assert(!p->asked || p->requests);
    if (p->ping_ms == 0 || monotonic_ms() < next_ms(p))
        return;
    if (!p->asked) {
        p->asked = true;
        peer_ask(a, "ping", json_object(), on_pong, NULL);
        return;
    }
    fprintf(stderr, "the daemon has not answered for %lld s; the agent ends, the tasks continue\n",
            (long long)(PATIENCE * p->ping_ms / 1000));
    a->link_gone = true;
}
