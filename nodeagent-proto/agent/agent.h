/* SPDX-License-Identifier: MIT
 *
 * The agent: one thread, one poll loop over the link (stdin, stdout), the directory of task
 * records, the supervisors, the workers (worker.h) and the process that empties the trash. It ends
 * with the link; the tasks do not. All its knowledge is read from ROOT, so the next agent has it
 * too.
 *
 *   stdin -> frames -> ops.c -> tasks.c, files.c -> replies and events -> stdout
 *                   -> remotes.c -> sockets of jobs -> remotes.c -> events -> stdout
 */
#ifndef NODEAGENT_PROTO_AGENT_AGENT_H
#define NODEAGENT_PROTO_AGENT_AGENT_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/err.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/epoch.h"
#include "nodeagent-proto/agent/facts.h"
#include "nodeagent-proto/agent/health.h"
#include "nodeagent-proto/agent/helpers.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/peer.h"
#include "nodeagent-proto/agent/remotes.h"
#include "nodeagent-proto/agent/tasks.h"
#include "nodeagent-proto/agent/uids.h"
#include "nodeagent-proto/wire/codec.h"

struct agent {
    char *root, *tasks_dir, *trash_dir;
    char *looks_at; /* an agent that only looks: the whole path of the root; `root` is the part of
                       it that exists */
    int lock_fd;    /* ROOT/agent.lock: one agent at a time */
    struct facts facts;
    struct agent_tasks tasks;
    struct helpers helpers;
    struct agent_health health;
    struct agent_epoch epoch;
    struct agent_peer peer;
    struct mounts_kept mounts;
    struct remotes remotes;
    struct account as;            /* the account of the last file request; all zeros: none yet */
    int64_t as_until_ms;          /* when the account must be looked up anew */
    struct agent_worker *workers; /* requests in forked processes, oldest first */
    json_t *held;                 /* an array: requests that wait for one of those, oldest first */
    struct frame_decoder in;
    struct strbuf out; /* replies and events; sent up to out_sent */
    size_t out_sent;
    bool link_gone;
    bool root_removed;    /* on request: the agent ends when its replies are sent */
    char *reboot;         /* the program to run as soon as nothing is left to be sent; NULL: none */
    pid_t trash_worker;   /* 0: none */
    int trash_fd;         /* closes when the worker ends */
    int64_t trash_due_ms; /* when the trash is to be emptied; 0: there is nothing new in it */
};

/* Serves the link on fd 0 and 1 until it ends. Returns the exit status. An agent that only looks
 * makes and locks nothing, so that it can run beside another agent; it only reports the state of
 * the node. */
int agent_run(const char *root, bool looking);

/* The holder of accounts of jobs that the agent's node root is. */
static inline struct uid_holder agent_as_holder(const struct agent *a)
{
    return (struct uid_holder){a->root, a->facts.incarnation};
}

/* ---- root.c ---- */

/* Makes the root and takes its lock. */
int agent_open_root(struct agent *a, const char *root, struct err *e) MUST_CHECK;
/* For an agent that only looks: as much of the root as there is. */
int agent_find_root(struct agent *a, const char *root, struct err *e) MUST_CHECK;
/* Whether the root of an agent that only looks could be used. */
int agent_look(const struct agent *a, struct err *e) MUST_CHECK;

/* ---- send.c ---- */

/* Queues a message, whose reference it takes. */
void agent_send(struct agent *a, json_t *msg);
/* The same, with bytes that go with it. */
void agent_send_with(struct agent *a, json_t *msg, const void *bytes, size_t n);

/* ---- trash.c ---- */

/* There is trash: it is removed in the background a moment later. */
void agent_empty_trash(struct agent *a);
/* For poll(), as in tasks.h; and what is to be done then. */
int agent_trash_timeout(const struct agent *a);
void agent_tend_trash(struct agent *a);
/* The worker has ended: trash_fd is readable. */
void agent_reap_trash_worker(struct agent *a);
/* For an agent that is about to end: nobody else will remove what came last. */
void agent_empty_trash_at_last(struct agent *a);

#endif
