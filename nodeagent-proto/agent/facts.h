/* SPDX-License-Identifier: MIT
 *
 * The facts of a node, gathered quickly at the agent's start (no program is run).
 */
#ifndef NODEAGENT_PROTO_AGENT_FACTS_H
#define NODEAGENT_PROTO_AGENT_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "lib/err.h"
#include "lib/guid.h"
#include "nodeagent-proto/wire/task.h"

struct facts {
    struct node_facts node; /* its texts are borrowed from the other members */
    struct utsname uname;
    char boot_id[GUID_SIZE], incarnation[GUID_SIZE];
    const char *root; /* borrowed */
    char *gpus, *user, *runtimes, *mpi;
};

/* Makes the incarnation in `root` if it is missing. With `looking` it does not, and then the
 * incarnation is an empty text. */
int facts_read(struct facts *f, const char *root, bool looking, struct err *e) MUST_CHECK;
/* Reads the changeable facts again: clock, disk, and installed programs. */
void facts_refresh(struct facts *f);
void facts_free(struct facts *f);

#endif
