/* SPDX-License-Identifier: MIT
 *
 * Which daemon a node works for: the newest that ever said hello, kept in ROOT/epoch. An older one,
 * as the other half of a daemon that was started twice or a machine that came back, may look and
 * change nothing.
 */
#ifndef NODEAGENT_PROTO_AGENT_EPOCH_H
#define NODEAGENT_PROTO_AGENT_EPOCH_H

#include <stdbool.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

struct epoch {
    int64_t term; /* the highest; 0: no daemon said one yet */
    char id[64];
    int64_t speaks; /* the term of the daemon that this agent serves */
};

/* Reads what is kept below `root`. */
int epoch_open(struct epoch *ep, const char *root, struct err *e) MUST_CHECK;
/* A daemon said hello: if it is the newest so far, that is on disk when this returns. */
int epoch_hear(struct epoch *ep, const char *root, const struct node_epoch *said,
               struct err *e) MUST_CHECK;
/* Whether the daemon may change anything here. */
int epoch_may_change(const struct epoch *ep, const char *op, struct err *e) MUST_CHECK;

#endif
