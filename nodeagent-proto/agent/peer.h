/* SPDX-License-Identifier: MIT
 *
 * The other direction of the link: questions of the agent to the daemon. The agent asks only a
 * daemon whose hello says how often to ask whether it is there (`ping_s`), because older daemons do
 * not answer.
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
    int64_t heard_ms;              /* when something last came from it */
    bool asked;                    /* a ping is not answered yet */
};

/* `reply` is the daemon's; NULL: `why` says what is wrong. Both are borrowed. */
typedef void (*peer_cb)(struct agent *a, void *ctx, json_t *reply, const struct err *why);

/* Hello came: the daemon answers requests, and may be silent this long. */
void peer_open(struct agent *a, int ping_s);
/* Asks; takes over `msg`, an object. */
void peer_ask(struct agent *a, const char *op, json_t *msg, peer_cb cb, void *ctx);
/* -1: a reply to no question of ours. */
int peer_hear(struct agent *a, json_t *reply, struct err *e) MUST_CHECK;
/* Frees unanswered questions without calling back. */
void peer_close(struct agent *a);

/* For the poll loop. -1: never. */
int peer_poll_timeout(const struct agent *a);
/* Asks a silent daemon whether it is there; if it stays silent, the link is gone. */
void peer_poll_act(struct agent *a);
void peer_heard(struct agent *a);

#endif
