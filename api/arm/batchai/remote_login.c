/* SPDX-License-Identifier: MIT */
#include "api/arm/batchai/remote_login.h"

#include "scheduler/fleet/fleet.h"

struct replied *reply_remote_login(struct request *r, const struct node *nodes, size_t n)
{
    struct strbuf out = STRBUF_INIT;
    strbuf_puts(&out, "{\"value\":[");
    for (size_t i = 0; i < n; i++) {
        struct node_login login;
        fleet_node_login(arm_of(r)->fleet, &r->arena, &nodes[i], &login);
        json_auto_t *row = json_pack("{s:s, s:s, s:i}", "nodeId", nodes[i].name, "ipAddress",
                                     login.address, "port", login.port);
        if (i > 0)
            strbuf_putc(&out, ',');
        schema_render_tree(&out, &schema_remote_login, r->version, row);
    }
    strbuf_puts(&out, "]}");
    return reply_json_text(r, 200, &out);
}
