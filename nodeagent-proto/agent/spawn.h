/* SPDX-License-Identifier: MIT
 *
 * A child in the memory of its parent, as after vfork(2), which sleeps until the child has executed
 * a program or is gone: nothing is copied, and no page is copied later because both had it. What
 * the child has of its own are descriptors, directory, signal actions, limits and ids. What it
 * changes in memory stays changed, and what it allocates is the parent's to free.
 */
#ifndef NODEAGENT_PROTO_AGENT_SPAWN_H
#define NODEAGENT_PROTO_AGENT_SPAWN_H

#include <linux/sched.h>
#include <sys/types.h>

/* Calls fn(arg), which must not return, in a new child of a process with one thread. Nothing but
 * SIGKILL reaches the caller before this returns. -1: the kernel or this build cannot do that. */
pid_t spawn(struct clone_args *args, void (*fn)(void *arg), void *arg);

#endif
