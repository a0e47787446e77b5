/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of requests (ops*.c): a request, and how it is carried out.
 */
#ifndef NODEAGENT_PROTO_AGENT_OPS_PRIV_H
#define NODEAGENT_PROTO_AGENT_OPS_PRIV_H

#include <jansson.h>

#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/wire/request.h"

enum outcome { SERVE_FAILED = -1, SERVE_DONE = 0, SERVE_ANSWERED = 1 /* or will be */ };

/* A request during its execution. */
struct ops_asked {
    json_t *msg;           /* as it came */
    struct node_request r; /* the decoded request; lives as long as the call */
    json_t *reply;         /* sent if it is done */
};

/* Carries out `q` and adds its results to the reply. */
typedef enum outcome (*serve_fn)(struct agent *a, struct ops_asked *q, struct err *e);

/* A handler for each request of wire/requests.txt. */
#define SERVE(name) enum outcome serve_##name(struct agent *a, struct ops_asked *q, struct err *e);
REQUESTS(SERVE)
#undef SERVE

/* ---- requests.c ---- */

/* Reads the request and answers with the result of fn. */
void ops_serve_by(struct agent *a, json_t *msg, serve_fn fn);
void ops_refuse(struct agent *a, json_int_t id, const struct err *e);

static inline enum outcome outcome(int rc)
{
    return rc < 0 ? SERVE_FAILED : SERVE_DONE;
}

/* In a worker or helper: releases the accounts that serve_account_release() has added to the
 * request as `names`. */
enum outcome account_release(struct agent *a, struct ops_asked *q, struct err *e);

#endif
