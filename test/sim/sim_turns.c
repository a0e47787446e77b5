/* SPDX-License-Identifier: MIT
 *
 * Whose turn it is: looked at in the instant in which a run is given nodes, with the rows as they
 * are then. Without backfill nobody is served before a job that outranks it and could be served
 * some time. With it, all that outrank it must be able to start as early as they could without it,
 * by the time limits; that is computed here in the plainest way, from what scheduler/plan.h
 * promises.
 */
#include <stdlib.h>
#include <string.h>

#include "model/capacity.h"
#include "scheduler/run/runs.h"
#include "test/sim/sim_view.h"
#include "test/sim/wrap.h"

#define NEVER     INT64_MAX
#define ENDING_US (30 * SECOND) /* what a run may take beyond its limit */
#define SPANS_MAX 400
#define NODES_MAX 16
#define WAITS_MAX 64

static struct sim *current; /* the history under way; a process runs one at a time */

void sim_turns_begin(struct sim *m)
{
    current = m;
}

/* Something holds a part of a node, or is kept it. */
struct span {
    int64_t from, to, node;
    struct capacity takes;
};

struct picture {
    const struct view *v;
    int64_t now_us, pool;
    const struct node *nodes[NODES_MAX]; /* that may serve, by ordinal */
    int n_nodes, spare;
    struct span spans[SPANS_MAX];
    int n_spans;
};

static bool fits_at(const struct picture *p, const struct node *n, const struct run *r, int64_t at)
{
    struct capacity left = n->has;
    bool empty = true;
    for (int i = 0; i < p->n_spans; i++) {
        const struct span *s = &p->spans[i];
        if (s->node != n->id || s->from > at || at >= s->to)
            continue;
        empty = false;
        left.slots -= s->takes.slots;
        left.gpus -= s->takes.gpus;
        left.cores -= s->takes.cores;
    }
    if (r->need_whole || (empty && n->state == NODE_PREPARING))
        return empty;
    return left.slots > 0 && capacity_fits(&left, &r->need);
}

static bool fits_from(const struct picture *p, const struct node *n, const struct run *r,
                      int64_t at)
{
    int64_t to = at + r->max_wall_us + ENDING_US;
    bool fits = fits_at(p, n, r, at);
    for (int i = 0; i < p->n_spans && fits; i++)
        if (p->spans[i].node == n->id && p->spans[i].from > at && p->spans[i].from < to)
            fits = fits_at(p, n, r, p->spans[i].from);
    return fits;
}

static int count_from(const struct picture *p, const struct run *r, int64_t at)
{
    int n = 0;
    for (int i = 0; i < p->n_nodes; i++)
        n += fits_from(p, p->nodes[i], r, at);
    return n;
}

static void add_span(struct picture *p, struct span s)
{
    if (p->n_spans < SPANS_MAX)
        p->spans[p->n_spans++] = s;
}

static struct capacity need_of(const struct run *r)
{
    struct capacity need = r->need;
    need.slots = need.slots > 0 ? need.slots : 1;
    return need;
}

/* The earliest instant for it, whose nodes are then kept for it; NEVER: there is none. */
static int64_t place(struct picture *p, const struct run *r)
{
    int64_t at = NEVER, late = p->now_us;
    for (int i = 0; i < p->n_spans; i++)
        late = p->spans[i].to > late ? p->spans[i].to : late;
    int ever = count_from(p, r, late), want = r->nodes;
    if (ever < want && want - ever > p->spare)
        return NEVER;
    want = ever < want ? ever : want;
    if (count_from(p, r, p->now_us) >= want)
        at = p->now_us;
    for (int i = 0; i < p->n_spans && at != p->now_us; i++)
        if (p->spans[i].to > p->now_us && p->spans[i].to < at &&
            count_from(p, r, p->spans[i].to) >= want)
            at = p->spans[i].to;
    int64_t chosen[NODES_MAX];
    int n = 0;
    for (int i = 0; i < p->n_nodes && n < want; i++)
        if (fits_from(p, p->nodes[i], r, at))
            chosen[n++] = i;
    for (int i = 0; i < n; i++) {
        const struct node *node = p->nodes[chosen[i]];
        add_span(p, (struct span){at, at + r->max_wall_us + ENDING_US, node->id,
                                  r->need_whole ? node->has : need_of(r)});
    }
    return at;
}

