/* SPDX-License-Identifier: MIT
 *
 * Helpers are forked processes that supervise tasks (supervisor.h) and execute requests. A helper
 * gets one task or request after the other, because a fork costs more than most of this work.
 *
 * (fork with a task) -> BUSY <-> IDLE -> (gone)
 *
 * A helper is idle when its last work has left no process and no lock; it reports this to the agent
 * through its socket. The agent sends the next task or request through the socket, with the
 * necessary descriptors. Only the agent ends an idle helper, by closing the socket, so it never
 * sends work to a helper that is about to end. When the agent dies, its end of the socket is
 * closed, too; a busy helper then finishes its work and ends.
 */
#ifndef NODEAGENT_PROTO_AGENT_HELPERS_H
#define NODEAGENT_PROTO_AGENT_HELPERS_H

#include <jansson.h>
#include <poll.h>
#include <stddef.h>
#include <sys/types.h>

#include "nodeagent-proto/agent/supervisor.h"

struct helpers {
    struct helper *head; /* a list without an order */
    /* Called in a helper: executes `req` and writes the reply to `fd`, without closing it. */
    void (*serve)(void *ctx, json_t *req, int fd);
    void *ctx;
};

/* Lets a helper supervise the task of `c`, which `message` describes. Returns a descriptor; read()
 * on it returns 0 once the file ID.start or ID.exit exists or the helper has died. */
int helpers_supervise(struct helpers *h, const struct supervisor_config *c, const json_t *message,
                      struct err *e) MUST_CHECK;
/* Lets an idle helper execute `req`. Returns the helper's pid; 0: no helper is idle. */
pid_t helpers_serve(struct helpers *h, const json_t *req, int fd) MUST_CHECK;
/* Ends all helpers: idle helpers at once, busy helpers after their work. */
void helpers_close(struct helpers *h);

/* For the poll loop, as in tasks.h. Calls fn(ctx, id) when a helper has finished a task. */
size_t helpers_poll_count(const struct helpers *h);
void helpers_poll_fill(const struct helpers *h, struct pollfd *p);
void helpers_poll_act(struct helpers *h, const struct pollfd *p, size_t n,
                      void (*fn)(void *ctx, const char *id), void *ctx);
int helpers_poll_timeout(const struct helpers *h);

#endif
