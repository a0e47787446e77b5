/* SPDX-License-Identifier: MIT
 *
 * Each member of a machine has its own function, so that a list with few members needs little time.
 * The functions are in the order in which the members are shown.
 */
#include "api/admin/node_json.h"

#include <string.h>

#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/enums.h"

static void add_value(json_t *to, const char *name, int64_t value)
{
    if (value != SAMPLE_UNKNOWN)
        json_object_set_new(to, name, json_integer(value));
}

#define ADD_VALUE(member, name, most) add_value(to, name, g->member);

json_t *sample_show(const struct node_sample *g)
{
    char time[TIMEFMT_SIZE];
    timefmt_wire(g->at_us, time);
    json_t *to = json_pack("{s:s}", "time", time);
    SAMPLE_NODE_VALUES(ADD_VALUE)
    return to;
}

static json_t *show_processes(const struct gpu_sample *g)
{
    json_t *list = json_array();
    for (int i = 0; i < g->listed; i++) {
        json_t *to = json_pack("{s:I}", "pid", (json_int_t)g->processes[i].pid);
        add_value(to, "memoryBytes", g->processes[i].memory);
        json_array_append_new(list, to);
    }
    return list;
}

void gpu_sample_show(const struct gpu_sample *g, json_t *to)
{
    if (*g->uuid)
        json_object_set_new(to, "uuid", json_string(g->uuid));
    SAMPLE_GPU_VALUES(ADD_VALUE)
    if (g->listed > 0)
        json_object_set_new(to, "processList", show_processes(g));
}

static json_t *texts(const char *const *list)
{
    json_t *out = json_array();
    for (; list && *list; list++)
        json_array_append_new(out, json_string(*list));
    return out;
}

/* The words of a text such as "docker podman" as a JSON array. */
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
        if (g->outside)
            json_object_set_new(to, "outside", json_true());
        if (g->last)
            gpu_sample_show(g->last, to);
        json_array_append_new(list, to);
    }
    return list;
}

#define MEMBER(function, value)                                                                    \
    static json_t *function(struct request *r, const void *row)                                    \
    {                                                                                              \
        const struct machine_view *m = row;                                                        \
        (void)r;                                                                                   \
        return value;                                                                              \
    }
MEMBER(name, jsontext_string(m->name))
MEMBER(state, json_string(m->state))
MEMBER(is_local, json_boolean(m->is_local))
MEMBER(drained, json_boolean(m->drained))
MEMBER(reason, jsontext_optional(m->reason))
MEMBER(node, jsontext_optional(m->node))
MEMBER(cluster, jsontext_optional(m->pool))
MEMBER(job, jsontext_optional(m->runs))
MEMBER(vm_sizes, texts(m->vm_sizes))
MEMBER(priority, json_string(enum_to_name(vm_priority_names, (int)m->priority)))
MEMBER(contact, render_time(m->contact_us))
MEMBER(capacity, render_capacity(m, &m->has))
MEMBER(taken, render_capacity(m, &m->taken))
MEMBER(facts, m->has_facts ? render_facts(&m->facts) : NULL)
MEMBER(sample, m->sample ? sample_show(m->sample) : NULL)
MEMBER(gpus, render_gpus(m))

const struct member node_members[] = {
    {"name", name},
    {"state", state},
    {"local", is_local},
    {"drained", drained},
    {"reason", reason},
    {"node", node},
    {"cluster", cluster},
    {"job", job},
    {"vmSizes", vm_sizes},
    {"vmPriority", priority},
    {"lastContactTime", contact},
    {"capacity", capacity},
    {"taken", taken},
    {"facts", facts},
    {"sample", sample},
    {"gpus", gpus},
    {NULL, NULL},
};

json_t *node_show(struct request *r, const struct machine_view *m)
{
    return members_show(r, node_members, UINT64_MAX, m);
}
