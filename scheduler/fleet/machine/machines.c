/* SPDX-License-Identifier: MIT
 *
 * The machines of the inventory: the claim of each, drains, and known problems. A claim is a node
 * row that names the machine; the claims in memory are copies of the rows.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <strings.h>

#include "model/capacity.h"
#include <string.h>

#include "scheduler/fleet/fleet_priv.h"

void machine_text(char **field, const char *text)
{
    char *copy = text ? xstrdup(text) : NULL; /* `text` may point into the field itself */
    free(*field);
    *field = copy;
}

struct machine *machine_find(const struct fleet *fl, int64_t id)
{
    return id_map_find(&fl->machine_ids, id);
}

/* --- claims of machines ----------------------------------------------------------------------- */

bool fleet_is_scripted(const struct fleet *fl, const char *vm_size)
{
    const char *sizes = fleet_scripted_sizes(fl);
    return sizes && fnmatch(sizes, vm_size, FNM_CASEFOLD) == 0;
}

const char *fleet_scripted_sizes(const struct fleet *fl)
{
    return fl->cfg.scripted ? fl->cfg.scripted_sizes : NULL;
}

bool fleet_is_size_of(const char *const *sizes, const char *vm_size)
{
    for (; *sizes; sizes++)
        if (strcasecmp(*sizes, vm_size) == 0)
            return true;
    return false;
}

bool machine_serves(const struct machine *m, const char *vm_size, enum vm_priority priority)
{
    bool lent = m->lends && priority == VM_LOWPRIORITY;
    if (!m->site || m->leaves || (m->site->group->priority != priority && !lent))
        return false;
    const char *const *sizes = m->site->group->vm_sizes;
    return !sizes || !*sizes || fleet_is_size_of(sizes, vm_size);
}

/* Whether a dedicated pool that is short of machines could use this machine. */
static bool is_wanted(const struct fleet *fl, const struct machine *m)
{
    for (size_t i = 0; i < fl->n_wishes; i++)
        if (machine_serves(m, fl->wishes[i].vm_size, VM_DEDICATED))
            return true;
    return false;
}

bool machine_drained_by_health(const struct machine *m)
{
    return m->drained && m->reason &&
           strncmp(m->reason, HEALTH_DRAIN_PREFIX, strlen(HEALTH_DRAIN_PREFIX)) == 0;
}

/* A machine that its health command has drained may be claimed: only then the command runs again.
 */
static bool is_free(const struct fleet *fl, const struct machine *m, enum vm_priority priority)
{
    bool lent = m->lends && priority == VM_LOWPRIORITY;
    return m->node_id == 0 && (!m->drained || machine_drained_by_health(m)) &&
           !(lent && is_wanted(fl, m));
}

static void forget_wish(struct fleet *fl, size_t i)
{
    free(fl->wishes[i].vm_size);
    fl->wishes[i] = fl->wishes[--fl->n_wishes];
}

bool machines_want(struct fleet *fl, int64_t pool_id, const char *vm_size)
{
    size_t before = fl->n_wishes;
    for (size_t i = fl->n_wishes; i-- > 0;)
        if (fl->wishes[i].pool_id == pool_id)
            forget_wish(fl, i);
    if (!vm_size)
        return fl->n_wishes < before;
    fl->wishes = xrealloc(fl->wishes, (fl->n_wishes + 1) * sizeof *fl->wishes);
    fl->wishes[fl->n_wishes++] = (struct machine_wish){pool_id, xstrdup(vm_size)};
    return false;
}

void machines_lent(const struct fleet *fl, struct arena *a, const char *vm_size, int64_t **nodes,
                   size_t *n)
{
    *nodes = arena_alloc(a, (fl->n_machines + 1) * sizeof **nodes);
    *n = 0;
    for (size_t i = 0; i < fl->n_machines; i++) {
        const struct machine *m = fl->machines[i];
        if (m->lends && m->node_id != 0 && !m->drained && machine_serves(m, vm_size, VM_DEDICATED))
            (*nodes)[(*n)++] = m->node_id;
    }
}

