/* SPDX-License-Identifier: MIT
 *
 * The HTTPS routes for one machine: show, drain, undrain, reboot. `batchaid nodes` is the client.
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

#define REASON_MAX 500 /* most bytes of a reason */

/* Finds a machine by name: 1, 0 (none) or -1. Reads a brief list, because the complete one takes
 * ten times as long. */
static int find(struct request *r, const char *name, struct machine_view *out, struct err *e)
{
    struct fleet *fl = admin_of(r)->fleet;
    struct machines_reading *v = fleet_machines_begin(fl, &r->arena, MACHINES_BRIEF);
    int rc = 1;
    size_t n;
    while (rc == 1)
        rc = fleet_machines_more(v, e);
    struct machine_view *list = fleet_machines_list(v, &n);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (strcasecmp(list[i].name, name) == 0) {
            *out = list[i];
            return fleet_machine_complete(fl, &r->arena, out, e);
        }
    return rc;
}

/* Finds the machine in the path; fails if there is none. */
static int machine_of(struct request *r, struct machine_view *out, struct err *e)
{
    const char *name = request_param(r, "node");
    int rc = find(r, name, out, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_MACHINE_NOT_FOUND, NULL,
                   "There is no machine '%.200s'; GET /batchaid/nodes lists them.", name);
}

/* Replies with the present state of the machine in the path. */
static struct replied *reply_machine(struct request *r, int status)
{
    struct err e;
    struct machine_view m;
    return machine_of(r, &m, &e) < 0 ? reply_err(r, &e) : reply_json(r, status, node_show(r, &m));
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

/* Also clears the machine's last problem, so that the fleet tries the machine again. The reply
 * shows the machine. */
struct replied *nodes_undrain(struct request *r)
{
    struct err e;
    struct machine_view was, is;
    if (machine_of(r, &was, &e) < 0 ||
        fleet_machine_undrain(admin_of(r)->fleet, request_param(r, "node"), &e) < 0 ||
        machine_of(r, &is, &e) < 0)
        return reply_err(r, &e);
    json_t *machine = node_show(r, &is);
    if (was.trouble)
        json_object_set_new(machine, "lastTrouble", json_string(was.trouble));
    return reply_json(r, 200, machine);
}

struct replied *nodes_reboot(struct request *r)
{
    struct err e;
    if (fleet_machine_reboot(admin_of(r)->fleet, request_param(r, "node"), &e) < 0)
        return reply_err(r, &e);
    return reply_machine(r, 202);
}
