/* SPDX-License-Identifier: MIT
 *
 * Requests about the machine: how it is, who may log in, restarting it.
 */
#include <string.h>

#include "nodeagent-proto/agent/ops_priv.h"
#include "nodeagent-proto/message.h"

enum outcome serve_health(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct node_health h;
    (void)req;
    health_look(&a->health, a->root, &h);
    json_t *health = message_health(&h);
    if (!health)
        return outcome(err_set(e, ERR_INTERNAL, NULL, "the kernel's log is not UTF-8"));
    json_object_set_new(reply, "health", health);
    return SERVE_DONE;
}
