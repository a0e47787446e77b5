/* SPDX-License-Identifier: MIT
 *
 * Helpers: forked processes that supervise tasks (supervisor.h) and carry out requests, one after
 * the other, because a fork costs more than most of what they do.
 *
 *   (fork with a task) -> BUSY <-> IDLE -> (gone)
 *
 * A helper is idle when nothing is left of what it did, no process and no lock, and says so through
 * its socket; the next task or request comes through that, with the descriptors it needs. Only the
 * agent ends an idle helper, by closing the socket, so nothing is given to one that is about to
 * end. When the agent dies, the socket closes too: a helper at work goes on to the end of that.
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
    /* In a helper: carries `req` out and answers on `fd`, which stays open. */
    void (*serve)(void *ctx, json_t *req, int fd);
    void *ctx;
};

/* Has a helper supervise the task, which `message` describes as well. Returns a descriptor that
 * reads as closed once ID.start or ID.exit is there, or the helper died. */
int helpers_supervise(struct helpers *h, const struct supervisor_config *c, const json_t *message,
                      struct err *e) MUST_CHECK;
/* Has an idle helper carry out `req`. Returns its pid; 0: none is idle. */
pid_t helpers_serve(struct helpers *h, const json_t *req, int fd) MUST_CHECK;
/* Idle ones end, the others once they have done what they do. */
void helpers_close(struct helpers *h);

/* For the poll loop, as in tasks.h. fn(ctx, id) is called when a helper has done with a task. */
size_t helpers_poll_count(const struct helpers *h);
void helpers_poll_fill(const struct helpers *h, struct pollfd *p);
void helpers_poll_act(struct helpers *h, const struct pollfd *p, size_t n,
                      void (*fn)(void *ctx, const char *id), void *ctx);
int helpers_poll_timeout(const struct helpers *h);

#endif
