/* SPDX-License-Identifier: MIT */
#include "api/batchai/remote_login.h"

#include "scheduler/fleet/fleet.h"
#include "scheduler/scheduler.h"

struct replied *reply_remote_login(struct request *r, const struct node *nodes, size_t n)
{
    json_t *value = json_array();
    for (size_t i = 0; i < n; i++) {
        struct node_login login;
        fleet_node_login(sched_fleet(arm_of(r)->sched), &r->arena, &nodes[i], &login);
        json_t *row = json_pack("{s:s, s:s, s:i}", "nodeId", nodes[i].name, "ipAddress",
                                login.address, "port", login.port);
        json_array_append_new(value,
                              row ? schema_render(&schema_remote_login, r->version, row) : NULL);
        json_decref(row);
    }
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}
