/* SPDX-License-Identifier: MIT
 *
 * The agent's part in remote commands (wire/remote.h): a socket for each job, to which the ends of
 * its commands connect, and whose messages the agent passes on to the daemon and back. It keeps
 * nothing of them, and a message for an end that is not there, or does not read, is dropped: the
 * ends notice. What comes through a socket is its job's, whatever it says.
 *
 * Bounds, as jobs may send what they like: connections; the length of a message; messages a second
 * of all of them together; what waits for one end; and nothing is read while much waits for the
 * link.
 */
#ifndef NODEAGENT_PROTO_AGENT_REMOTES_H
#define NODEAGENT_PROTO_AGENT_REMOTES_H

#include <jansson.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

struct agent;
struct remote_job;
struct remote_client;

struct remotes {
    struct remote_job *jobs;
    struct remote_client *clients;
    size_t n_clients;
    int tokens; /* messages that may still be passed on before the next refill */
    int64_t refilled_ms;
};

/* Opens the job's socket to the account (NULL: the agent's own), unless it is open. */
int remotes_open(struct agent *a, const char *job, const struct account *as,
                 struct err *e) MUST_CHECK;
/* Closes it, and the connections of its ends. NULL: all of them, and removes the programs. */
void remotes_close(struct agent *a, const char *job);
void remotes_close_all(struct agent *a);

/* A message of the daemon, with what goes with it. A malformed one is dropped. */
void remotes_hear(struct agent *a, json_t *msg, const char *bytes, size_t n);

/* For the poll loop, as in tasks.h. */
size_t remotes_poll_count(const struct agent *a);
void remotes_poll_fill(const struct agent *a, struct pollfd *p);
void remotes_poll_act(struct agent *a, const struct pollfd *p, size_t n);
int remotes_poll_timeout(const struct agent *a);

#endif
