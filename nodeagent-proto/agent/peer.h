/* SPDX-License-Identifier: MIT
 *
 * The other direction of the link: questions of the agent to the daemon. The agent asks only if the
 * daemon's hello has `ping_s`, the period of these questions, because older daemons do not answer.
 */
#ifndef NODEAGENT_PROTO_AGENT_PEER_H
#define NODEAGENT_PROTO_AGENT_PEER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct agent;
struct peer_request;

struct agent_peer {
    json_int_t last_id;
    struct peer_request *requests; /* requests that are not answered yet */
    int64_t ping_ms;               /* 0: the daemon answers no requests */
    int64_t heard_ms;              /* when the last message of the daemon arrived */
    bool asked;                    /* a ping is not answered yet */
};

/* Called with the daemon's reply, or with `reply` NULL and the error in `why`. Both are
 * borrowed. */
typedef void (*peer_cb)(struct agent *a, void *ctx, json_t *reply, const struct err *why);

/* Called when the daemon's hello arrives. From then on, the agent asks the daemon for a sign of
 * life after `ping_s` seconds without a message. */
void peer_open(struct agent *a, int ping_s);
/* Sends the request `op` with the members of `msg` (an object, taken over); `cb` gets the reply. */
void peer_ask(struct agent *a, const char *op, json_t *msg, peer_cb cb, void *ctx);
/* Passes a reply to the callback of its request. -1: the reply matches no request. */
int peer_hear(struct agent *a, json_t *reply, struct err *e) MUST_CHECK;
/* Frees unanswered questions without calling back. */
void peer_close(struct agent *a);

/* How long the agent's poll() may wait (ms); -1: without limit. */
int peer_poll_timeout(const struct agent *a);
/* Asks a silent daemon for a sign of life; if it stays silent, ends the link. */
void peer_poll_act(struct agent *a);
void peer_heard(struct agent *a);

#endif
