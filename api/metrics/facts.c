/* SPDX-License-Identifier: MIT
 *
 * Collects the facts of /metrics. Each step reads one kind of facts, and takes some milliseconds
 * with 2,000 nodes and 100,000 waiting runs. The loop serves other requests between the steps.
 */
#include "api/metrics/facts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "lib/loop.h"

#define NODES 400 /* that one step reads */

struct collecting {
    struct metric_facts facts;
    int64_t since_ms, now_ms;
    int64_t after; /* the last node that was read */
    struct use_line *counted;
    size_t n_counted;
    struct owner_tally *owners;
    size_t n_owners;
    struct queue_reading *queues;
    size_t step;
    facts_done *done;
};

/* --- steps ------------------------------------------------------------------------------------ */

/* Copies the sums of ended allocations. They are copied before the live allocations are read, so
 * that an allocation that ends meanwhile is counted once at most: st_usage_show() then shows the
 * sums of the page before. */
static void take_counted(struct collecting *c)
{
    struct arena *a = &c->facts.r->arena;
    const struct usage_counted *u = st_usage_counted(c->facts.m->storage, a, &c->n_counted);
    c->counted = arena_alloc(a, (c->n_counted + 1) * sizeof *c->counted);
    for (size_t i = 0; i < c->n_counted; i++)
        c->counted[i] = (struct use_line){u[i].subscription, u[i].group, u[i].owner, u[i].sums};
}

static void begin_nodes(struct collecting *c)
{
    struct metric_facts *f = &c->facts;
    f->now_us = loop_wall_us(f->m->loop);
    c->now_ms = f->now_us / 1000;
    (void)st_usage_counted_since(f->m->storage, &c->since_ms);
    facts_of_own(f->m, &f->own);
    take_counted(c);
}

/* Appends `n` items of `size` bytes to an array of `had` items in the arena, as a new array. */
static void *joined(struct arena *a, const void *list, size_t had, const void *more, size_t n,
                    size_t size)
{
    char *all = arena_alloc(a, (had + n + 1) * size);
    if (had)
        memcpy(all, list, had * size);
    if (n)
        memcpy(all + had * size, more, n * size);
    return all;
}

/* A pool, or an owner, may be in several of the lists that are joined. */
static int read_range(struct collecting *c, int64_t last, struct err *e)
{
    size_t n;
    struct pool_tally *pools;
    struct owner_tally *owners;
    struct metric_facts *f = &c->facts;
    struct storage *st = f->m->storage;
    struct arena *a = &f->r->arena;
    if (st_pool_tallies(st, a, c->since_ms, c->now_ms, c->after, last, &pools, &n, e) < 0)
        return -1;
    f->nodes = joined(a, f->nodes, f->n_nodes, pools, n, sizeof *pools);
    f->n_nodes += n;
    if (!f->m->people)
        return 0;
    if (st_owner_tallies(st, a, c->since_ms, c->now_ms, c->after, last, &owners, &n, e) < 0)
        return -1;
    c->owners = joined(a, c->owners, c->n_owners, owners, n, sizeof *owners);
    c->n_owners += n;
    return 0;
}

/* The machines that are in no pool are counted in the turn in which no node is left: a node that a
 * machine gets meanwhile has the highest id, and is read before. */
static int read_nodes(struct collecting *c, struct err *e)
{
    int64_t last;
    if (!c->counted)
        begin_nodes(c);
    if (st_tallied_until(c->facts.m->storage, c->after, NODES, &last, e) < 0)
        return -1;
    if (last == 0) {
        fleet_count_unclaimed(c->facts.m->fleet, c->facts.unclaimed);
        return 0;
    }
    int rc = read_range(c, last, e);
    c->after = last;
    return rc < 0 ? -1 : 1;
}

static int read_queues(struct collecting *c, struct err *e)
{
    struct metric_facts *f = &c->facts;
    if (!c->queues)
        c->queues = queues_begin(&f->r->arena, f->m->storage);
    int rc = queues_read(c->queues, e);
    if (rc == 0)
        queues_end(c->queues, f);
    return rc;
}

static int add_pool(struct metric_facts *f, int64_t pool_id, struct err *e)
{
    if (facts_place(f, pool_id))
        return 0;
    struct pool_names *p = &f->pools[f->n_pools];
    int rc = st_pool_place(f->m->storage, &f->r->arena, pool_id, &p->place, e);
    p->pool_id = pool_id;
    f->n_pools += rc == 1;
    return rc < 0 ? -1 : 0;
}

static int name_pools(struct collecting *c, struct err *e)
{
    struct metric_facts *f = &c->facts;
    f->pools = arena_alloc(&f->r->arena, (f->n_nodes + f->n_queues + 1) * sizeof *f->pools);
    for (size_t i = 0; i < f->n_nodes; i++)
        if (add_pool(f, f->nodes[i].pool_id, e) < 0)
            return -1;
    for (size_t i = 0; i < f->n_queues; i++)
        if (add_pool(f, f->queues[i].pool_id, e) < 0)
            return -1;
    return 0;
}

