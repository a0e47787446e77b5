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
    struct peer_request *requests; /* without an answer */
    int64_t ping_ms;               /* 0: the daemon answers no requests */
    int64_t heard_ms;              /* when the last message of the daemon arrived */
    bool asked;                    /* a ping is not answered yet */
};

/* `reply` is the daemon's; NULL: `why` has the reason. Both are borrowed. */
typedef void (*peer_cb)(struct agent *a, void *ctx, json_t *reply, const struct err *why);

/* Called at hello: the daemon answers requests, and may be silent for `ping_s` seconds. */
void peer_open(struct agent *a, int ping_s);
/* Asks; takes over `msg`, an object. */
void peer_ask(struct agent *a, const char *op, json_t *msg, peer_cb cb, void *ctx);
/* -1: the reply matches no question. */
int peer_hear(struct agent *a, json_t *reply, struct err *e) MUST_CHECK;
/* Frees unanswered questions without calling back. */
void peer_close(struct agent *a);

/* For the poll loop. -1: never. */
int peer_poll_timeout(const struct agent *a);
/* Asks a silent daemon for a sign of life; if it stays silent, ends the link. */
void peer_poll_act(struct agent *a);
void peer_heard(struct agent *a);

#endif
