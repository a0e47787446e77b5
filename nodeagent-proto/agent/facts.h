/* SPDX-License-Identifier: MIT
 *
 * What a node is: gathered once at the agent's start, fast (no program is run).
 */
#ifndef NODEAGENT_PROTO_AGENT_FACTS_H
#define NODEAGENT_PROTO_AGENT_FACTS_H

#include <sys/utsname.h>

#include "lib/guid.h"
#include "nodeagent-proto/task.h"

struct facts {
    struct node_facts node; /* borrows from the rest */
    struct utsname uname;
    char boot_id[GUID_SIZE], incarnation[GUID_SIZE];
    char *gpus;
};

/* The incarnation is made in `root` if it has none yet. */
int facts_read(struct facts *f, const char *root, struct err *e) MUST_CHECK;
void facts_free(struct facts *f);

#endif
