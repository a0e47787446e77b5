/* SPDX-License-Identifier: MIT
 *
 * A machine as JSON: NODE of docs/admin-api.md.
 */
#ifndef API_ADMIN_NODE_JSON_H
#define API_ADMIN_NODE_JSON_H

#include "api/admin/members.h"
#include "scheduler/fleet/fleet.h"

extern const struct member node_members[];
/* The members that a brief list has (fleet.h). */
#define NODE_BRIEF "name,state,local,drained,cluster"

json_t *node_show(struct request *r, const struct machine_view *m);

#endif
