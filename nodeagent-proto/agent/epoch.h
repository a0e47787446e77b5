/* SPDX-License-Identifier: MIT
 *
 * Decides for which daemon a node works: for the daemon that has sent a hello with the highest term
 * so far, which is stored in ROOT/epoch. A daemon with a lower term (a second instance, or one on a
 * machine that was unreachable for some time) may read everything but change nothing.
 */
#ifndef NODEAGENT_PROTO_AGENT_EPOCH_H
#define NODEAGENT_PROTO_AGENT_EPOCH_H

#include <stdbool.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

struct agent_epoch {
    int64_t term; /* the highest term seen; 0: no daemon has sent one yet */
    char id[64];
    int64_t speaks; /* the term of the daemon at the other end of this agent's link */
};

/* Reads ROOT/epoch, if it exists. */
int epoch_open(struct agent_epoch *ep, const char *root, struct err *e) MUST_CHECK;
/* Sets ep->speaks to the term of a daemon's hello. If the term is the highest so far, this also
 * writes it to disk before it returns. */
int epoch_hear(struct agent_epoch *ep, const char *root, const struct node_epoch *said,
               struct err *e) MUST_CHECK;
/* Returns 0 if the daemon of ep->speaks may change something on this node. */
int epoch_may_change(const struct agent_epoch *ep, const char *op, struct err *e) MUST_CHECK;

#endif
