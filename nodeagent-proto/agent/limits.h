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

/* Sets limits of the calling process and its children, but for memory. A limit that may not be
 * raised stays at its lower value. */
int limits_set(const struct task_limits *l, const struct cgroup *g, struct err *e) MUST_CHECK;
/* Limits the address space. The last step before an exec, as from now on this process itself gets
 * no more memory; with AddressSanitizer it has far more than any limit. */
int limits_set_memory(const struct task_limits *l, const struct cgroup *g,
                      struct err *e) MUST_CHECK;

#endif
