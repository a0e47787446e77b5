/* SPDX-License-Identifier: MIT
 *
 * Which devices the processes of a cgroup (version 2) may not open: a program of the kernel's BPF,
 * which it asks at each open and mknod (BPF_PROG_TYPE_CGROUP_DEVICE in bpf(2)), in all cgroups
 * below too. It goes with the cgroup.
 */
#ifndef NODEAGENT_PROTO_AGENT_DEVICES_H
#define NODEAGENT_PROTO_AGENT_DEVICES_H

#include <stddef.h>
#include <sys/types.h>

#define DEVICES_MAX 256

/* Refuses `n` character devices (at most DEVICES_MAX) to the cgroup at `path`; all others stay
 * open. -1 with errno: the agent is not root, or the kernel has no BPF for cgroups. */
int devices_deny(const char *path, const dev_t *devices, size_t n);

#endif
