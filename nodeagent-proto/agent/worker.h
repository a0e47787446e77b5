/* SPDX-License-Identifier: MIT
 *
 * Requests that may hang (a file system that is gone) or take long are carried out in a forked
 * process each, so that the agent goes on. A worker makes its replies as the agent would, sends
 * them through a pipe with an empty frame after the last, and ends; the agent passes them on as
 * they come. A worker that is not done in time is killed, and its request fails. At most
 * WORKERS_MAX run at once, the rest wait their turn.
 *
 *   (start) -> WAITING -> RUNNING -> (gone)      edges: there is room; end mark, end of file,
 * deadline
 */
#ifndef NODEAGENT_PROTO_AGENT_WORKER_H
#define NODEAGENT_PROTO_AGENT_WORKER_H

#include <poll.h>

#include "nodeagent-proto/agent/ops_priv.h"

#define WORKERS_MAX 16
/* Done by an idle helper (helpers.h) if there is one. Of all that workers do it is what each job
 * needs, and it leaves the process as it was. */
#define HELPED_OP "account_release"

/* Lets fn carry out `req` in a worker; returns SERVE_ANSWERED. fn must have its own limits for what
 * it waits for; a worker that hangs all the same is given up after `limit_s`. */
enum outcome worker_start(struct agent *a, json_t *req, serve_fn fn, int limit_s);
/* The same; requests that are carried out in order wait until it is done. */
enum outcome worker_start_in_order(struct agent *a, json_t *req, serve_fn fn, int limit_s);
/* In a worker or helper: carries the request out and writes the answer, with its end, to `fd`. */
int worker_answer(struct agent *a, json_t *req, serve_fn fn, int fd);
/* Whether such a worker is under way. */
bool workers_in_order(const struct agent *a);
void workers_close(struct agent *a);

/* For the poll loop, as in tasks.h. */
size_t workers_poll_count(const struct agent *a);
void workers_poll_fill(const struct agent *a, struct pollfd *p);
void workers_poll_act(struct agent *a, const struct pollfd *p, size_t n);
int workers_poll_timeout(const struct agent *a);

#endif
