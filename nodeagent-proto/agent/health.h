/* SPDX-License-Identifier: MIT
 *
 * The health of the machine, for the daemon's regular health requests. Never blocks.
 */
#ifndef NODEAGENT_PROTO_AGENT_HEALTH_H
#define NODEAGENT_PROTO_AGENT_HEALTH_H

#include "lib/strbuf.h"
#include "nodeagent-proto/wire/task.h"

struct agent_health {
    int kernel_log; /* /dev/kmsg, positioned after the records already read; -1: the agent may not
                       read it */
    struct strbuf errors;
    char disk_error[256];
};

/* Skips records that are already in the kernel's log. */
void health_open(struct agent_health *h);
void health_close(struct agent_health *h);

/* Fills *out; its texts are borrowed from `h` until the next call. With `tries`, writes a byte
 * below the root, because a failed disk may still report free space. */
void health_look(struct agent_health *h, const char *root, bool tries, struct node_health *out);

#endif
