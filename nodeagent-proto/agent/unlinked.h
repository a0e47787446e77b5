/* SPDX-License-Identifier: MIT
 *
 * Removes directories that are used through symbolic links alone (unpacked archives) when no link
 * leads to them any more.
 */
#ifndef NODEAGENT_PROTO_AGENT_UNLINKED_H
#define NODEAGENT_PROTO_AGENT_UNLINKED_H

#include "lib/err.h"
#include "nodeagent-proto/agent/mounts.h"

struct unlinked {
    const char *root, *trash;
    const char *dir;   /* removes each entry right below this directory */
    const char *used;  /* unless a link at or below this path leads to the entry */
    const char *links; /* also removes links right below this path that led to removed entries */
    struct mounts_kept *mounts;
};

/* Moves the unused entries of `dir` to the trash; a missing directory counts as empty. Returns 1 if
 * something was moved. */
int unlinked_discard(const struct unlinked *u, struct err *e) MUST_CHECK;

#endif
