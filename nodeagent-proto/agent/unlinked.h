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
    const char *used;  /* unless a link at or below this leads to it; */
    const char *links; /* also removes links right below this that led there */
    struct mounts_kept *mounts;
};

/* Moves the directory's content to the trash; a missing directory is like an empty one. Returns 1
 * if something was moved. */
int unlinked_discard(const struct unlinked *u, struct err *e) MUST_CHECK;

#endif
