/* SPDX-License-Identifier: MIT
 *
 * The programs that the daemon can put on a machine, for each architecture: the agent and, where
 * the site runs command lines of Windows, their interpreter. Read once at start and shared by all
 * SSH links. Named on the machine by the SHA-256 of their content.
 */
#ifndef NODEAGENT_PROTO_LINK_AGENTS_H
#define NODEAGENT_PROTO_LINK_AGENTS_H

#include <stddef.h>

#include "lib/err.h"

enum node_program_kind { NODE_PROGRAM_AGENT, NODE_PROGRAM_CMD, NODE_PROGRAMS };

struct node_agent_file {
    const char *arch;     /* as `uname -m` prints it: x86_64, aarch64 */
    const char *path;     /* a batchai-node for it, statically linked */
    const char *cmd_path; /* a batchai-cmd, likewise; NULL: machines get none */
};

struct node_program {
    char *bytes; /* NULL: there is none to be put on machines */
    size_t n;
    char name[96]; /* of its file there: the program's, then the SHA-256 of the bytes, in hex */
};

struct node_agent_image {
    char *arch;
    struct node_program programs[NODE_PROGRAMS];
    char *no_cmd; /* why there is no batchai-cmd although a path was given; NULL: none was */
};

struct node_agents {
    size_t n;
    struct node_agent_image images[];
};

/* Reads the files (blocking: before the loop runs); the caller frees. A batchai-cmd that cannot be
 * read is not an error: the tasks that need it fail. */
int node_agents_load(const struct node_agent_file *files, size_t n, struct node_agents **out,
                     struct err *e) MUST_CHECK;
void node_agents_free(struct node_agents *a);

#endif
