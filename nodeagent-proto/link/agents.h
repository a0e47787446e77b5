/* SPDX-License-Identifier: MIT
 *
 * The programs that the daemon can install on a machine, for each architecture: the agent and,
 * where the site runs command lines of Windows, their interpreter. Read once at start and shared by
 * all SSH links. On the machine their names contain the SHA-256 of their content.
 */
#ifndef NODEAGENT_PROTO_LINK_AGENTS_H
#define NODEAGENT_PROTO_LINK_AGENTS_H

#include <stddef.h>

#include "lib/err.h"

enum node_program_kind { NODE_PROGRAM_AGENT, NODE_PROGRAM_CMD, NODE_PROGRAMS };

struct node_agent_file {
    const char *arch;     /* as `uname -m` prints it: x86_64, aarch64 */
    const char *path;     /* a batchai-node for this architecture, statically linked */
    const char *cmd_path; /* a batchai-cmd for this architecture, statically linked; NULL: machines
                             get none */
};

struct node_program {
    char *bytes; /* NULL: there is no program to install on machines */
    size_t n;
    char name[96]; /* the file's name on the machine: the program's name, then the SHA-256 of the
                      bytes, in hex */
};

struct node_agent_image {
    char *arch;
    struct node_program programs[NODE_PROGRAMS];
    char *no_cmd; /* why the batchai-cmd of the given path could not be read; NULL: it was read, or
                     no path was given */
};

struct node_agents {
    size_t n;
    struct node_agent_image images[];
};

/* Reads the files. It blocks, so call it before the loop runs. The caller frees *out. A batchai-cmd
 * that cannot be read is not an error: the tasks that need it fail. */
int node_agents_load(const struct node_agent_file *files, size_t n, struct node_agents **out,
                     struct err *e) MUST_CHECK;
void node_agents_free(struct node_agents *a);

#endif
