/* SPDX-License-Identifier: MIT
 *
 * The machines over HTTPS: list, show, drain, undrain, reboot. `batchaid nodes` is the client.
 */
#include <string.h>
#include <strings.h>

#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/admin/sample_json.h"
#include "api/http/accept.h"
#include "api/http/request.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/enums.h"
#include "model/schema_rows.h"
#include "scheduler/fleet/fleet.h"

#define REASON_MAX        500 /* bytes */
#define MACHINES_PER_TURN 50

/* --- a machine as JSON ---------------------------------------------------------------------- */

static json_t *texts(const char *const *list)
{
    json_t *out = json_array();
    for (; list && *list; list++)
        json_array_append_new(out, json_string(*list));
    return out;
}

/* "docker podman" as a list. */
static json_t *words(const char *text)
{
    json_t *out = json_array();
    for (const char *p = text ? text : ""; *(p += strspn(p, " "));) {
        size_t n = strcspn(p, " ");
        json_array_append_new(out, json_stringn(p, n));
        p += n;
    }
    return out;
}

static json_t *render_facts(const struct node_facts *f)
{
    json_t *gpus = f->gpus ? json_loads(f->gpus, 0, NULL) : NULL;
    const char *mpi = f->mpi && *f->mpi ? f->mpi : NULL;
    return json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*, s:b, s:i, s:I, s:I, s:o, s:o, s:s*}",
                     "agentVersion", f->agent_version, "hostname", f->hostname, "os", f->os, "arch",
                     f->arch, "user", f->user, "isRoot", (int)f->is_root, "cpus", f->cpus,
                     "memoryBytes", (json_int_t)f->memory_bytes, "diskFreeBytes",
                     (json_int_t)f->disk_free_bytes, "gpus", gpus ? gpus : json_array(),
                     "containerRuntimes", words(f->runtimes), "mpi", mpi);
}

static json_t *render_time(int64_t us)
{
    char text[TIMEFMT_SIZE];
    if (us == 0)
        return NULL;
    timefmt_wire(us, text);
    return json_string(text);
}

/* NULL: not known. A node that was not reached yet has one slot and nothing else. */
static json_t *render_capacity(const struct machine_view *m, const struct capacity *c)
{
    if (m->has.slots == 0 || m->has.cores == 0)
        return NULL;
    return json_pack("{s:i, s:i, s:i, s:I}", "slots", c->slots, "gpus", c->gpus, "cores", c->cores,
                     "memoryBytes", (json_int_t)c->memory);
}

static json_t *render_gpus(const struct machine_view *m)
{
    json_t *list = m->n_gpus > 0 ? json_array() : NULL;
    for (int i = 0; i < m->n_gpus; i++) {
        const struct gpu_view *g = &m->gpus[i];
        json_t *to = json_pack("{s:i, s:s}", "index", g->index, "state", gpu_state_names[g->state]);
        if (g->last)
            gpu_sample_show(g->last, to);
        json_array_append_new(list, to);
    }
    return list;
}

static json_t *render(const struct machine_view *m)
{
    const char *priority = enum_to_name(vm_priority_names, (int)m->priority);
    return json_pack(
        "{s:s, s:s, s:b, s:b, s:o*, s:s*, s:s*, s:s*, s:o, s:s, s:o*, s:o*, s:o*, s:o*, s:o*, "
        "s:o*}",
        "name", m->name, "state", m->state, "local", (int)m->is_local, "drained", (int)m->drained,
        "reason", jsontext_optional(m->reason), "node", m->node, "cluster", m->pool, "job", m->runs,
        "vmSizes", texts(m->vm_sizes), "vmPriority", priority, "lastContactTime",
        render_time(m->contact_us), "capacity", render_capacity(m, &m->has), "taken",
        render_capacity(m, &m->taken), "facts", m->has_facts ? render_facts(&m->facts) : NULL,
        "sample", m->sample ? sample_show(m->sample) : NULL, "gpus", render_gpus(m));
}

/* --- handlers ------------------------------------------------------------------------------- */

/* Thousands of machines with their GPUs are read and shown in several turns of the loop. */
struct listing {
    struct machines_reading *reading;
    bool read; /* list and n are set */
    struct machine_view *list;
    size_t n, at;
    struct strbuf text;
};

static void listing_free(void *ctx)
{
    struct listing *l = ctx;
    strbuf_free(&l->text);
}

static int read_some(struct listing *l, struct err *e)
{
    int rc = fleet_machines_more(l->reading, e);
    l->read = rc == 0;
    if (l->read)
        l->list = fleet_machines_list(l->reading, &l->n);
    return rc;
}

/* NULL: the rest follows. */
static struct replied *list_some(struct request *r, struct listing *l)
{
    struct err e;
    if (!l->read)
        return read_some(l, &e) < 0 ? reply_err(r, &e) : NULL;
    for (int i = 0; i < MACHINES_PER_TURN && l->at < l->n; i++, l->at++) {
        json_auto_t *one = render(&l->list[l->at]);
        strbuf_puts(&l->text, l->at > 0 ? "," : "{\"value\":[");
        jsontext_add(&l->text, one);
    }
    if (l->at < l->n)
        return NULL;
    strbuf_puts(&l->text, l->n > 0 ? "]}" : "{\"value\":[]}");
    return reply_json_text(r, 200, &l->text);
}

static void list_more(struct request *r, void *ctx)
{
    struct replied *done = list_some(r, ctx);
    if (done)
        request_finish(r, done);
    else
        request_again(r, list_more, ctx);
}

struct replied *nodes_list(struct request *r)
{
    struct listing *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct listing){.reading = fleet_machines_begin(admin_of(r)->fleet, &r->arena)};
    request_own_thing(r, l, listing_free);
    request_again(r, list_more, l);
    return reply_later(r);
}

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
    return m ? reply_json(r, status, render(m)) : reply_err(r, &e);
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
    json_t *machine = render(is);
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
