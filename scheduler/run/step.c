/* SPDX-License-Identifier: MIT
 *
 * The common part of all requests of a run: the count of replies that a slot still waits for,
 * limits, paths and the account of its processes. A step is owned by the request until its reply.
 */
#include "scheduler/run/step.h"

#include <string.h>

struct run_step *step_new(struct run_slot *slot, enum failure_code code, const char *what)
{
    struct run_step *st = arena_alloc(&slot->a, sizeof *st);
    *st = (struct run_step){.slot = slot, .code = code, .what = what};
    slot->pending++;
    return st;
}

bool step_answered(struct run_slot *slot)
{
    if (!slot->tenant.node || !node_rt_link(slot->tenant.node))
        return false;
    if (--slot->pending == 0)
        wake(slot->run->runs->wakes, &woken_run, slot->run->row.id);
    return true;
}

/* A working node leaves only a few of these requests unanswered, because it answers in order. */
#define FORGETTING_MAX 1000

static void on_forgotten(void *ctx, const struct err *why)
{
    struct run_slot *slot = ctx;
    (void)why; /* the request is sent again at the run's end */
    if (step_answered(slot))
        slot->forgetting--;
}

bool slot_forget_task(struct run_slot *slot, const char *id)
{
    if (slot->forgetting == FORGETTING_MAX)
        return false;
    slot->forgetting++;
    slot->pending++;
    node_ask(node_rt_link(slot->tenant.node), REQUEST(forget, .task = id), on_forgotten, slot);
    return true;
}

static const struct task_limits *limits_of(const struct runs *rs)
{
    static const struct task_limits none = {0};
    return fleet_site(rs->fleet) ? &fleet_site(rs->fleet)->limits : &none;
}

/* The lower of two limits; 0 means no limit. */
static int64_t lower(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Whether several tasks of the run may be on the node at once. */
static bool has_several(const struct run_slot *slot)
{
    const struct live_run *run = slot->run;
    int n = run->n_slots > 1 ? 2 : 0; /* remote commands may run, too */
    for (size_t i = 0; i < run->n_tasks && n < 2; i++)
        n += run->tasks[i].process->rank == slot->rank;
    return n > 1;
}

static bool limits_anything(const struct task_limits *l)
{
    return l->memory_bytes || l->cpus || l->processes || l->gpus;
}

/* The tasks of a run share their limits as one group if there may be several tasks or if any limit
 * is set, because tasks of terminals may be added later. A run that has a part of the node may use
 * as much of the node as it requested, and no more than the site allows each run. */
struct task_limits slot_limits(const struct run_slot *slot)
{
    struct task_limits l = *limits_of(slot->run->runs);
    if (slot->devices) {
        l.cpus = (int)lower(l.cpus, slot->takes.cores);
        l.memory_bytes = lower(l.memory_bytes, slot->takes.memory);
        l.gpus = slot->devices;
    }
    l.group = has_several(slot) || limits_anything(&l) ? slot->run->dir : NULL;
    return l;
}

const char *slot_std_path(struct run_slot *slot, const char *name)
{
    const char *suffix = slot->run->spec.file_suffix, *end = strrchr(name, '.');
    size_t n = suffix && end ? (size_t)(end - name) : strlen(name);
    return arena_printf(&slot->a, "%s/%.*s%s%s", slot->env.std_dir, (int)n, name,
                        suffix ? suffix : "", name + n);
}

struct task_view slot_view(const struct run_slot *slot, struct arena *a)
{
    const struct front_words *w = words_of(slot->run);
    if (slot->run->spec.pool_mounts.n == 0 || !w->mounts_path)
        return (struct task_view){NULL, NULL};
    return (struct task_view){node_mount_root(a, w, slot->root), w->mounts_path};
}

const char *slot_account(const struct run_slot *slot, struct arena *a)
{
    const struct live_run *run = slot->run;
    const struct place_spec *place = run->spec.place;
    return place ? node_rt_place_account(slot->tenant.node, a, place, run->dir)
                 : node_rt_run_account(slot->tenant.node, a, run->dir);
}

const struct run_task *slot_first_task(const struct run_slot *slot)
{
    const struct live_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank)
            return &run->tasks[i];
    return NULL;
}

bool run_waits_for_files(const struct live_run *run)
{
    const struct place_spec *place = run->spec.place;
    return place && (place->files.n > 0 || (place->team && place->team->files.n > 0));
}

int slot_gpus(const struct run_slot *slot)
{
    if (slot->takes.cores > 0 || slot->devices)
        return slot->takes.gpus;
    return slot->tenant.node ? node_rt_gpus(slot->tenant.node) : 0;
}

struct launch_input run_launch_input(struct live_run *run)
{
    struct launch_node *nodes = arena_alloc(&run->a, (size_t)run->n_slots * sizeof *nodes);
    for (int i = 0; i < run->n_slots; i++) {
        const struct run_slot *slot = &run->slots[i];
        struct node_rt *rt = slot->tenant.node;
        bool local = rt && node_rt_is_local(rt);
        nodes[i] = (struct launch_node){
            .name = slot->node_name,
            .root = slot->root,
            .address = local && run->n_slots == 1 ? "127.0.0.1" : node_rt_address(rt),
            .is_local = local,
            .gpus = slot_gpus(slot),
            .cores = slot->takes.cores > 0 ? slot->takes.cores
                     : rt                  ? node_rt_cores(rt)
                                           : 0,
            .amd = slot->tenant.node && node_rt_gpus_are_amd(slot->tenant.node),
            .devices = slot->devices};
    }
    return (struct launch_input){.words = words_of(run),
                                 .spec = &run->spec,
                                 .run_guid = run->row.guid,
                                 .attempt = run->row.attempt,
                                 .number = run->row.id,
                                 .shared_root = run_shared_root(run->runs),
                                 .nodes = nodes,
                                 .n_nodes = (size_t)run->n_slots};
}
