/* SPDX-License-Identifier: MIT
 *
 * The other direction of the link: what the agent asks of the daemon. It asks only a daemon that
 * said in hello how often it wants to be asked whether it is there (`ping_s`), as older ones answer
 * nothing.
 */
#ifndef NODEAGENT_PROTO_AGENT_PEER_H
#define NODEAGENT_PROTO_AGENT_PEER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct agent;
struct peer_request;

struct peer {
    json_int_t last_id;
    struct peer_request *requests; /* without an answer */
    int64_t ping_ms;               /* 0: the daemon answers no requests */
    int64_t heard_ms;              /* when something last came from it */
    bool asked;                    /* whether it is there; not answered yet */
};

/* `reply` is the daemon's, or NULL and `why` says what is wrong; both borrowed. */
typedef void (*peer_cb)(struct agent *a, void *ctx, json_t *reply, const struct err *why);

/* Hello was heard: the daemon answers requests and may be silent for so long. */
void peer_open(struct agent *a, int ping_s);
/* Asks; takes over `msg`, an object. */
void peer_ask(struct agent *a, const char *op, json_t *msg, peer_cb cb, void *ctx);
/* -1: nobody asked that. */
int peer_hear(struct agent *a, json_t *reply, struct err *e) MUST_CHECK;
/* Frees what has no answer; nobody is called back. */
void peer_close(struct agent *a);

/* For the poll loop. -1: never. */
int peer_poll_timeout(const struct agent *a);
/* Asks a daemon that is silent whether it is there; the link is gone when it stays so. */
void peer_poll_act(struct agent *a);
void peer_heard(struct agent *a);

#endif
