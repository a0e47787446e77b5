/* SPDX-License-Identifier: MIT
 *
 * Limits that the kernel keeps per process or per account (setrlimit(2)): for open files always,
 * for the rest where no cgroup does it better.
 */
#ifndef NODEAGENT_PROTO_AGENT_LIMITS_H
#define NODEAGENT_PROTO_AGENT_LIMITS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/wire/task.h"

/* For the calling process and what it starts. Right before an exec: memory may run out for
 * ourselves. Without the right to raise a limit it stays as it is, which is the lower one. */
int limits_set(const struct task_limits *l, const struct cgroup *g, struct err *e) MUST_CHECK;

#endif
