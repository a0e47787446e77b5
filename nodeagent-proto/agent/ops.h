/* SPDX-License-Identifier: MIT
 *
 * The requests of PROTOCOL.md, one row of a table each.
 */
#ifndef NODEAGENT_PROTO_AGENT_OPS_H
#define NODEAGENT_PROTO_AGENT_OPS_H

#include <jansson.h>

#include "nodeagent-proto/agent/agent.h"

/* Carries out one request (borrowed) and queues its reply, now or, for `run`, later. */
void ops_serve(struct agent *a, json_t *req);

/* What waited for a request before it, as far as its turn has come. */
void ops_serve_held(struct agent *a);

#endif
