/* SPDX-License-Identifier: MIT
 *
 * Reads from /proc the tree of processes, so that every process of a job dies with the job.
 */
#ifndef NODEAGENT_PROTO_AGENT_PROCS_H
#define NODEAGENT_PROTO_AGENT_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Signals the process groups of all descendants of `top` (not top's own group), because jobs make
 * groups of their own. SIGKILL is sent to each process separately. Sends nothing to the `n`
 * processes in `spare` (a 0 stands for no process) and to their descendants; the processes in
 * `spare` lead groups of their own. */
void procs_signal_below(pid_t top, int signo, const pid_t *spare, size_t n);

/* The memory of all descendants of `top` without page cache and files (bytes). */
int64_t procs_memory_below(pid_t top);

/* Kills the remaining processes of a task whose supervisor is dead: processes in the session of its
 * command, processes with `marker` ("NAME=value") in their environment, orphans whose subreaper is
 * the caller, and the descendants of all these. `command_start` is the command's start time, 0 if
 * unknown; it shows whether the kernel has given the session id to another process since then. */
void procs_kill_leftovers(pid_t command, uint64_t command_start, const char *marker);

/* Lists all processes. Caller frees *pids. */
size_t procs_list(pid_t **pids);

/* Whether the process has ended, with all its threads: a process whose first thread ended is a
 * zombie but continues. */
bool procs_is_over(pid_t pid);

/* Whether a living process exists, other than the caller, that the caller may signal. kill(-1) does
 * not report this. */
bool procs_can_signal_any(void);

/* Whether any process runs with one of the `n` user ids from `first` on, or could return to such an
 * id (its saved id). */
bool procs_run_as(uid_t first, unsigned n);

/* Start time in clock ticks since boot: distinguishes two processes that had the same pid. 0: there
 * is no such process. */
uint64_t procs_start_time(pid_t pid);

#endif
