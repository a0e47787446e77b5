/* SPDX-License-Identifier: MIT
 *
 * The requests of wire/requests.txt, each carried out by its handler (ops_priv.h).
 */
#ifndef NODEAGENT_PROTO_AGENT_OPS_H
#define NODEAGENT_PROTO_AGENT_OPS_H

#include <jansson.h>

#include "nodeagent-proto/agent/agent.h"

/* Carries out one request (borrowed) and queues its reply, now or, for `run`, later. */
void ops_serve(struct agent *a, json_t *req);

/* Carries out requests that waited for an earlier request, if that has ended. */
void ops_serve_held(struct agent *a);

#endif
