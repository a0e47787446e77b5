/* SPDX-License-Identifier: MIT
 *
 * Which daemon a node works for: the newest that ever said hello, kept in ROOT/epoch. An older
 * daemon (one that was started twice, or whose machine came back) may look but change nothing.
 */
#ifndef NODEAGENT_PROTO_AGENT_EPOCH_H
#define NODEAGENT_PROTO_AGENT_EPOCH_H

#include <stdbool.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

struct agent_epoch {
    int64_t term; /* the highest; 0: no daemon has sent one yet */
    char id[64];
    int64_t speaks; /* the term of the daemon that this agent serves */
};

/* Reads the file below `root`. */
int epoch_open(struct agent_epoch *ep, const char *root, struct err *e) MUST_CHECK;
/* A daemon has said hello. If it is the newest so far, its epoch is on disk when this returns. */
int epoch_hear(struct agent_epoch *ep, const char *root, const struct node_epoch *said,
               struct err *e) MUST_CHECK;
/* Whether the daemon may change anything here. */
int epoch_may_change(const struct agent_epoch *ep, const char *op, struct err *e) MUST_CHECK;

#endif
