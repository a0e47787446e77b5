/* SPDX-License-Identifier: MIT
 *
 * Shared by the files with handlers of requests (ops*.c): a request, and the types and functions to
 * execute it.
 */
#ifndef NODEAGENT_PROTO_AGENT_OPS_PRIV_H
#define NODEAGENT_PROTO_AGENT_OPS_PRIV_H

#include <jansson.h>

#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/wire/request.h"

/* SERVE_DONE: the caller sends the reply. SERVE_ANSWERED: the reply was sent, or is sent later. */
enum outcome { SERVE_FAILED = -1, SERVE_DONE = 0, SERVE_ANSWERED = 1 };

/* A request during its execution. */
struct ops_asked {
    json_t *msg;           /* the request as it was received */
    struct node_request r; /* the decoded request; lives as long as the call */
    json_t *reply;         /* the reply, which is sent if the handler returns SERVE_DONE */
};

/* Executes `q` and adds the results to q->reply. */
typedef enum outcome (*serve_fn)(struct agent *a, struct ops_asked *q, struct err *e);

/* A handler for each request of wire/requests.txt. */
#define SERVE(name) enum outcome serve_##name(struct agent *a, struct ops_asked *q, struct err *e);
REQUESTS(SERVE)
#undef SERVE

/* ---- requests.c ---- */

/* Decodes the request, calls fn, and sends the reply with its result. */
void ops_serve_by(struct agent *a, json_t *msg, serve_fn fn);
void ops_refuse(struct agent *a, json_int_t id, const struct err *e);

static inline enum outcome outcome(int rc)
{
    return rc < 0 ? SERVE_FAILED : SERVE_DONE;
}

/* Runs in a worker or helper process: releases the accounts that serve_account_release() has added
 * to the request as `names`. */
enum outcome account_release(struct agent *a, struct ops_asked *q, struct err *e);

#endif
