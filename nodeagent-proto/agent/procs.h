/* SPDX-License-Identifier: MIT
 *
 * Looking at /proc: who descends from whom, so that every process of a job dies with it.
 */
#ifndef NODEAGENT_PROTO_AGENT_PROCS_H
#define NODEAGENT_PROTO_AGENT_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Signals the process groups of all that descend from `top` (not top's own group), so that groups
 * of their own are reached too. SIGKILL goes to each process by itself. The `n` processes in
 * `spare` (0: nobody) and what descends from them are left alone; they lead groups of their own. */
void procs_signal_below(pid_t top, int signo, const pid_t *spare, size_t n);

/* Kills what is left of a task whose supervisor is gone: processes in the session of its command,
 * those that carry `marker` ("NAME=value") in their environment, orphans that came to the caller as
 * their subreaper, and what descends from them.
 * `command_start` is the command's start time, 0 if unknown: with it a session id that the kernel
 * gave to somebody else meanwhile is told apart. */
void procs_kill_leftovers(pid_t command, uint64_t command_start, const char *marker);

/* Whether any living process but the caller's own may be signalled by it. kill(-1) does not tell.
 */
bool procs_can_signal_any(void);

/* Whether anything runs, or could again (by a saved id), as one of `n` users from `first` on. */
bool procs_run_as(uid_t first, unsigned n);

/* Start time in clock ticks since boot, which tells two processes with one pid apart; 0: none. */
uint64_t procs_start_time(pid_t pid);

#endif
