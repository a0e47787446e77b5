/* SPDX-License-Identifier: MIT
 *
 * The health of the machine, which is asked for now and then. Never waits for anything.
 */
#ifndef NODEAGENT_PROTO_AGENT_HEALTH_H
#define NODEAGENT_PROTO_AGENT_HEALTH_H

#include "lib/strbuf.h"
#include "nodeagent-proto/wire/task.h"

struct agent_health {
    int kernel_log; /* /dev/kmsg, positioned behind the records already read; -1: we may not read it
                     */
    struct strbuf errors;
    char disk_error[256];
};

/* Skips what is already in the kernel's log. */
void health_open(struct agent_health *h);
void health_close(struct agent_health *h);

/* *out borrows from `h` until the next look. `tries`: a byte is written below the root to see
 * whether that works, which free space does not tell of a disk that has failed. */
void health_look(struct agent_health *h, const char *root, bool tries, struct node_health *out);

#endif
