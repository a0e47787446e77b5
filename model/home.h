/* SPDX-License-Identifier: MIT
 *
 * Where the resources of the api-versions without workspaces live.
 *
 * 2017-09-01-preview and 2018-03-01 know resource groups only. What they create is kept in one
 * workspace of the group, "migrated", and jobs in its experiment "migrated", both made with the
 * first resource. From 2018-05-01 they are a workspace and an experiment like any other, which
 * people may also make or delete themselves. The old versions see only what is in these two, so
 * that a name means one resource in each group. Ids are stored in the long form; this file turns
 * one into the other.
 */
#ifndef MODEL_HOME_H
#define MODEL_HOME_H

#include <stdbool.h>

#include "model/resource.h"

#define HOME_WORKSPACE  "migrated"
#define HOME_EXPERIMENT "migrated"

/* Is this the scope of a resource (of a job, if it has an experiment) that old versions see? */
bool home_has(const struct scope *s);

/* ".../Microsoft.BatchAI/clusters/c" -> ".../workspaces/migrated/clusters/c". The caller frees;
 * NULL if the id has no such form. Not for jobs, whose ids nothing refers to. */
char *home_long_id(const char *id);
/* The opposite of home_long_id(); NULL if the id names nothing that old versions see. */
char *home_short_id(const char *id);

#endif
