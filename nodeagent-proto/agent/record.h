/* SPDX-License-Identifier: MIT
 *
 * The files of each task, in ROOT/tasks/:
 *
 * - ID.claim: made before the fork, never over another claim, so an id starts at most once. The
 *   supervisor holds an flock on it as long as it lives: a process that gets the lock knows that
 *   there is no supervisor, without trusting pids. Holds the boot id, then a mark made right before
 *   the command is forked; without the mark the id may be used again.
 * - ID.start: the command's process exists (struct start_record).
 * - ID.exit: the task is over; the status of PROTOCOL.md. Never changes.
 * - ID.start.room, ID.exit.room: reserved with the claim, big enough for the longest record, so
 *   that both records can be written on a full disk; written in place, then renamed. Old bytes stay
 *   after the text.
 * - =claim, =start, =exit, and 15 more of each with a number: files of forgotten tasks, for later
 *   tasks. Files that were made together stay together.
 *
 * start and exit are renamed into place, so a reader sees all or nothing. Nothing is fsynced: a
 * power failure may lose the last seconds, and the tasks with them (TASK_UNKNOWN or TASK_LOST).
 */
#ifndef NODEAGENT_PROTO_AGENT_RECORD_H
#define NODEAGENT_PROTO_AGENT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

struct start_record {
    pid_t supervisor, command;
    uint64_t command_start; /* clock ticks since boot; see procs_start_time() */
    uint64_t supervisor_start;
    int64_t started_us;
    int64_t stderr_from; /* size of the file at stderr_path before the task (bytes) */
    const char *stderr_path;
    bool has_account; /* the task runs as another account than the agent, as `uid` and `gid` */
    uid_t uid;
    gid_t gid;
    const char *cgroup; /* the task's own cgroup, or NULL */
};

/* Claims the id. Returns the locked descriptor, which the supervisor must inherit. -1: the id is
 * taken (ERR_CONFLICT), or the claim cannot be made, for example on a full disk (ERR_IO). */
int record_claim(const char *dir, const char *id, const char *boot_id, struct err *e) MUST_CHECK;
/* Called by the supervisor right before it forks the command: from now on the id is used up. */
int record_commit(int claim_fd, struct err *e) MUST_CHECK;
/* True if the id was claimed in this boot, but no command can have run: the agent was killed before
 * the supervisor wrote its mark. Call it only when nobody holds the lock. A claim of an earlier
 * boot proves nothing, because its text may have been lost in a power cut. */
bool record_is_unused(const char *dir, const char *id, const char *boot_id);
/* True while a supervisor lives (or will be forked in a moment). */
bool record_is_supervised(const char *dir, const char *id);
/* The boot in which the id was claimed; "" if unknown. */
void record_claimed_boot(const char *dir, const char *id, char *out, size_t size);

int record_write_start(const char *dir, const char *id, const struct start_record *r,
                       struct err *e) MUST_CHECK;
/* NULL if there is no record. Caller decrefs; *out borrows from it. Members that records of earlier
 * versions lack are zero. */
json_t *record_read_start(const char *dir, const char *id, struct start_record *out);

int record_write_exit(const char *dir, const char *id, const json_t *status,
                      struct err *e) MUST_CHECK;
/* NULL if there is no valid record. Caller decrefs. */
json_t *record_read_exit(const char *dir, const char *id);

/* Removes all files of the task, the claim first. */
int record_forget(const char *dir, const char *id, struct err *e) MUST_CHECK;

/* Calls fn(ctx, id) for each claimed id, and removes the leftovers of an interrupted
 * record_forget(). */
int record_each(const char *dir, void (*fn)(void *ctx, const char *id), void *ctx,
                struct err *e) MUST_CHECK;

/* Whether `name` is an id with `suffix` (".exit"). If so, copies the id to `id`. */
bool record_id_of(const char *name, const char *suffix, char *id, size_t size);

#endif
