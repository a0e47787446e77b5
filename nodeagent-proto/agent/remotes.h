/* SPDX-License-Identifier: MIT
 *
 * The agent's part in remote commands (wire/remote.h): a socket for each job. The ends of the job's
 * commands connect to it, and the agent passes messages between them and the daemon. The agent
 * keeps no messages: a message for an end that is missing, or does not read, is dropped, and the
 * ends notice the loss. Every message from a socket belongs to the socket's job, whatever its text.
 *
 * Bounds, because jobs may send anything: connections; the length of a message; messages a second
 * of all ends together, which the ends with messages share alike; bytes that wait for one end. An
 * end is read only while none of its messages waits, and no message is passed on while much output
 * waits for the link.
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

/* Opens the job's socket to the account (NULL: the agent's account), unless it is open. */
int remotes_open(struct agent *a, const char *job, const struct account *as,
                 struct err *e) MUST_CHECK;
/* Closes the job's socket, and the connections of its ends. NULL: closes all, and removes the
 * programs. */
void remotes_close(struct agent *a, const char *job);
void remotes_close_all(struct agent *a);

/* Handles a message of the daemon; `bytes`: the `n` bytes of data that came with it. A malformed
 * message is dropped. */
void remotes_hear(struct agent *a, json_t *msg, const char *bytes, size_t n);

/* For the poll loop, as in tasks.h. */
size_t remotes_poll_count(const struct agent *a);
void remotes_poll_fill(const struct agent *a, struct pollfd *p);
void remotes_poll_act(struct agent *a, const struct pollfd *p, size_t n);
int remotes_poll_timeout(const struct agent *a);

#endif
