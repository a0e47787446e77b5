/* SPDX-License-Identifier: MIT
 *
 * Directories that are used by way of symbolic links alone, as unpacked archives are: those that no
 * link leads to any more are removed.
 */
#ifndef NODEAGENT_PROTO_AGENT_UNLINKED_H
#define NODEAGENT_PROTO_AGENT_UNLINKED_H

#include "lib/err.h"
#include "nodeagent-proto/agent/mounts.h"

struct unlinked {
    const char *root, *trash;
    const char *dir;   /* what is right below it is removed, */
    const char *used;  /* unless a link at or below this leads to it; */
    const char *links; /* and links right below this that led there */
    struct mounts_kept *mounts;
};

/* What is not there counts as empty. Returns 1 if something was moved to the trash. */
int unlinked_discard(const struct unlinked *u, struct err *e) MUST_CHECK;

#endif
