/* SPDX-License-Identifier: MIT
 *
 * Helpers: forked processes that supervise tasks (supervisor.h) and carry out requests, one after
 * the other, because a fork costs more than most of this work.
 *
 * (fork with a task) -> BUSY <-> IDLE -> (gone)
 *
 * A helper is idle when its last work has left no process and no lock; it then reports this through
 * its socket. The next task or request comes through the socket, with the descriptors it needs.
 * Only the agent ends an idle helper, by closing the socket, so no work goes to a helper that is
 * about to end. When the agent dies, the socket closes too: a busy helper finishes its work first.
 */
#ifndef NODEAGENT_PROTO_AGENT_HELPERS_H
#define NODEAGENT_PROTO_AGENT_HELPERS_H

#include <jansson.h>
#include <poll.h>
#include <stddef.h>
#include <sys/types.h>

#include "nodeagent-proto/agent/supervisor.h"

struct helpers {
    struct helper *head; /* in no order */
    /* In a helper: carries `req` out and answers on `fd`; `fd` stays open. */
    void (*serve)(void *ctx, json_t *req, int fd);
    void *ctx;
};

/* Lets a helper supervise the task; `message` describes the task of `c`. Returns a descriptor that
 * reads as closed when ID.start or ID.exit exists, or the helper died. */
int helpers_supervise(struct helpers *h, const struct supervisor_config *c, const json_t *message,
                      struct err *e) MUST_CHECK;
/* Lets an idle helper carry out `req`. Returns its pid; 0: no helper is idle. */
pid_t helpers_serve(struct helpers *h, const json_t *req, int fd) MUST_CHECK;
/* Idle helpers end at once, busy helpers after their work. */
void helpers_close(struct helpers *h);

/* For the poll loop, as in tasks.h. Calls fn(ctx, id) when a helper has finished a task. */
size_t helpers_poll_count(const struct helpers *h);
void helpers_poll_fill(const struct helpers *h, struct pollfd *p);
void helpers_poll_act(struct helpers *h, const struct pollfd *p, size_t n,
                      void (*fn)(void *ctx, const char *id), void *ctx);
int helpers_poll_timeout(const struct helpers *h);

#endif
