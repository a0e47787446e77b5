/* SPDX-License-Identifier: MIT
 *
 * Role definitions: Azure's built-in roles, with Azure's GUIDs, and two roles of batchaid. Clients
 * cannot change them.
 */
#ifndef API_ACCESS_ROLES_H
#define API_ACCESS_ROLES_H

#include <stdbool.h>
#include <stddef.h>

#define ROLE_OWNER     "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
#define ROLE_READER    "acdd72a7-3385-48ef-bd42-f606fba81ae7"
#define ROLE_SUBMITTER "2b8f4a1e-7c53-4d0b-9a6e-5f1c0d3e7a94"
#define ROLE_ENTERER   "6c0d9be7-51f2-4a38-b7a4-90e3d25c8f16"

/* batchaid's own action: run processes on nodes as root, or as the daemon's user. All roles that
 * may write pools or clusters have it. */
#define ACTION_RUN_AS_ADMIN "batchaid/nodes/runAsAdmin/action"

/* Another action of batchaid: open a terminal in a running job of somebody else. A role must name
 * the action: a `*` does not include it (access_named()). */
#define ACTION_ENTER_JOBS "batchaid/jobs/enter/action"

#define ROLE_PATTERNS 16

/* Each list of patterns ends with NULL; `*` matches any text. An action is permitted if a pattern
 * of `actions` matches and no pattern of `not_actions` matches; data actions in the same way.
 * `own_actions`: actions that are permitted only on resources that the principal created. */
struct role {
    const char *guid, *name, *description;
    const char *actions[ROLE_PATTERNS], *not_actions[ROLE_PATTERNS];
    const char *own_actions[ROLE_PATTERNS];
    const char *data_actions[ROLE_PATTERNS], *not_data_actions[ROLE_PATTERNS];
};

extern const struct role roles[];
extern const size_t n_roles;

/* NULL: no role has this GUID. */
const struct role *role_by_guid(const char *guid);
const struct role *role_by_name(const char *name);
/* Whether one of the patterns matches; without regard to case. */
bool role_patterns_fit(const char *const *patterns, const char *action);

#endif
