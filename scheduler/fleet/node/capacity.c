/* SPDX-License-Identifier: MIT
 *
 * The capacity of nodes: as the site configures it, otherwise as the node reports it.
 */
#include "scheduler/fleet/node/node_priv.h"

#include <string.h>

#include "nodeagent-proto/wire/facts.h"

/* A node may report any number; its row accepts only a valid range. */
static int64_t within(int64_t most, int64_t said)
{
    return said < 0 ? 0 : said > most ? most : said;
}

static const struct site_capacity *wish_of(const struct fleet *fl, const struct machine *m)
{
    static const struct site_capacity none = {0};
    if (m)
        return m->site ? &m->site->group->capacity : &none;
    return fl->cfg.site ? &fl->cfg.site->local_capacity : &none;
}

/* Whether the node shows fake GPUs: the site configures these, and the node has no real GPUs. Puts
 * them into *facts, or removes earlier fake GPUs from it. */
static bool shows_fakes(struct arena *a, const struct site_capacity *c, struct node_facts *facts)
{
    bool had = node_gpus_are_fake(facts->gpus);
    if (c->fake_gpus > 0 && (facts->n_gpus == 0 || had)) {
        facts->gpus = node_fake_gpus(a, c->fake_gpus);
        facts->n_gpus = c->fake_gpus;
        return true;
    }
    if (had) { /* from a time when the site configured fake GPUs */
        facts->gpus = "[]";
        facts->n_gpus = 0;
    }
    return false;
}

static struct capacity capacity_of(const struct site_capacity *c, const struct node_facts *facts)
{
    struct capacity has = {
        .gpus = (int)within(CAPACITY_MAX, facts->n_gpus),
        .cores = c->cores > 0 ? c->cores : (int)within(CAPACITY_MAX, facts->cpus),
        .memory = c->memory > 0 ? c->memory : within(CAPACITY_MEMORY_MAX, facts->memory_bytes)};
    has.slots = c->slots > 0 ? c->slots : has.cores > 0 ? has.cores : 1;
    return has;
}

void node_capacity_seen(struct node_rt *rt, struct arena *a, struct node_facts *facts)
{
    const struct site_capacity *c = wish_of(rt->fleet, rt->machine);
    rt->seen.fake_gpus = shows_fakes(a, c, facts);
    rt->seen.has = capacity_of(c, facts);
    node_set_text(&rt->seen.devices, facts->gpus);
    if (rt->machine)
        rt->machine->has = rt->seen.has;
    else
        rt->fleet->local_has = rt->seen.has;
}

void machine_capacity_from_facts(struct fleet *fl, struct machine *m)
{
    const struct site_capacity *c = wish_of(fl, m);
    struct node_facts facts;
    struct arena a;
    struct err e;
    arena_init(&a);
    if (m->facts && node_facts_parse(&a, m->facts, &facts, &e) == 0) {
        (void)shows_fakes(&a, c, &facts);
        m->has = capacity_of(c, &facts);
    }
    arena_free(&a);
}

static bool same(const struct node *row, const struct capacity *has, const char *devices)
{
    return row->has.slots == has->slots && row->has.gpus == has->gpus &&
           row->has.cores == has->cores && row->has.memory == has->memory &&
           strcmp(row->devices ? row->devices : "", devices ? devices : "") == 0;
}

bool node_capacity_as_row(struct node_rt *rt, const struct node *row)
{
    struct capacity has = rt->seen.has;
    struct err e = {0};
    if (row->pool_slots > 0)
        has.slots = row->pool_slots;
    /* While runs hold slots, the count of slots cannot shrink; it shrinks when the node is free. */
    if (row->live > 0 && has.slots < row->has.slots)
        has.slots = row->has.slots;
    if (same(row, &has, rt->seen.devices))
        return true;
    if (st_node_set_capacity(rt->fleet->st, rt->id, &has, rt->seen.devices, &e) != 0) {
        LOG_ERROR(rt->fleet->log, "node.capacity_not_written", LF_STR("node", rt->name),
                  LF_STR("why", e.msg));
        wake_by(rt->fleet->wakes, &woken_node, rt->id,
                wakes_mono(rt->fleet->wakes) + WRITE_AGAIN_US);
        return false;
    }
    fleet_pool_changed(rt->fleet, row->pool_id);
    return true;
}
