/* SPDX-License-Identifier: MIT
 *
 * Requests that may hang (a dead file system) or take long are carried out in a forked process
 * each, so that the agent continues. A worker makes replies as the agent does, sends them through a
 * pipe with an empty frame after the last, and ends; the agent passes them on when they come. A
 * worker that exceeds its time limit is killed, and its request fails. At most WORKERS_MAX run at
 * once, the others wait.
 *
 * (start) -> WAITING -> RUNNING -> (gone) edges: it may start; end mark, end of file, deadline
 */
#ifndef NODEAGENT_PROTO_AGENT_WORKER_H
#define NODEAGENT_PROTO_AGENT_WORKER_H

#include <poll.h>

#include "nodeagent-proto/agent/ops_priv.h"

#define WORKERS_MAX 16
/* An idle helper (helpers.h) carries out this operation, if there is one. Of all requests to
 * workers, only this request is sent for each job, and it leaves the helper's process unchanged. */
#define HELPED_OP "account_release"

/* Lets fn carry out `req` in a worker; returns SERVE_ANSWERED. fn must limit its own waits; after
 * `limit_s` the worker is killed. */
enum outcome worker_start(struct agent *a, json_t *req, serve_fn fn, int limit_s);
/* Like worker_start(); later requests that must keep the order wait for its end. */
enum outcome worker_start_in_order(struct agent *a, json_t *req, serve_fn fn, int limit_s);
/* Like worker_start(), for the accounts of users: these workers run one after the other, because a
 * later request may be about the same account. */
enum outcome worker_start_of_users(struct agent *a, json_t *req, serve_fn fn, int limit_s);
/* In a worker or helper: carries the request out and writes the answer and the end mark to `fd`. */
int worker_answer(struct agent *a, json_t *req, serve_fn fn, int fd);
/* Whether a worker of worker_start_in_order() runs or waits. */
bool workers_in_order(const struct agent *a);
void workers_close(struct agent *a);

/* For the poll loop, as in tasks.h. */
size_t workers_poll_count(const struct agent *a);
void workers_poll_fill(const struct agent *a, struct pollfd *p);
void workers_poll_act(struct agent *a, const struct pollfd *p, size_t n);
int workers_poll_timeout(const struct agent *a);

#endif
