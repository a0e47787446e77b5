/* SPDX-License-Identifier: MIT
 *
 * Looks at all machines of the inventory, and counts for each size the machines that fit a job.
 */
#include "daemon/cli/job_size.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "daemon/cli/cmd_jobs.h"
#include "model/capacity.h"

struct offer {
    const char *size;   /* borrowed from the list of machines */
    int machines, gpus; /* how many machines fit; the fewest GPUs of these, INT_MAX if not known */
};

struct offers {
    struct offer items[64];
    size_t n;
    int most_gpus;
    const char *most_on; /* the machine with the most GPUs; NULL: no machine has any */
    int machines;        /* the number of machines in the inventory */
    const char *any;     /* the size of machines without sizes */
};

static void offer(struct offers *all, const char *size, int gpus)
{
    struct offer *o = NULL;
    for (size_t i = 0; i < all->n && !o; i++)
        if (strcasecmp(all->items[i].size, size) == 0)
            o = &all->items[i];
    if (!o && all->n == sizeof all->items / sizeof all->items[0])
        return;
    if (!o) {
        o = &all->items[all->n++];
        *o = (struct offer){.size = size, .gpus = gpus};
    }
    o->machines++;
    o->gpus = gpus < o->gpus ? gpus : o->gpus;
}

static struct capacity capacity_of(const json_t *shown)
{
    return (struct capacity){
        .slots = (int)json_integer_value(json_object_get(shown, "slots")),
        .gpus = (int)json_integer_value(json_object_get(shown, "gpus")),
        .cores = (int)json_integer_value(json_object_get(shown, "cores")),
        .memory = json_integer_value(json_object_get(shown, "memoryBytes")),
    };
}

/* Offers a machine if the job fits on it, or if it was never reached: then its capacity is not
 * known, and best_of() prefers machines with a known capacity. */
static void look_at(struct offers *all, const json_t *machine, const struct capacity *need)
{
    const json_t *shown = json_object_get(machine, "capacity");
    const json_t *sizes = json_object_get(machine, "vmSizes");
    const char *priority = jobs_text(machine, "vmPriority");
    const struct capacity has = capacity_of(shown);
    if (json_is_true(json_object_get(machine, "local")))
        return;
    all->machines++;
    if (has.gpus > all->most_gpus) {
        all->most_gpus = has.gpus;
        all->most_on = jobs_text(machine, "name");
    }
    if ((shown && !capacity_fits(&has, need)) ||
        json_is_true(json_object_get(machine, "drained")) ||
        (priority && strcmp(priority, "dedicated") != 0))
        return;
    offer(all, json_array_size(sizes) ? json_string_value(json_array_get(sizes, 0)) : all->any,
          shown ? has.gpus : INT_MAX);
}

/* The size with the fewest GPUs that are enough; of equal ones, the size with the most machines. */
static const struct offer *best_of(const struct offers *all)
{
    const struct offer *best = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const struct offer *o = &all->items[i];
        if (!best || o->gpus < best->gpus ||
            (o->gpus == best->gpus && o->machines > best->machines))
            best = o;
    }
    return best;
}

static int none_fits(const struct offers *all, const struct capacity *need, struct arena *a,
                     struct err *e)
{
    bool asks = need->gpus > 0 || need->cores > 0 || need->memory > 0;
    if (all->most_on && all->most_gpus < need->gpus)
        return err_set(e, ERR_CONFIG, NULL,
                       "no machine has %d GPUs: the most are %d, on %.100s; use --gpus %d, or "
                       "more --nodes",
                       need->gpus, all->most_gpus, all->most_on, all->most_gpus);
    return err_set(e, ERR_CONFIG, NULL,
                   "none of the %d machines can run it%s%s; `batchaid nodes` shows why, and "
                   "--cluster NAME chooses an existing cluster",
                   all->machines, asks ? " with " : "", asks ? capacity_text(a, need) : "");
}

int job_size_choose(const json_t *machines, const struct options *o, struct arena *a,
                    struct job_place *p, struct err *e)
{
    struct offers all = {.any = p->vm_size};
    const struct capacity need = job_need(o);
    size_t i;
    const json_t *machine;
    json_array_foreach(machines, i, machine)
        look_at(&all, machine, &need);
    const struct offer *best = best_of(&all);
    if (all.machines > 0 && !best)
        return none_fits(&all, &need, a, e);
    p->nodes_max = best && best->machines > job_nodes(o) ? best->machines : job_nodes(o);
    if (best && strcasecmp(best->size, p->vm_size) != 0) {
        p->vm_size = arena_strdup(a, best->size);
        p->cluster = arena_lower(a, best->size);
    }
    return 0;
}
