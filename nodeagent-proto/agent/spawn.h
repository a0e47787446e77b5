/* SPDX-License-Identifier: MIT
 *
 * A child in the memory of its parent, as after vfork(2): the parent sleeps until the child has
 * executed a program or ended. No page is copied, now or later. The child has its own descriptors,
 * directory, signal actions, limits and ids. Its changes to memory stay, and the parent must free
 * its allocations.
 */
#ifndef NODEAGENT_PROTO_AGENT_SPAWN_H
#define NODEAGENT_PROTO_AGENT_SPAWN_H

#include <linux/sched.h>
#include <sys/types.h>

/* Calls fn(arg) in a new child of a process with one thread; fn must not return. No signal but
 * SIGKILL reaches the caller before this returns. -1: the kernel or this build does not support
 * it. */
pid_t spawn(struct clone_args *args, void (*fn)(void *arg), void *arg);

#endif
