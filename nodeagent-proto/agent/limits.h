/* SPDX-License-Identifier: MIT
 *
 * Limits that the kernel keeps per process or per account (setrlimit(2)): always for open files;
 * for other resources if no cgroup limits them.
 */
#ifndef NODEAGENT_PROTO_AGENT_LIMITS_H
#define NODEAGENT_PROTO_AGENT_LIMITS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/wire/task.h"

/* Sets limits of the calling process and its children, except memory. A limit that may not be
 * raised stays at its lower value. */
int limits_set(const struct task_limits *l, const struct cgroup *g, struct err *e) MUST_CHECK;
/* Limits the address space. The last step before an exec, because from now on this process itself
 * gets no more memory. With AddressSanitizer the process has far more than any limit. */
int limits_set_memory(const struct task_limits *l, const struct cgroup *g,
                      struct err *e) MUST_CHECK;

#endif