void machines_count(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                    int *serving, int *free_now)
{
    *serving = *free_now = 0;
    for (size_t i = 0; i < fl->n_machines; i++) {
        if (!machine_serves(fl->machines[i], vm_size, priority))
            continue;
        ++*serving;
        *free_now += is_free(fl, fl->machines[i], priority);
    }
}

int machines_good(const struct fleet *fl, const char *vm_size, enum vm_priority priority)
{
    int n = 0;
    for (size_t i = 0; i < fl->n_machines; i++) {
        const struct machine *m = fl->machines[i];
        n += is_free(fl, m, priority) && !m->drained && !m->trouble &&
             machine_serves(m, vm_size, priority);
    }
    return n;
}

/* The number of classes of free machines, from most promising (0) to least. Machines that
 * machines_good() counts are before all others, lent or not: a node that is replaced gets one. */
#define PROMISES 8
static int promise(const struct machine *m, enum vm_priority priority)
{
    int lent = m->lends && priority == VM_LOWPRIORITY;
    if (m->drained || m->trouble)
        return PROMISES / 2 + (m->drained ? 2 : 0) + lent;
    return 2 * lent + (m->contact_us == 0 ? 1 : 0);
}

int64_t machines_pick(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                      struct machine_pick *pick, const char **name)
{
    for (; pick->promise < PROMISES; pick->promise++, pick->next = 0)
        while (pick->next < fl->n_machines) {
            const struct machine *m = fl->machines[pick->next++];
            if (promise(m, priority) != pick->promise || !is_free(fl, m, priority) ||
                !machine_serves(m, vm_size, priority))
                continue;
            *name = m->name;
            return m->id;
        }
    *name = NULL;
    return 0;
}

void machine_claim(struct machine *m, int64_t node_id, int64_t pool_id)
{
    m->node_id = node_id;
    m->pool_id = pool_id;
}

void machines_note_claims(struct fleet *fl, const struct node_use *uses, size_t n)
{
    for (size_t i = 0; i < fl->n_machines; i++) {
        machine_claim(fl->machines[i], 0, 0);
        fl->machines[i]->unproved = false;
    }
    for (size_t i = 0; i < n; i++) {
        struct machine *m = machine_find(fl, uses[i].machine_id);
        if (!m)
            continue;
        machine_claim(m, uses[i].node_id, uses[i].pool_id);
        m->unproved = uses[i].unused && machine_drained_by_health(m);
    }
}

void machines_claimed(struct fleet *fl, int64_t machine_id, int64_t node_id, int64_t pool_id)
{
    struct machine *m = machine_find(fl, machine_id);
    if (!m)
        return;
    machine_claim(m, node_id, pool_id);
    m->unproved = m->drained;
}

bool machines_use(const struct fleet *fl, int64_t machine_id, struct machine_use *out)
{
    const struct machine *m = machine_find(fl, machine_id);
    if (m)
        *out = (struct machine_use){.name = m->name,
                                    .reason = m->reason,
                                    .drained = m->drained,
                                    .in_inventory = m->site && !m->leaves,
                                    .leaves = m->leaves,
                                    .unproved = m->unproved,
                                    .troubled = m->trouble != NULL};
    return m != NULL;
}

void effect_reread_machines(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    (void)id;
    if (why)
        machines_reread(fl);
}

void machine_release(struct fleet *fl, int64_t node_id)
{
    for (size_t i = 0; i < fl->n_machines; i++) {
        if (fl->machines[i]->node_id != node_id)
            continue;
        machine_claim(fl->machines[i], 0, 0);
        machine_changed(fl, fl->machines[i]);
        wake_when_durable(fl->wakes, effect_reread_machines, fl, node_id);
        if (fl->machines[i]->leaves)
            wake_durable(fl->wakes, &woken_inventory, THE_INVENTORY);
    }
}

