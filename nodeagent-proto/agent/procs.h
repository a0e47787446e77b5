/* SPDX-License-Identifier: MIT
 *
 * Reads from /proc which process descends from which, so that every process of a job dies with it.
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
 * their subreaper, and what descends from them. `command_start` is the command's start time, 0 if
 * unknown; it shows whether the kernel has given the session id to another process since. */
void procs_kill_leftovers(pid_t command, uint64_t command_start, const char *marker);

/* All processes that there are. Caller frees *pids. */
size_t procs_list(pid_t **pids);

/* Whether the process has ended, with all its threads: one whose first thread ended is a zombie and
 * goes on. */
bool procs_is_over(pid_t pid);

/* Whether the caller may signal any living process besides its own. kill(-1) does not tell.
 */
bool procs_can_signal_any(void);

/* Whether a process runs as one of the `n` users from `first` on, or could do so again (by a saved
 * id). */
bool procs_run_as(uid_t first, unsigned n);

/* Start time in clock ticks since boot, which distinguishes two processes with the same pid; 0:
 * none. */
uint64_t procs_start_time(pid_t pid);

#endif
