/* SPDX-License-Identifier: MIT
 *
 * One machine over HTTPS: show, drain, undrain, reboot. `batchaid nodes` is the client.
 */
#include <string.h>
#include <strings.h>

#include "api/admin/admin.h"
#include "api/admin/node_json.h"
#include "api/admin/routes.h"
#include "api/http/accept.h"
#include "api/http/request.h"
#include "model/schema_rows.h"
#include "scheduler/fleet/fleet.h"

#define REASON_MAX 500 /* bytes */

/* The machine of the path; NULL: err. */
static const struct machine_view *machine_of(struct request *r, struct err *e)
{
    const char *name = request_param(r, "node");
    struct machine_view *list;
    size_t n;
    if (fleet_machines(admin_of(r)->fleet, &r->arena, &list, &n, e) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(list[i].name, name) == 0)
            return &list[i];
    err_set(e, ERR_MACHINE_NOT_FOUND, NULL,
            "There is no machine '%.200s'; GET /batchaid/nodes lists them.", name);
    return NULL;
}

/* Replies with the present state of the machine in the path. */
static struct replied *reply_machine(struct request *r, int status)
{
    struct err e;
    const struct machine_view *m = machine_of(r, &e);
    return m ? reply_json(r, status, node_show(r, m)) : reply_err(r, &e);
}

struct replied *nodes_get(struct request *r)
{
    return reply_machine(r, 200);
}

static const struct field drain_rows[] = {TEXT("reason", .max = REASON_MAX, INTO_SAME)};
static SCHEMA(drain_body, drain_rows, "Drain", .size = sizeof(const char *));

struct replied *nodes_drain(struct request *r)
{
    const char *reason = NULL;
    struct err e;
    if (request_read_body(r, &drain_body, &reason, &e) < 0 ||
        fleet_machine_drain(admin_of(r)->fleet, request_param(r, "node"), reason, &e) < 0)
        return reply_err(r, &e);
    return reply_machine(r, 200);
}

/* The last problem is cleared, so that the machine is tried again, and returned. */
struct replied *nodes_undrain(struct request *r)
{
    struct err e;
    const struct machine_view *was = machine_of(r, &e), *is = NULL;
    if (was && fleet_machine_undrain(admin_of(r)->fleet, request_param(r, "node"), &e) == 0)
        is = machine_of(r, &e);
    if (!is)
        return reply_err(r, &e);
    json_t *machine = node_show(r, is);
    if (was->trouble)
        json_object_set_new(machine, "lastTrouble", json_string(was->trouble));
    return reply_json(r, 200, machine);
}

struct replied *nodes_reboot(struct request *r)
{
    struct err e;
    if (fleet_machine_reboot(admin_of(r)->fleet, request_param(r, "node"), &e) < 0)
        return reply_err(r, &e);
    return reply_machine(r, 202);
}
