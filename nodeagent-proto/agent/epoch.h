/* SPDX-License-Identifier: MIT
 *
 * Which daemon a node works for: the daemon with the highest term that ever sent hello, kept in
 * ROOT/epoch. An older daemon (a second instance, or a machine that came back) may read but change
 * nothing.
 */
#ifndef NODEAGENT_PROTO_AGENT_EPOCH_H
#define NODEAGENT_PROTO_AGENT_EPOCH_H

#include <stdbool.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

struct agent_epoch {
    int64_t term; /* the highest term seen; 0: no daemon has sent one yet */
    char id[64];
    int64_t speaks; /* the term of the daemon that this agent serves */
};

/* Reads the file below `root`. */
int epoch_open(struct agent_epoch *ep, const char *root, struct err *e) MUST_CHECK;
/* Records the term of a daemon's hello. If it is the highest so far, it is on disk when this
 * returns. */
int epoch_hear(struct agent_epoch *ep, const char *root, const struct node_epoch *said,
               struct err *e) MUST_CHECK;
/* Whether the daemon may change anything here. */
int epoch_may_change(const struct agent_epoch *ep, const char *op, struct err *e) MUST_CHECK;

#endif
