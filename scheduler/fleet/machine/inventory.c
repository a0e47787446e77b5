/* SPDX-License-Identifier: MIT
 *
 * Makes the list of machines: the machines of the inventory, in its order, and machines that the
 * inventory no longer names but a node row still names.
 *
 *   named by the inventory     serves pools
 *   no longer named, claimed   `leaves`: serves no pool, gets no further run; its node leaves when
 *                              it is free, over the access that the old inventory gave. After a
 *                              restart this access is not known: `site` is NULL
 *   no longer named, free      forgotten: the row is removed
 *
 * machines_follow() applies the inventory at the start and each time it is replaced; it may be
 * repeated. A forgotten machine stays in memory as long as a node in memory names it, because the
 * node's link may be closing. It is freed when an inventory is applied after that.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scheduler/fleet/fleet_priv.h"
#include "scheduler/fleet/mount/file_server.h"
#include "scheduler/fleet/node/node_priv.h"

#define FOLLOW_AGAIN_US 1000000 /* us until the next try after a failure */

/* The rows of machines, and the changes by the inventory. */
struct inventory_rows {
    struct fleet *fl;
    const struct site *site;
    struct arena *a;
    struct machine_row *row;
    size_t n;
    struct node_use *uses;
    size_t n_uses;
    struct id_map claimed; /* machines that a node row names */
    const struct machine_row **by_name;
    /* ids of the rows of the inventory's machines, in its order; 0: the machine has no row */
    int64_t *ids;
    bool only_reads;
};

static int order_of_names(const void *pa, const void *pb)
{
    const struct machine_row *const *a = pa, *const *b = pb;
    return strcasecmp((*a)->name, (*b)->name);
}

static int order_of_name(const void *name, const void *pb)
{
    const struct machine_row *const *b = pb;
    return strcasecmp(name, (*b)->name);
}

static const struct machine_row *row_of(const struct inventory_rows *r, const char *name)
{
    const struct machine_row *const *found =
        bsearch(name, r->by_name, r->n, sizeof *r->by_name, order_of_name);
    return found ? *found : NULL;
}

static size_t in_site(const struct inventory_rows *r)
{
    return r->site ? r->site->n_machines : 0;
}

static int read_rows(struct inventory_rows *r, struct err *e)
{
    struct storage *st = r->fl->st;
    if (st_machine_list(st, r->a, &r->row, &r->n, e) != 0 ||
        st_node_uses(st, r->a, &r->uses, &r->n_uses, e) != 0)
        return -1;
    for (size_t i = 0; i < r->n_uses; i++)
        id_map_put(&r->claimed, r->uses[i].machine_id, NULL);
    r->by_name = arena_alloc(r->a, (r->n + 1) * sizeof *r->by_name);
    for (size_t i = 0; i < r->n; i++)
        r->by_name[i] = &r->row[i];
    qsort(r->by_name, r->n, sizeof *r->by_name, order_of_names);
    return 0;
}

/* Makes rows for new machines, and removes the rows of machines that neither the inventory nor a
 * node row names. */
static int write_rows(struct storage *st, void *ctx, struct err *e)
{
    struct inventory_rows *r = ctx;
    struct id_map named = {0};
    int rc = read_rows(r, e);
    r->ids = arena_alloc(r->a, (in_site(r) + 1) * sizeof *r->ids);
    for (size_t i = 0; rc == 0 && i < in_site(r); i++) {
        const struct machine_row *row = row_of(r, r->site->machines[i].name);
        if (row || r->only_reads)
            r->ids[i] = row ? row->id : 0;
        else
            rc = st_machine_put(st, r->site->machines[i].name, &r->ids[i], e);
        id_map_put(&named, r->ids[i], NULL);
    }
    for (size_t i = 0; rc == 0 && !r->only_reads && i < r->n; i++)
        if (!id_map_has(&named, r->row[i].id) && !id_map_has(&r->claimed, r->row[i].id))
            rc = st_machine_remove(st, r->row[i].id, e);
    id_map_free(&named);
    return rc;
}

static void take_row(struct machine *m, const struct machine_row *row)
{
    m->drained = row->drained;
    m->contact_us = row->contact_us;
    machine_text(&m->reason, row->reason);
    machine_text(&m->facts, row->facts);
}

/* Appends the machine with this row to the list: the struct in `before` if it is there, otherwise a
 * new one. */
static struct machine *take(struct fleet *fl, struct id_map *before, int64_t id, const char *name)
{
    struct machine *m = id_map_find(before, id);
    if (m) {
        id_map_remove(before, id);
    } else {
        m = xcalloc(1, sizeof *m);
        m->id = id;
        m->name = xstrdup(name);
    }
    id_map_put(&fl->machine_ids, id, m);
    fl->machines[fl->n_machines++] = m;
    return m;
}

static void take_named(struct inventory_rows *r, struct id_map *before)
{
    for (size_t i = 0; i < in_site(r); i++) {
        const struct site_machine *site = &r->site->machines[i];
        const struct machine_row *row = row_of(r, site->name);
        if (r->ids[i] == 0)
            continue;
        struct machine *m = take(r->fl, before, r->ids[i], site->name);
        bool was_known = m->site != NULL;
        m->site = site;
        if (!was_known)
            node_rt_reachable(r->fl, m);
        m->leaves = false;
        m->lends = r->site->reclaim && site->group->priority == VM_DEDICATED;
        if (row)
            take_row(m, row);
        machine_capacity_from_facts(r->fl, m);
    }
}

