/* SPDX-License-Identifier: MIT
 *
 * A request of a run to a node; shared by steps.c, stop.c and remote.c.
 */
#ifndef SCHEDULER_RUN_STEP_H
#define SCHEDULER_RUN_STEP_H

#include "scheduler/run/run_priv.h"

/* The context of a request, in the slot's arena. The arena outlives the requests over a link: they
 * are answered before the next link is opened. A run is freed when its last request was answered,
 * or after the links were closed. */
struct run_step {
    struct run_slot *slot;
    struct run_task *task; /* for requests that run a task */
    enum failure_code code;
    const char *what;
    /* the request touches nothing but the node's directory, so an I/O error is the node's fault */
    bool on_node;
};

/* Makes the context of a request that is sent now; the request is pending until step_answered(). */
struct run_step *step_new(struct run_slot *slot, enum failure_code code, const char *what);
/* Marks a request as answered. False: the link broke, or the reply does not concern the run any
 * more; true: handle the reply. */
bool step_answered(struct run_slot *slot);
/* Requests that the node forget the ended task of a remote command. False: nothing was sent,
 * because too many such requests are unanswered. Then the node reports the task again over the next
 * link, and is asked to forget it at the end of the run. */
bool slot_forget_task(struct run_slot *slot, const char *id);
/* The first of the run's tasks on this node; NULL: none. */
const struct run_task *slot_first_task(const struct run_slot *slot);
/* Whether files are copied to its nodes before its processes begin. */
bool run_waits_for_files(const struct live_run *run);
/* The limits of each task of the run on the node. */
struct task_limits slot_limits(const struct run_slot *slot);
/* The path of a process's stdout or stderr file. It does not depend on the index in an array. */
const char *slot_std_path(struct run_slot *slot, const char *name);

#endif
