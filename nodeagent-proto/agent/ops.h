/* SPDX-License-Identifier: MIT
 *
 * Executes the requests of wire/requests.txt; each has a handler (ops_priv.h).
 */
#ifndef NODEAGENT_PROTO_AGENT_OPS_H
#define NODEAGENT_PROTO_AGENT_OPS_H

#include <jansson.h>

#include "nodeagent-proto/agent/agent.h"

/* Executes a request (borrowed) and queues its reply, at once or, for requests such as `run`,
 * later. */
void ops_serve(struct agent *a, json_t *req);

/* Carries out requests that waited for an earlier request, if that has ended. */
void ops_serve_held(struct agent *a);

#endif
