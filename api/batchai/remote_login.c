/* SPDX-License-Identifier: MIT */
#include "api/batchai/remote_login.h"

/* The service gave the first node port 50000, the second 50001, ... on one address. */
#define FIRST_PORT 50000

struct replied *reply_remote_login(struct request *r, const struct node *nodes, size_t n)
{
    json_t *value = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(value,
                              json_pack("{s:s, s:s, s:i}", "nodeId", nodes[i].name, "ipAddress",
                                        "127.0.0.1", "port", FIRST_PORT + nodes[i].ordinal - 1));
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}
