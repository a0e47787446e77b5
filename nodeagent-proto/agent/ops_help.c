/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/ops.h"
#include "nodeagent-proto/agent/worker.h"

void ops_help(void *agent, json_t *req, int fd)
{
    /* If this fails, the end mark is missing, and the agent treats the worker as killed. */
    int ignored = worker_answer(agent, req, account_release, fd);
    (void)ignored;
}
