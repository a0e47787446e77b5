/* SPDX-License-Identifier: MIT
 *
 * Remote commands: a process of a run with several nodes runs a command on another of its nodes, by
 * `ssh` or a launcher that uses it (nodeagent-proto/wire/remote.h). The run finds the node, starts
 * the far end there as a separate task, and passes on the messages between the near end (the
 * calling process) and the far end. The ids of these tasks begin with a prefix, by which the tasks
 * are found, signalled, killed and forgotten, also after a restart of the daemon. A list of the
 * tasks that were requested over the present link limits their number on a node.
 */
#ifndef SCHEDULER_RUN_REMOTE_H
#define SCHEDULER_RUN_REMOTE_H

#include "scheduler/run/run_priv.h"

/* Whether processes of the run can run commands on its other nodes. */
bool remote_is_offered(const struct live_run *run);
/* The beginning of the ids of far ends' tasks on this node. */
const char *remote_task_prefix(const struct run_slot *slot, struct arena *a);
/* remote_add_start() adds to the start of a slot the steps that let `ssh` reach the other nodes.
 * remote_add_end() adds to its cleaning the steps that end and forget the remote commands'
 * tasks. */
void remote_add_start(struct run_slot *slot, const char *as);
void remote_add_end(struct run_slot *slot);
/* The directory of `ssh` and `batchai-node`, to be put into PATH; NULL: there are no other nodes to
 * reach. */
const char *remote_path(const struct run_slot *slot, struct arena *a);
/* The command with `ssh` and `batchai-node` in its PATH, or unchanged. In the arena. */
const char *remote_wrap(const struct run_slot *slot, struct arena *a, const char *command);

/* The far end that a near end asks for. */
struct remote_far {
    int rank; /* rank of the near end */
    const char *session;
    bool files; /* it serves the directory that the nodes share, outside of any container */
    const char *tty, *port; /* see REMOTE_TTY_VARIABLE and REMOTE_PORT_VARIABLE; NULL: not set */
};
/* Starts the far end's task on the slot's node; the slot waits for the answer (`pending`). Returns
 * the task's id, in the arena. */
const char *remote_run_far(struct run_slot *slot, const struct remote_far *far, struct arena *a,
                           node_task_cb cb, void *ctx);
/* Whether commands can be started on the slot's node now. */
bool remote_is_prepared(const struct run_slot *slot);
/* Whether the slot's node has this name, address, host name or rank. */
bool remote_is_called(const struct run_slot *slot, const char *host);
const char *remote_names_of_nodes(const struct live_run *run, struct arena *a);
/* How the task of a far end ended; in the arena. */
const char *remote_how_it_ended(struct arena *a, const struct task_status *st);
/* Whether the id is that of a far end's task on the slot's node. If so, sets the near end's rank
 * and session. */
bool remote_read_id(const struct run_slot *slot, const char *id, int *rank, const char **session);

/* Handles a message of a process on the slot's node. */
void remote_hear(struct run_slot *slot, const struct remote_msg *m);
/* A task has ended: true if it was the far end of a remote command. */
bool remote_task_ended(struct run_slot *slot, const struct task_status *st);
/* Called for a new link, or when the run is being freed: forgets which tasks run. */
void remote_forget_link(struct run_slot *slot);
/* Passes a signal on to the running tasks of remote commands in the node's list. */
void remote_signal(struct run_slot *slot, const struct task_status *list, size_t n, int signo);

#endif
