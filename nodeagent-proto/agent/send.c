/* SPDX-License-Identifier: MIT
 *
 * Messages of the agent, a worker and a helper to the daemon: each message waits in the output
 * buffer of its process until it is written.
 */
#include <stdio.h>

#include "nodeagent-proto/agent/agent.h"

void agent_send(struct agent *a, json_t *msg)
{
    agent_send_with(a, msg, NULL, 0);
}

void agent_send_with(struct agent *a, json_t *msg, const void *bytes, size_t n)
{
    struct err e;
    if (!msg || frame_encode_with(msg, bytes, n, &a->out, &e) < 0)
        fprintf(stderr, "a message could not be sent: %s\n", msg ? e.msg : "it is not UTF-8");
    json_decref(msg);
}
