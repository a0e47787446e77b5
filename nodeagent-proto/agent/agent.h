/* SPDX-License-Identifier: MIT
 *
 * The agent has one thread, with one poll loop over the link (stdin, stdout), the directory of task
 * records, the supervisors, the workers (worker.h) and the process that empties the trash. The
 * agent ends when the link is closed; the tasks continue. All its state is stored below ROOT, so
 * the next agent can read it there.
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
#include "nodeagent-proto/agent/sampler.h"
#include "nodeagent-proto/agent/tasks.h"
#include "nodeagent-proto/agent/uids.h"
#include "nodeagent-proto/wire/codec.h"

struct agent {
    char *root, *tasks_dir, *trash_dir;
    char *looks_at; /* only in an agent that only inspects: the whole path of the root; `root` is
                       then the part of this path that exists */
    int lock_fd;    /* the open file ROOT/agent.lock, so that only one agent runs at a time */
    struct facts facts;
    struct agent_tasks tasks;
    struct helpers helpers;
    struct agent_health health;
    struct sampler sampler;
    struct agent_epoch epoch;
    struct agent_peer peer;
    struct mounts_kept mounts;
    struct remotes remotes;
    /* The account of the last file request. All zeros: no request has named an account yet. */
    struct account as;
    int64_t as_until_ms;          /* when the account must be looked up again (monotonic ms) */
    struct agent_worker *workers; /* requests in forked processes, oldest first */
    json_t *held; /* an array: requests that wait for an earlier request, oldest first */
    struct frame_decoder in;
    struct strbuf out; /* replies and events; the first out_sent bytes have been sent */
    size_t out_sent;
    bool link_gone;
    bool root_removed; /* a request has removed the root, so the agent ends as soon as its replies
                          are sent */
    /* The program for a requested reboot, which runs as soon as all output is sent; NULL: no reboot
     * was requested. */
    char *reboot;
    pid_t trash_worker;   /* 0: no worker is running */
    int trash_fd;         /* readable when the worker has ended */
    int64_t trash_due_ms; /* when the trash will be emptied (monotonic ms); 0: the trash is empty */
};

/* Serves the link on fd 0 and 1 until it ends. Returns the exit status. With `looking` the agent
 * creates and locks nothing, so that it can run at the same time as another agent; it only reports
 * the state of the node. */
int agent_run(const char *root, bool looking);

/* Describes this agent's node root as a holder of job accounts (uids.h). */
static inline struct uid_holder agent_as_holder(const struct agent *a)
{
    return (struct uid_holder){a->root, a->facts.incarnation};
}

/* ---- root.c ---- */

/* Creates the root and takes its lock. */
int agent_open_root(struct agent *a, const char *root, struct err *e) MUST_CHECK;
/* For an agent that only inspects: finds the part of the root's path that exists. */
int agent_find_root(struct agent *a, const char *root, struct err *e) MUST_CHECK;
/* For an agent that only inspects: returns 0 if the root could be used. */
int agent_look(const struct agent *a, struct err *e) MUST_CHECK;

/* ---- send.c ---- */

/* Queues a message; takes over the reference to `msg`. */
void agent_send(struct agent *a, json_t *msg);
/* Like agent_send(), with bytes that follow the message. */
void agent_send_with(struct agent *a, json_t *msg, const void *bytes, size_t n);

/* ---- trash.c ---- */

/* Schedules the removal of the trash: a little later, by another process. */
void agent_empty_trash(struct agent *a);
/* The timeout for poll(), and the work after poll(), as in tasks.h. */
int agent_trash_timeout(const struct agent *a);
void agent_tend_trash(struct agent *a);
/* To be called when trash_fd is readable, because the worker has ended. */
void agent_reap_trash_worker(struct agent *a);
/* For an agent that is about to end: removes the newest trash now, because nobody else will. */
void agent_empty_trash_at_last(struct agent *a);

#endif
