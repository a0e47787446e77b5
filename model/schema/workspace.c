/* SPDX-License-Identifier: MIT
 *
 * Resource groups, workspaces and experiments: containers for the other resources.
 */
#include "model/schema/tables.h"

static const struct field properties_rows[] = {
    ENUM("provisioningState", READONLY, prov_state_names),
    TIME("provisioningStateTransitionTime", READONLY),
    TIME("creationTime", READONLY),
};
static SCHEMA(schema_properties, properties_rows, "WorkspaceProperties");

#define PROPERTIES_ROW OBJECT("properties", READONLY, schema_properties)

/* Empty tags in a request are kept, because in a PATCH they mean that all tags shall be removed. */
#define TAGS_ROW MAP("tags", MUTABLE | KEEP_EMPTY, .max = MAX_TAGS)

#define LOCATION_ROW TEXT("location", REQUIRED, 1, 128, .check = check_location)

/* The request body of a group; api/arm writes the replies by hand. */
static const struct field group_rows[] = {LOCATION_ROW, TAGS_ROW};
SCHEMA(schema_group, group_rows, "ResourceGroup");

static const struct field workspace_rows[] = {
    RESOURCE_ROWS,
    LOCATION_ROW,
    TAGS_ROW,
    PROPERTIES_ROW,
};
SCHEMA(schema_workspace, workspace_rows, "Workspace");

static const struct field workspace_update_rows[] = {TAGS_ROW};
SCHEMA(schema_workspace_update, workspace_update_rows, "WorkspaceUpdateParameters");

static const struct field experiment_rows[] = {RESOURCE_ROWS, PROPERTIES_ROW};
SCHEMA(schema_experiment, experiment_rows, "Experiment");
