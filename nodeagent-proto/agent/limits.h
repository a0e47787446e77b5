/* SPDX-License-Identifier: MIT
 *
 * Limits that the kernel keeps per process or per account (setrlimit(2)): always for open files,
 * for the rest if no cgroup does it.
 */
#ifndef NODEAGENT_PROTO_AGENT_LIMITS_H
#define NODEAGENT_PROTO_AGENT_LIMITS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/wire/task.h"

/* Sets limits for the calling process and its children. Call it right before an exec, because this
 * process itself may run out of memory. A limit that may not be raised stays at its lower value. */
int limits_set(const struct task_limits *l, const struct cgroup *g, struct err *e) MUST_CHECK;

#endif