void machines_reread(struct fleet *fl)
{
    struct arena a;
    struct err e = {0};
    struct machine_row *rows;
    struct node_use *uses;
    size_t n, n_uses;
    arena_init(&a);
    if (fl->n_machines > 0 && st_machine_list(fl->st, &a, &rows, &n, &e) == 0 &&
        st_node_uses(fl->st, &a, &uses, &n_uses, &e) == 0) {
        for (size_t i = 0; i < n; i++) {
            struct machine *m = machine_find(fl, rows[i].id);
            if (m) {
                m->drained = rows[i].drained;
                machine_text(&m->reason, rows[i].reason);
            }
        }
        machines_note_claims(fl, uses, n_uses);
        machines_all_changed(fl);
        fleet_capacity_freed(fl, true);
    } else if (fl->n_machines > 0) {
        LOG_ERROR(fl->log, "inventory.not_applied", LF_STR("why", e.msg));
    }
    arena_free(&a);
}

/* --- available machines ----------------------------------------------------------------------- */

/* Unknown amounts are 0. has->slots is 0 only if no such node was reached yet; then it may fit. */
static bool fits_one(const struct capacity *has, const struct capacity *need, struct capacity *most)
{
    if (has->slots == 0)
        return true;
    capacity_raise(most, has);
    return capacity_fits(has, need);
}

bool fleet_part_fits(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                     const struct capacity *need, struct capacity *most)
{
    int serving = 0;
    *most = (struct capacity){0};
    for (size_t i = 0; i < fl->n_machines; i++) {
        const struct machine *m = fl->machines[i];
        if (!machine_serves(m, vm_size, priority))
            continue;
        serving++;
        if (fits_one(&m->has, need, most))
            return true;
    }
    return serving == 0 && fits_one(&fl->local_has, need, most);
}

/* --- facts and problems of machines ----------------------------------------------------------- */

void machine_contact(struct fleet *fl, struct machine *m, const struct node_facts *facts)
{
    if (m->trouble || m->contact_us == 0)
        machine_changed(fl, m);
    m->contact_us = wakes_wall(fl->wakes);
    if (m->trouble) {
        machine_text(&m->trouble, NULL);
        fleet_pool_changed(fl, m->pool_id);
        fleet_capacity_freed(fl, false);
    }
    if (!facts)
        return;
    free(m->facts);
    m->facts = node_facts_text(facts);
    struct err e = {0};
    if (st_machine_set_contact(fl->st, m->id, m->contact_us, m->facts, &e) != 0)
        LOG_ERROR(fl->log, "machine.contact_not_written", LF_STR("machine", m->name),
                  LF_STR("why", e.msg));
}

void machine_trouble(struct fleet *fl, struct machine *m, const char *why)
{
    if (strcmp(m->trouble ? m->trouble : "", why ? why : "") != 0)
        machine_changed(fl, m);
    machine_text(&m->trouble, why);
}

/* --- counts of machines that no pool has, for metrics --------------------------------------- */

static enum machine_rest rest_of(const struct machine *m)
{
    if (m->drained)
        return MACHINE_DRAINED;
    if (m->trouble)
        return MACHINE_UNREACHABLE;
    return m->contact_us == 0 ? MACHINE_UNKNOWN : MACHINE_FREE;
}

void fleet_count_unclaimed(const struct fleet *fl, struct machine_tally out[MACHINE_RESTS])
{
    for (size_t i = 0; i < MACHINE_RESTS; i++)
        out[i] = (struct machine_tally){0};
    for (size_t i = 0; i < fl->n_machines; i++) {
        const struct machine *m = fl->machines[i];
        if (m->node_id != 0)
            continue;
        out[rest_of(m)].machines++;
        out[rest_of(m)].gpus += m->has.gpus;
    }
}