static void take_others(struct inventory_rows *r, struct id_map *before)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct machine_row *row = &r->row[i];
        if (machine_find(r->fl, row->id))
            continue;
        if (!id_map_has(&r->claimed, row->id)) {
            if (!r->only_reads)
                LOG_INFO(r->fl->log, "machine.removed", LF_STR("machine", row->name));
            continue;
        }
        struct machine *m = take(r->fl, before, row->id, row->name);
        if (!m->leaves)
            LOG_WARN(r->fl->log, "machine.not_in_inventory", LF_STR("machine", row->name));
        m->leaves = m->site != NULL;
        take_row(m, row);
    }
}

static void free_machine(struct machine *m)
{
    free(m->name);
    free(m->reason);
    free(m->facts);
    free(m->trouble);
    free(m);
}

/* Frees the forgotten machines that no node in memory names any more. */
static void free_unnamed(struct fleet *fl)
{
    struct id_map named = {0};
    for (size_t i = 0; i < fl->nodes.n; i++) {
        const struct node_rt *rt = fl->nodes.e[i].p;
        if (rt->machine)
            id_map_put(&named, rt->machine->id, NULL);
    }
    for (struct machine **at = &fl->retired, *m; (m = *at) != NULL;) {
        if (id_map_has(&named, m->id)) {
            at = &m->next_retired;
            continue;
        }
        *at = m->next_retired;
        free_machine(m);
    }
    id_map_free(&named);
}

static void retire(struct fleet *fl, const struct id_map *gone)
{
    for (size_t i = 0; i < gone->n; i++) {
        struct machine *m = gone->e[i].p;
        m->next_retired = fl->retired;
        fl->retired = m;
    }
    free_unnamed(fl);
}

static void take_rows(struct inventory_rows *r)
{
    struct fleet *fl = r->fl;
    struct id_map before = fl->machine_ids;
    free(fl->machines);
    fl->machine_ids = (struct id_map){0};
    fl->machines = xcalloc(in_site(r) + r->n + 1, sizeof(struct machine *));
    fl->n_machines = 0;
    take_named(r, &before);
    take_others(r, &before);
    retire(fl, &before);
    id_map_free(&before);
    machines_note_claims(fl, r->uses, r->n_uses);
    machines_all_changed(fl);
}

static int follow(struct fleet *fl, const struct site *site, bool only_reads, struct err *e)
{
    struct arena a;
    arena_init(&a);
    struct inventory_rows r = {.fl = fl, .site = site, .a = &a, .only_reads = only_reads};
    int rc = st_tx(fl->st, "follow inventory", write_rows, &r, e);
    if (rc == 0)
        take_rows(&r);
    id_map_free(&r.claimed);
    arena_free(&a);
    return rc;
}

int machines_follow(struct fleet *fl, const struct site *site, struct err *e)
{
    return follow(fl, site, false, e);
}

/* After a rollback, reads the rows again: only machines with rows are known until the inventory is
 * applied again. */
static void effect_rows_written(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct err e = {0};
    (void)id;
    if (why && follow(fl, fl->cfg.site, true, &e) != 0)
        LOG_ERROR(fl->log, "inventory.not_applied", LF_STR("why", e.msg));
}

static void expect_rows(struct fleet *fl)
{
    wake_when_durable(fl->wakes, effect_rows_written, fl, THE_INVENTORY);
    wake_if_lost(fl->wakes, &woken_inventory, THE_INVENTORY);
}

void inventory_reconcile(void *ctx, int64_t id)
{
    struct fleet *fl = ctx;
    struct err e = {0};
    if (machines_follow(fl, fl->cfg.site, &e) != 0) {
        LOG_ERROR(fl->log, "inventory.not_applied", LF_STR("why", e.msg));
        wake_by(fl->wakes, &woken_inventory, id, wakes_mono(fl->wakes) + FOLLOW_AGAIN_US);
    } else if (st_has_pending(fl->st)) {
        expect_rows(fl);
    }
    fleet_capacity_freed(fl, true);
}

/* After the inventory has changed, wakes everything that depends on machines: the pools that have
 * machines and their nodes, and all who wait for machines. */
static void tell_all(struct fleet *fl)
{
    for (size_t i = 0; i < fl->n_machines; i++) {
        const struct machine *m = fl->machines[i];
        if (m->pool_id == 0)
            continue;
        fleet_pool_changed(fl, m->pool_id);
        wake(fl->wakes, &woken_node, m->node_id);
    }
    fleet_capacity_freed(fl, true);
}

int fleet_use_site(struct fleet *fl, const struct site *site, struct err *e)
{
    const struct site *before = fl->cfg.site;
    if (machines_follow(fl, site, e) != 0)
        return -1;
    fl->cfg.site = site;
    expect_rows(fl);
    tell_all(fl);
    file_servers_follow(fl, before);
    return 0;
}

void machines_free(struct fleet *fl)
{
    for (size_t i = 0; i < fl->n_machines; i++)
        free_machine(fl->machines[i]);
    while (fl->retired) {
        struct machine *next = fl->retired->next_retired;
        free_machine(fl->retired);
        fl->retired = next;
    }
    for (size_t i = 0; i < fl->n_wishes; i++)
        free(fl->wishes[i].vm_size);
    free(fl->wishes);
    free(fl->machines);
    id_map_free(&fl->machine_ids);
}
