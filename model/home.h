/* SPDX-License-Identifier: MIT
 *
 * The place of resources from api-versions without workspaces. 2017-09-01-preview and 2018-03-01
 * have resource groups only. The daemon stores their resources in one workspace of the group,
 * "migrated", and their jobs in its experiment "migrated"; it makes both together with the first
 * resource. From 2018-05-01 on, users see them as an ordinary workspace and experiment, which they
 * may also make or delete. The old versions see only the content of these two, so that a name means
 * one resource in each group. Ids are stored in the long form, with the workspace; this file
 * converts between the long and the short form.
 */
#ifndef MODEL_HOME_H
#define MODEL_HOME_H

#include <stdbool.h>

#include "model/resource.h"

#define HOME_WORKSPACE  "migrated"
#define HOME_EXPERIMENT "migrated"

/* True: old versions see a resource with this scope. If the scope has an experiment, the resource
 * is a job. */
bool home_has(const struct scope *s);

/* ".../Microsoft.BatchAI/clusters/c" -> ".../workspaces/migrated/clusters/c". The caller frees;
 * NULL for an id of another form. Not for jobs, because no property refers to their ids. */
char *home_long_id(const char *id);
/* Whether a path in one form is the resource `outer` in the other form, or below it. False if both
 * have the same form. Unlike home_long_id(), for jobs, too. */
bool home_path_within(const char *path, const char *outer);
/* The opposite of home_long_id(); NULL if old versions do not see the resource. */
char *home_short_id(const char *id);

#endif
