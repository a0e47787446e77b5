/* SPDX-License-Identifier: MIT
 *
 * The agent: one thread, one poll loop over the link (stdin, stdout), the directory of task
 * records, the supervisors, the workers (worker.h) and the process that empties the trash. It ends
 * when the link does; the tasks do not. What it knows it has read from ROOT, so the next agent
 * knows it too.
 *
 *   stdin -> frames -> ops.c -> tasks.c, files.c -> replies and events -> stdout
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
#include "nodeagent-proto/agent/peer.h"
#include "nodeagent-proto/agent/tasks.h"
#include "nodeagent-proto/agent/uids.h"
#include "nodeagent-proto/wire/codec.h"

struct agent {
    char *root, *tasks_dir, *trash_dir;
    char *looks_at; /* the root, of an agent that only looks: `root` is as much of it as is there */
    int lock_fd;    /* ROOT/agent.lock: one agent at a time */
    struct facts facts;
    struct tasks tasks;
    struct health health;
    struct epoch epoch;
    struct peer peer;
    struct account as;      /* who the last file request was for; all zeros: nobody yet */
    int64_t as_until_ms;    /* then it is looked up anew */
    struct worker *workers; /* requests in forked processes, oldest first */
    json_t *held;           /* an array: requests that wait for one of those, oldest first */
    struct frame_decoder in;
    struct strbuf out; /* replies and events; sent up to out_sent */
    size_t out_sent;
    bool link_gone;
    bool root_removed;  /* on request: the agent ends when its replies are sent */
    char *reboot;       /* the program to run as soon as nothing is left to be sent; NULL: none */
    pid_t trash_worker; /* 0: none */
    int trash_fd;       /* closes when the worker ends */
    bool trash_more;    /* something came while it worked */
};

/* Serves the link on fd 0 and 1 until it ends. Returns the exit status. One that only looks makes
 * and locks nothing, so that it may stand beside another agent, and tells how the node is. */
int agent_run(const char *root, bool looking);

/* Whether the root of an agent that only looks could be used. */
int agent_look(const struct agent *a, struct err *e) MUST_CHECK;

/* As which the agent's node root holds accounts of jobs. */
static inline struct uid_holder agent_as_holder(const struct agent *a)
{
    return (struct uid_holder){a->root, a->facts.incarnation};
}

/* Queues a message, whose reference it takes. */
void agent_send(struct agent *a, json_t *msg);
/* The same, with bytes that go with it. */
void agent_send_with(struct agent *a, json_t *msg, const void *bytes, size_t n);

/* Sees to it that what is in the trash is removed in the background. */
void agent_empty_trash(struct agent *a);

#endif
