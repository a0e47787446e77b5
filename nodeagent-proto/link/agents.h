/* SPDX-License-Identifier: MIT
 *
 * The agent programs that the daemon can put on a machine: one per architecture, read once at
 * start and shared by all SSH links. Named on the machine by the SHA-256 of their content.
 */
#ifndef NODEAGENT_PROTO_LINK_AGENTS_H
#define NODEAGENT_PROTO_LINK_AGENTS_H

#include <stddef.h>

#include "lib/err.h"

struct node_agent_file {
    const char *arch; /* as `uname -m` prints it: x86_64, aarch64 */
    const char *path; /* a batchai-node for it, statically linked */
};

struct node_agent_image {
    char *arch;
    char *bytes;
    size_t n;
    char hash[65]; /* SHA-256 of the bytes, in hex */
};

struct node_agents {
    size_t n;
    struct node_agent_image images[];
};

/* Reads the files (blocking: before the loop runs); the caller frees. */
int node_agents_load(const struct node_agent_file *files, size_t n, struct node_agents **out,
                     struct err *e) MUST_CHECK;
void node_agents_free(struct node_agents *a);

#endif
