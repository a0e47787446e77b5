/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/ops.h"
#include "nodeagent-proto/agent/worker.h"

void ops_help(void *agent, json_t *req, int fd)
{
    /* Without its end mark, the agent takes the answer for that of a worker that was killed. */
    int ignored = worker_answer(agent, req, account_release, fd);
    (void)ignored;
}
