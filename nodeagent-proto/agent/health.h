/* SPDX-License-Identifier: MIT
 *
 * How the machine is: asked for now and then, and never waits for anything.
 */
#ifndef NODEAGENT_PROTO_AGENT_HEALTH_H
#define NODEAGENT_PROTO_AGENT_HEALTH_H

#include "lib/strbuf.h"
#include "nodeagent-proto/wire/task.h"

struct health {
    int kernel_log; /* /dev/kmsg behind what was looked at; -1: not ours to read */
    struct strbuf errors;
};

/* What the kernel's log holds already is old news. */
void health_open(struct health *h);
void health_close(struct health *h);

/* *out borrows from `h` until the next look. */
void health_look(struct health *h, const char *root, struct node_health *out);

#endif
