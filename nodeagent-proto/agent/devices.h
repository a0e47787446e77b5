/* SPDX-License-Identifier: MIT
 *
 * Denies some devices to the processes of a cgroup (version 2) and its descendants, by a BPF
 * program that the kernel runs at each open and mknod (BPF_PROG_TYPE_CGROUP_DEVICE in bpf(2)). The
 * kernel removes the program with the cgroup.
 */
#ifndef NODEAGENT_PROTO_AGENT_DEVICES_H
#define NODEAGENT_PROTO_AGENT_DEVICES_H

#include <stddef.h>
#include <sys/types.h>

#define DEVICES_MAX 256

/* Denies `n` character devices (at most DEVICES_MAX) to the cgroup at `path`; all other devices
 * remain allowed. -1 with errno: the agent is not root, or the kernel has no BPF for cgroups. */
int devices_deny(const char *path, const dev_t *devices, size_t n);

#endif