/* --- use by groups and people ----------------------------------------------------------------- */

static int by_key(const void *pa, const void *pb)
{
    const struct use_line *a = pa, *b = pb;
    int rc = strcasecmp(a->person, b->person);
    rc = rc ? rc : strcasecmp(a->subscription, b->subscription);
    return rc ? rc : strcasecmp(a->group, b->group);
}

/* Returns the sums of ended allocations by group, or by person, with room for `more` lines. */
static struct use_lines begin_lines(const struct collecting *c, bool groups, size_t more)
{
    struct use_lines l = {
        arena_alloc(&c->facts.r->arena, (c->n_counted + more + 1) * sizeof *l.list), 0};
    for (size_t i = 0; i < c->n_counted; i++)
        if ((*c->counted[i].group != '\0') == groups)
            l.list[l.n++] = c->counted[i];
    return l;
}

/* Adds up the lines that have the same key. */
static void merge(struct use_lines *l)
{
    size_t n = 0;
    if (l->n > 0)
        qsort(l->list, l->n, sizeof *l->list, by_key);
    for (size_t i = 0; i < l->n; i++) {
        if (n > 0 && by_key(&l->list[n - 1], &l->list[i]) == 0)
            usage_add(&l->list[n - 1].sums, &l->list[i].sums);
        else
            l->list[n++] = l->list[i];
    }
    l->n = n;
}

/* Replaces GPU times by the largest values shown so far, because a counter must never decrease. */
static void show_lines(const struct metric_facts *f, struct use_lines *l)
{
    for (struct use_line *u = l->list; u < l->list + l->n; u++)
        st_usage_show(f->m->storage, u->subscription, u->group, u->person, &u->sums);
}

static int sum_groups(struct collecting *c, struct err *e)
{
    struct metric_facts *f = &c->facts;
    struct use_lines *l = &f->groups;
    (void)e;
    *l = begin_lines(c, true, f->n_nodes);
    for (size_t i = 0; i < f->n_nodes; i++) {
        const struct pool_place *p = facts_place(f, f->nodes[i].pool_id);
        if (p && p->group)
            l->list[l->n++] = (struct use_line){p->subscription,
                                                p->group,
                                                "",
                                                {.gpu_ms = f->nodes[i].held_ms,
                                                 .busy_ms = f->nodes[i].busy_ms,
                                                 .idle_ms = f->nodes[i].idle_ms}};
    }
    merge(l);
    show_lines(f, l);
    return 0;
}

/* Replaces the person's object id by his login name. A removed person keeps his object id. */
static int name_person(const struct metric_facts *f, struct use_line *l, struct err *e)
{
    struct identity i;
    int rc = *l->person ? access_identity(f->m->access, &f->r->arena, l->person, &i, e) : 0;
    if (rc == 1)
        l->person = i.name;
    return rc < 0 ? -1 : 0;
}

static int sum_people(struct collecting *c, struct err *e)
{
    struct metric_facts *f = &c->facts;
    struct use_lines *l = &f->people;
    if (!f->m->people)
        return 0;
    *l = begin_lines(c, false, c->n_owners);
    for (size_t i = 0; i < c->n_owners; i++)
        l->list[l->n++] = (struct use_line){"",
                                            "",
                                            c->owners[i].owner,
                                            {.gpu_ms = c->owners[i].held_ms,
                                             .busy_ms = c->owners[i].busy_ms,
                                             .idle_ms = c->owners[i].idle_ms}};
    merge(l);
    show_lines(f, l);
    for (size_t i = 0; i < l->n; i++)
        if (name_person(f, &l->list[i], e) < 0)
            return -1;
    merge(l); /* two persons of different ids may have the same name */
    return 0;
}

/* --- in turn ---------------------------------------------------------------------------------- */

/* Return 1: call this step again in the next turn of the loop; 0: this step is complete. */
static int (*const steps[])(struct collecting *c, struct err *e) = {
    read_nodes, read_queues, name_pools, sum_groups, sum_people};
#define N_STEPS (sizeof steps / sizeof steps[0])

static void next(struct request *r, void *ctx)
{
    struct collecting *c = ctx;
    struct err e;
    if (c->step == N_STEPS) {
        c->done(&c->facts, NULL);
        return;
    }
    int rc = steps[c->step](c, &e);
    c->step += rc == 0;
    if (rc < 0)
        c->done(&c->facts, &e);
    else
        request_again(r, next, c);
}

void facts_collect(struct request *r, facts_done *done)
{
    struct collecting *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct collecting){.facts = {.m = metrics_of(r), .r = r}, .done = done};
    request_again(r, next, c);
}

const struct pool_place *facts_place(const struct metric_facts *f, int64_t pool_id)
{
    for (size_t i = 0; i < f->n_pools; i++)
        if (f->pools[i].pool_id == pool_id)
            return &f->pools[i].place;
    return NULL;
}
