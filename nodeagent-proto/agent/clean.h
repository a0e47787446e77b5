/* SPDX-License-Identifier: MIT
 *
 * Finds and removes tasks, accounts, mounts and directories that an earlier daemon left below a
 * node root.
 */
#ifndef NODEAGENT_PROTO_AGENT_CLEAN_H
#define NODEAGENT_PROTO_AGENT_CLEAN_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/uids.h"

/* Adds a text to `found` for each account, mount and directory: "account NAME", "mount PATH
 * (TYPE)", "directory PATH". */
int clean_list(const char *root, json_t *found, struct err *e) MUST_CHECK;
/* Removes everything that clean_list() finds. To be called in a worker process. */
int clean_take(const struct uid_holder *h, bool is_root, struct err *e) MUST_CHECK;
/* Removes the root and the files that the agent has made in it, and nothing else. */
int clean_remove_root(const char *root, struct err *e) MUST_CHECK;

/* True: `name` is a file of the agent in its root, which no other request may remove or replace. */
bool clean_is_own(const char *name, size_t n);

#endif