static int64_t end_of(const struct picture *p, const struct run *r)
{
    int64_t soon = p->now_us + ENDING_US;
    int64_t since = r->start_us < p->now_us ? r->start_us : p->now_us;
    int64_t end = since + r->max_wall_us + ENDING_US;
    return r->state == RUN_RELEASING || end < soon ? soon : end;
}

static const struct run *run_of(const struct view *v, int64_t id)
{
    for (size_t i = 0; i < v->n_jobs; i++)
        if (v->runs[i].id == id)
            return &v->runs[i];
    return NULL;
}

static void draw(struct picture *p, const struct view *v, const struct cluster *c)
{
    int largest = c->scale.kind == SCALE_AUTO ? c->scale.maximum : c->scale.target;
    *p = (struct picture){.v = v, .pool = c->id, .now_us = loop_wall_us(v->m->life->loop)};
    for (size_t i = 0; i < v->n_nodes && p->n_nodes < NODES_MAX; i++) {
        const struct node *n = &v->nodes[i];
        bool serves = n->state == NODE_IDLE || n->state == NODE_PREPARING;
        if (n->pool_id == c->id && serves && !sim_gets_nothing(v, n) && !sim_empties(v, c, n))
            p->nodes[p->n_nodes++] = n;
    }
    p->spare = largest > p->n_nodes ? largest - p->n_nodes : 0;
    for (size_t i = 0; i < v->n_held; i++) {
        const struct run *r = run_of(v, v->held[i].run_id);
        if (r)
            add_span(p,
                     (struct span){INT64_MIN, end_of(p, r), v->held[i].node_id, v->held[i].takes});
    }
}

/* Runs that want more of a node than any has stand aside. */
static bool some_node_fits(const struct view *v, const struct run *r)
{
    for (size_t i = 0; i < v->n_nodes; i++)
        if (v->nodes[i].pool_id == r->pool_id && capacity_fits(&v->nodes[i].has, &r->need))
            return true;
    return r->need_whole;
}

/* Those that outrank it and wait, in turn. */
static int waiting(const struct view *v, const struct cluster *c, const struct run *r,
                   const struct job **out)
{
    int n = 0, largest = c->scale.kind == SCALE_AUTO ? c->scale.maximum : c->scale.target;
    for (size_t i = 0; i < v->n_jobs && n < WAITS_MAX; i++) {
        const struct run *h = &v->runs[i];
        bool waits = h->state == RUN_WAITING && h->held == HOLD_NOT && h->stop == STOP_NOT &&
                     h->pool_id == c->id;
        bool outranks = h->priority != r->priority ? h->priority > r->priority : h->id < r->id;
        if (!waits || !outranks || h->id == r->id || h->nodes > largest || !some_node_fits(v, h))
            continue;
        int at = n++;
        for (; at > 0; at--) {
            const struct run *o = &v->runs[out[at - 1] - v->jobs];
            if (o->priority > h->priority || (o->priority == h->priority && o->id < h->id))
                break;
            out[at] = out[at - 1];
        }
        out[at] = &v->jobs[i];
    }
    return n;
}

static void check_turn(const struct view *v, const struct cluster *c, const struct run *r,
                       const struct run_part *parts)
{
    static struct picture without, with;
    const struct job *high[WAITS_MAX];
    const char *name = "?";
    int n = waiting(v, c, r, high);
    for (size_t i = 0; i < v->n_jobs; i++)
        if (v->runs[i].id == r->id)
            name = v->jobs[i].name;
    draw(&without, v, c);
    with = without;
    for (int i = 0; i < r->nodes; i++)
        add_span(&with, (struct span){INT64_MIN, with.now_us + r->max_wall_us + ENDING_US,
                                      parts[i].node_id, parts[i].takes});
    for (int i = 0; i < n; i++) {
        const struct run *h = &v->runs[high[i] - v->jobs];
        int64_t before = place(&without, h), after = place(&with, h);
        if (before == NEVER)
            continue;
        if (!sim_backfills(c->name))
            sim_fail(v->m, "job %s was served before job %s, which outranks it", name,
                     high[i]->name);
        if (after > before)
            sim_fail(v->m,
                     "job %s gets nodes, and job %s, which outranks it, could start in %lld s now "
                     "instead of %lld s",
                     name, high[i]->name, (long long)((after - without.now_us) / SECOND),
                     (long long)((before - without.now_us) / SECOND));
    }
}

