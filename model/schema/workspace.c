/* SPDX-License-Identifier: MIT
 *
 * Resource groups, workspaces and experiments: containers for the other resources.
 */
#include "model/schema/tables.h"

static const struct field properties_rows[] = {
    {.name = "provisioningState",
     .kind = FIELD_ENUM,
     .flags = FIELD_READONLY,
     .values = prov_state_names},
    {.name = "provisioningStateTransitionTime", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    {.name = "creationTime", .kind = FIELD_TIME, .flags = FIELD_READONLY},
};
static SCHEMA(schema_properties, "WorkspaceProperties", properties_rows, NULL);

#define PROPERTIES_ROW                                                                             \
    {                                                                                              \
        .name = "properties", .kind = FIELD_OBJECT, .flags = FIELD_READONLY,                       \
        .sub = &schema_properties                                                                  \
    }

/* Empty tags are kept: in a PATCH they mean "remove them all". */
#define TAGS_ROW                                                                                   \
    {                                                                                              \
        .name = "tags", .kind = FIELD_MAP, .flags = FIELD_MUTABLE | FIELD_KEEP_EMPTY,              \
        .max = MAX_TAGS                                                                            \
    }

#define LOCATION_ROW                                                                               \
    {                                                                                              \
        .name = "location", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .min = 1, .max = 128,   \
        .check = check_location                                                                    \
    }

/* What a request may contain for a group; api/arm writes the replies by hand. */
static const struct field group_rows[] = {LOCATION_ROW, TAGS_ROW};
SCHEMA(schema_group, "ResourceGroup", group_rows, NULL);

static const struct field workspace_rows[] = {
    RESOURCE_ROWS,
    LOCATION_ROW,
    TAGS_ROW,
    PROPERTIES_ROW,
};
SCHEMA(schema_workspace, "Workspace", workspace_rows, NULL);

static const struct field workspace_update_rows[] = {TAGS_ROW};
SCHEMA(schema_workspace_update, "WorkspaceUpdateParameters", workspace_update_rows, NULL);

static const struct field experiment_rows[] = {RESOURCE_ROWS, PROPERTIES_ROW};
SCHEMA(schema_experiment, "Experiment", experiment_rows, NULL);
