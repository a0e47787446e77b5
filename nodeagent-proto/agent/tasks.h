/* SPDX-License-Identifier: MIT
 *
 * The tasks that an agent knows from the records on disk (record.h), kept current by inotify and by
 * watching the supervisors. The records alone are authoritative; a new agent makes this list again
 * from them.
 *
 *   (run) -> STARTING -> RUNNING -> ENDED        edges: ID.start appeared, ID.exit appeared,
 *                  \________________^            or nobody holds the lock on ID.claim: lost
 */
#ifndef NODEAGENT_PROTO_AGENT_TASKS_H
#define NODEAGENT_PROTO_AGENT_TASKS_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/agent/helpers.h"
#include "nodeagent-proto/wire/task.h"

struct agent_task;

/* Callbacks of the agent; `status` is borrowed. */
struct tasks_callbacks {
    /* The run request `request` can be answered now. */
    void (*started)(void *ctx, json_int_t request, json_t *status);
    void (*ended)(void *ctx, json_t *status);
    void *ctx;
};

struct agent_tasks {
    const char *root, *dir, *hostname, *boot_id, *incarnation; /* borrowed; dir is in root */
    struct tasks_callbacks cb;
    struct helpers *helpers;     /* borrowed */
    struct cgroup_bases cgroups; /* searched before the first task that needs a cgroup */
    /* hello was answered: the end of a task is reported when it happens */
    bool announcing;
    int inotify_fd, root_watch; /* inotify_fd -1: not available; check by a timer */
    struct stat root_was, dir_was;
    /* the root, or a vital part of it, was removed or moved away; the agent no longer serves it */
    bool root_gone;
    struct agent_task *head; /* in no order */
};

/* Begins to watch `root` and `dir`. Called before the incarnation is read, so that no later removal
 * is missed. */
int tasks_watch(struct agent_tasks *t, struct err *e) MUST_CHECK;
/* Reads the records, and adds a task for each claim that was used. */
int tasks_open(struct agent_tasks *t, struct err *e) MUST_CHECK;
/* The root was removed: kills running tasks, because their ends could not be reported and the
 * daemon will start them elsewhere. Waits for their ends, for a limited time. */
void tasks_abandon(struct agent_tasks *t);
bool tasks_are_running(const struct agent_tasks *t);
/* Whether a task that has not ended runs as `uid`. Also true if a task is starting and its account
 * is not known yet. `tasks`: struct agent_tasks. */
bool tasks_run_as(void *tasks, uid_t uid);
void tasks_close(struct agent_tasks *t);

/* Reports all tasks that have ended, and from now on each task when it ends. */
void tasks_announce(struct agent_tasks *t);

/* Starts a task unless its id is known. cb.started is called with `request` later, or before this
 * returns. `message` is the JSON form of `spec`. */
int tasks_run(struct agent_tasks *t, const struct task_spec *spec, json_t *message,
              json_int_t request, struct err *e) MUST_CHECK;
int tasks_signal(struct agent_tasks *t, const char *id, int signo, struct err *e) MUST_CHECK;
int tasks_forget(struct agent_tasks *t, const char *id, struct err *e) MUST_CHECK;
/* Calls fn with the status of each task. */
void tasks_each(struct agent_tasks *t, void (*fn)(void *ctx, json_t *status), void *ctx);

/* Called when the supervisor has finished with the task. `tasks`: struct agent_tasks. */
void tasks_supervised(void *tasks, const char *id);

/* For the poll loop, in this order: returns the number of descriptors; fills them in; handles
 * events; returns how long poll() may wait (ms; -1: no limit). */
size_t tasks_poll_count(const struct agent_tasks *t);
void tasks_poll_fill(struct agent_tasks *t, struct pollfd *p);
void tasks_poll_act(struct agent_tasks *t, const struct pollfd *p, size_t n);
int tasks_poll_timeout(const struct agent_tasks *t);

#endif