WRAP(int, runs_allocate, struct runs *rs, const struct run *r, const struct run_part *parts,
     struct err *e)
{
    struct view v;
    if (current->failure[0] == '\0' && sim_view_read(current, &v))
        for (size_t i = 0; i < v.n_clusters; i++)
            if (v.clusters[i].id == r->pool_id)
                check_turn(&v, &v.clusters[i], r, parts);
    return __real_runs_allocate(rs, r, parts, e);
}

/* Automatic scaling takes no node that runs something. */
WRAP(int, st_node_move, struct storage *st, const struct st_node_move *m, struct err *e)
{
    struct pool p;
    struct node n;
    struct arena a;
    struct err why;
    arena_init(&a);
    if (m->to == NODE_LEAVING && m->from != NODE_LEAVING &&
        st_node_by_id(st, &a, m->id, &n, &why) == 1 && n.live > 0 && !n.reclaimed &&
        st_pool_by_id(st, &a, n.pool_id, &p, &why) == 1 && p.scale.kind == SCALE_AUTO && !p.going)
        sim_fail(current, "automatic scaling takes node %s, which %d runs hold", n.name, n.live);
    arena_free(&a);
    return __real_st_node_move(st, m, e);
}

/* --- machines that are lent ------------------------------------------------------------------- */

/* A dedicated cluster is short of machines in vain for this long: nobody takes them back. */
#define SHORT_US (150 * SECOND)

static bool is_short(const struct view *v, const struct cluster *c)
{
    int n = 0;
    if (c->vm_priority != VM_DEDICATED || c->scale.kind != SCALE_MANUAL ||
        c->prov_state == PROV_DELETING)
        return false;
    for (size_t i = 0; i < v->n_nodes; i++) {
        if (v->nodes[i].pool_id == c->id && v->nodes[i].machine_id == 0)
            return false; /* its nodes are local */
        n += v->nodes[i].pool_id == c->id && v->nodes[i].state != NODE_LEAVING;
    }
    return n > 0 && n < c->scale.target;
}

/* A machine that a low-priority cluster keeps. */
static const struct node *lent(const struct view *v)
{
    for (size_t i = 0; i < v->n_nodes; i++)
        for (size_t k = 0; k < v->n_clusters; k++)
            if (v->nodes[i].pool_id == v->clusters[k].id &&
                v->clusters[k].vm_priority == VM_LOWPRIORITY && v->nodes[i].machine_id != 0 &&
                v->nodes[i].state != NODE_LEAVING && !sim_gets_nothing(v, &v->nodes[i]))
                return &v->nodes[i];
    return NULL;
}

void sim_turns_check(struct view *v)
{
    struct sim *m = v->m;
    const struct node *kept = lent(v);
    for (size_t i = 0; i < v->n_clusters; i++) {
        const struct cluster *c = &v->clusters[i];
        struct thing *t = sim_thing_by_name(m, c->name);
        bool waits = kept && t && t->on_machines && is_short(v, c) && !m->disk_full &&
                     m->t.now_us > m->writes_fail_until;
        if (!t)
            continue;
        m->looked.waits = m->looked.waits || waits;
        if (!waits)
            t->waits_since = 0;
        else if (t->waits_since == 0)
            t->waits_since = m->t.now_us;
        else if (m->t.now_us - t->waits_since > SHORT_US)
            sim_fail(m, "cluster %s is short of machines, and a low-priority one keeps node %s",
                     c->name, kept->name);
    }
}
