/* SPDX-License-Identifier: MIT
 *
 * Texts about machines: the table of `batchaid nodes`, and the reason why a pool has fewer machines
 * than its target.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "scheduler/fleet/node/node_priv.h"

static const char *const no_sizes[] = {NULL};

/* --- the table -------------------------------------------------------------------------------- */

/* The most nodes and machines that one call reads; this takes one or two ms. */
#define PIECE 100

/* First the nodes are read, then the machines are listed with their nodes, then the local nodes. */
struct machines_reading {
    struct fleet *fleet;
    struct arena *a;
    enum machines_depth depth;
    struct node_use *uses; /* sorted by node id */
    size_t n_uses, uses_cap;
    bool has_uses;
    size_t machine, use; /* the indexes of the next machine and the next node */
    struct machine_view *list;
    size_t n, cap;
};

static int by_node(const void *key, const void *pu)
{
    const struct node_use *u = pu;
    int64_t id = *(const int64_t *)key;
    return (id > u->node_id) - (id < u->node_id);
}

/* The use of a node; NULL: the node does not exist, or was added after the nodes were read. */
static const struct node_use *find_use(const struct machines_reading *v, int64_t node_id)
{
    return v->n_uses > 0 ? bsearch(&node_id, v->uses, v->n_uses, sizeof *v->uses, by_node) : NULL;
}

static const char *joined(struct arena *a, const char *first, const char *second)
{
    if (!first || !second)
        return first ? first : second;
    return arena_printf(a, "%s; %s", first, second);
}

static void view_use(struct machines_reading *v, const struct node_use *u, struct machine_view *out)
{
    out->state = node_state_shown(u->state, u->live);
    out->node = u->node;
    out->pool = u->pool;
    out->runs = u->runs;
    out->has = u->has;
    out->taken = u->taken;
    if (u->state == NODE_UNUSABLE)
        out->reason = joined(v->a, out->reason, u->why);
}

static void view_facts(struct machines_reading *v, const char *facts, struct machine_view *out)
{
    struct err e = {0};
    out->has_facts = facts && node_facts_parse(v->a, facts, &out->facts, &e) == 0;
    if (facts && !out->has_facts)
        LOG_WARN(v->fleet->log, "machine.facts_not_read", LF_STR("machine", out->name),
                 LF_STR("why", e.msg));
}

/* The GPUs of a machine without a link, from the facts of its last contact. */
static void view_unseen(struct machines_reading *v, bool usable, struct machine_view *out)
{
    out->n_gpus = out->has.gpus;
    out->gpus = arena_alloc(v->a, ((size_t)out->n_gpus + 1) * sizeof *out->gpus);
    for (int i = 0; i < out->n_gpus; i++)
        out->gpus[i] = (struct gpu_view){.index = i, .state = gpu_state_of(NULL, false, usable)};
}

static void view_sample(struct machines_reading *v, struct machine_view *out)
{
    const struct node_rt *rt = out->node_id ? node_rt_find(v->fleet, out->node_id) : NULL;
    bool usable = strcmp(out->state, "unusable") != 0 && strcmp(out->state, "unreachable") != 0;
    if (rt)
        node_view_sample(rt, v->a, usable, v->depth == MACHINES_WHOLE, out);
    else if (v->depth == MACHINES_BRIEF)
        view_unseen(v, usable, out);
}

static const char *why_drained(struct arena *a, const struct machine *m)
{
    if (!m->drained)
        return NULL;
    return m->reason && *m->reason ? arena_strdup(a, m->reason) : "drained";
}

static void view_machine(struct machines_reading *v, const struct machine *m,
                         struct machine_view *out)
{
    const struct site_group *group = m->site ? m->site->group : NULL;
    const struct node_use *u = find_use(v, m->node_id);
    out->machine_id = m->id;
    out->node_id = m->node_id;
    out->name = arena_strdup(v->a, m->name); /* a reload may drop the machine */
    out->drained = m->drained;
    out->trouble = m->trouble ? arena_strdup(v->a, m->trouble) : NULL;
    out->reason = why_drained(v->a, m);
    if (!m->site || m->leaves)
        out->reason = joined(v->a, out->reason, "not in the inventory any more");
    out->vm_sizes = group && group->vm_sizes ? group->vm_sizes : no_sizes;
    out->priority = group ? group->priority : u ? u->vm_priority : VM_DEDICATED;
    out->contact_us = m->contact_us;
    out->has = m->has;
    if (u) {
        view_use(v, u, out);
        if (m->trouble && u->state != NODE_UNUSABLE) /* the node's errors have this text already */
            out->reason = joined(v->a, out->reason, arena_strdup(v->a, m->trouble));
    } else if (m->trouble) {
        out->state = "unreachable";
        out->reason = joined(v->a, out->reason, arena_strdup(v->a, m->trouble));
    } else {
        out->state = m->contact_us == 0 ? "unknown" : "free";
    }
    if (v->depth == MACHINES_WHOLE)
        view_facts(v, m->facts, out);
    view_sample(v, out);
}

static void view_local(struct machines_reading *v, const struct node_use *u,
                       struct machine_view *out)
{
    const struct node_rt *rt = node_rt_find(v->fleet, u->node_id);
    out->node_id = u->node_id;
    out->name = u->node;
    out->is_local = true;
    out->vm_sizes = v->fleet->cfg.local_vm_sizes;
    out->priority = u->vm_priority;
    view_use(v, u, out);
    if (rt) {
        out->contact_us = rt->contact.hello_us;
        /* the node's errors have this text already */
        if (rt->room.closed && u->state != NODE_UNUSABLE)
            out->reason = joined(v->a, out->reason, arena_strdup(v->a, rt->room.closed));
        if (v->depth == MACHINES_WHOLE)
            view_facts(v, rt->seen.facts, out);
    }
    view_sample(v, out);
}

/* Returns the list with room for one more item of `size` bytes; if it grows, the arena keeps the
 * smaller list, too. */
static void *grown(struct arena *a, void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return list;
    *cap = *cap ? 2 * *cap : 64;
    void *more = arena_alloc(a, *cap * size);
    if (n > 0)
        memcpy(more, list, n * size);
    return more;
}

static struct machine_view *next_view(struct machines_reading *v)
{
    v->list = grown(v->a, v->list, v->n, &v->cap, sizeof *v->list);
    return memset(&v->list[v->n++], 0, sizeof *v->list);
}

static int read_uses(struct machines_reading *v, struct err *e)
{
    struct node_use_rows more;
    const struct st_page page = {.after = v->n_uses > 0 ? v->uses[v->n_uses - 1].node_id : 0,
                                 .limit = PIECE};
    int rc = v->depth == MACHINES_BRIEF ? st_node_uses_brief(v->fleet->st, v->a, &page, &more, e)
                                        : st_node_uses_after(v->fleet->st, v->a, &page, &more, e);
    if (rc != 0)
        return -1;
    for (size_t i = 0; i < more.n; i++) {
        v->uses = grown(v->a, v->uses, v->n_uses, &v->uses_cap, sizeof *v->uses);
        v->uses[v->n_uses++] = more.items[i];
    }
    v->has_uses = more.n < PIECE;
    return 0;
}

struct machines_reading *fleet_machines_begin(struct fleet *fl, struct arena *a,
                                              enum machines_depth depth)
{
    struct machines_reading *v = arena_alloc(a, sizeof *v);
    *v = (struct machines_reading){.fleet = fl, .a = a, .depth = depth};
    return v;
}

int fleet_machines_more(struct machines_reading *v, struct err *e)
{
    const struct fleet *fl = v->fleet;
    if (!v->has_uses)
        return read_uses(v, e) < 0 ? -1 : 1;
    for (int i = 0; i < PIECE; i++)
        if (v->machine < fl->n_machines)
            view_machine(v, fl->machines[v->machine++], next_view(v));
        else if (v->use == v->n_uses)
            return 0;
        else if (v->uses[v->use++].machine_id == 0)
            view_local(v, &v->uses[v->use - 1], next_view(v));
    return 1;
}

struct machine_view *fleet_machines_list(const struct machines_reading *v, size_t *n)
{
    *n = v->n;
    return v->list;
}

int fleet_machine_complete(struct fleet *fl, struct arena *a, struct machine_view *m, struct err *e)
{
    const struct machine *machine = m->machine_id ? machine_find(fl, m->machine_id) : NULL;
    int64_t node_id = machine ? machine->node_id : m->node_id;
    struct node_use use;
    struct machines_reading v = {.fleet = fl, .a = a, .uses = &use};
    int rc = node_id ? st_node_use_by_id(fl->st, a, node_id, &use, e) : 0;
    if (rc < 0)
        return -1;
    v.n_uses = (size_t)rc;
    if (m->machine_id ? !machine : rc == 0)
        return 0;
    memset(m, 0, sizeof *m);
    if (machine)
        view_machine(&v, machine, m);
    else
        view_local(&v, &use, m);
    return 1;
}

int fleet_machines(struct fleet *fl, struct arena *a, struct machine_view **out, size_t *n,
                   struct err *e)
{
    struct machines_reading *v = fleet_machines_begin(fl, a, MACHINES_WHOLE);
    int rc = 1;
    while (rc == 1)
        rc = fleet_machines_more(v, e);
    *out = fleet_machines_list(v, n);
    return rc;
}

/* --- which sizes there are -------------------------------------------------------------------- */

/* A message lists at most this many sizes. */
#define SIZES_MAX 30

struct sizes {
    const char *names[SIZES_MAX + 1]; /* NULL-terminated */
    size_t n;
};

static void add_sizes(struct sizes *served, const char *const *more)
{
    for (; more && *more; more++)
        if (served->n < SIZES_MAX && !fleet_is_size_of(served->names, *more))
            served->names[served->n++] = *more;
}

const char *fleet_sizes(const struct fleet *fl, struct arena *a, enum vm_priority priority)
{
    struct sizes served = {0};
    if (fl->cfg.local_nodes > 0)
        add_sizes(&served, fl->cfg.local_vm_sizes);
    for (size_t i = 0; i < fl->n_machines; i++) {
        const struct site_machine *site = fl->machines[i]->site;
        bool lent = fl->machines[i]->lends && priority == VM_LOWPRIORITY;
        if (site && (site->group->priority == priority || lent))
            add_sizes(&served, site->group->vm_sizes);
    }
    struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < served.n; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", served.names[i]);
    const char *copy = arena_strdup(a, text.len ? text.s : "none");
    strbuf_free(&text);
    return copy;
}

/* --- missing machines ------------------------------------------------------------------------- */

/* A message names this many pools and machines, and counts the others. */
#define NAMED_MAX 4

struct shortage {
    int serving, own, drained, troubled;
    struct strbuf drained_names, troubled_names;
    struct id_map others; /* a set: the other pools that hold machines */
};

static void add_name(struct strbuf *b, const char *name, int nth)
{
    if (nth <= NAMED_MAX)
        strbuf_printf(b, "%s%s", nth > 1 ? ", " : "", name);
    else if (nth == NAMED_MAX + 1)
        strbuf_puts(b, ", ...");
}

static void count_machine(struct shortage *sh, const struct machine *m, int64_t pool_id)
{
    sh->serving++;
    if (m->pool_id == pool_id)
        sh->own++;
    else if (m->pool_id != 0)
        id_map_put(&sh->others, m->pool_id, NULL);
    else if (m->drained)
        add_name(&sh->drained_names, m->name, ++sh->drained);
    if (m->trouble)
        add_name(&sh->troubled_names, m->name, ++sh->troubled);
}

static int claims_of(const struct fleet *fl, const struct pool *p, int64_t pool_id)
{
    int n = 0;
    for (size_t i = 0; i < fl->n_machines; i++)
        n += fl->machines[i]->pool_id == pool_id &&
             machine_serves(fl->machines[i], p->vm_size, p->vm_priority);
    return n;
}

static const struct front_words *words_of_pool(const struct fleet *fl, const struct pool *p)
{
    return front_of(fl->cfg.fronts, p->kind)->words;
}

static const char *name_of(const struct fleet *fl, struct arena *a, int64_t pool_id)
{
    enum resource_kind kind;
    struct err e;
    if (st_pool_kind(fl->st, pool_id, &kind, &e) != 1)
        return "";
    const struct front *f = front_of(fl->cfg.fronts, kind);
    return f->ops->pool_name(f, fl->st, a, pool_id, true);
}

static void say_others(struct fleet *fl, struct arena *a, const struct pool *p,
                       const struct shortage *sh, struct strbuf *out)
{
    int more = 0;
    for (size_t i = 0; i < sh->others.n; i++) {
        int64_t id = sh->others.e[i].id;
        const char *name = i < NAMED_MAX ? name_of(fl, a, id) : "";
        if (*name)
            strbuf_printf(out, ", %d to %s", claims_of(fl, p, id), name);
        else
            more += claims_of(fl, p, id);
    }
    if (more > 0)
        strbuf_printf(out, ", %d to more %s", more, words_of_pool(fl, p)->pools);
}

static void say(struct fleet *fl, struct arena *a, const struct pool *p, const struct shortage *sh,
                struct strbuf *out)
{
    const char *priority = enum_to_name(vm_priority_names, (int)p->vm_priority);
    if (sh->serving == 0) {
        strbuf_printf(out, "no machine of the inventory serves %s with priority %s", p->vm_size,
                      priority);
        return;
    }
    strbuf_printf(out, "%d machine%s serve%s %s with priority %s: %d belong%s to this %s",
                  sh->serving, sh->serving == 1 ? "" : "s", sh->serving == 1 ? "s" : "", p->vm_size,
                  priority, sh->own, sh->own == 1 ? "s" : "", words_of_pool(fl, p)->pool);
    say_others(fl, a, p, sh, out);
    if (sh->drained > 0)
        strbuf_printf(out, ", %d %s drained (%s)", sh->drained, sh->drained == 1 ? "is" : "are",
                      sh->drained_names.s);
    if (sh->troubled > 0)
        strbuf_printf(out, "; %d of them had a problem at the last try (%s)", sh->troubled,
                      sh->troubled_names.s);
}

const char *machines_shortage(struct fleet *fl, struct arena *a, const struct pool *p, int target,
                              int missing)
{
    struct shortage sh = {0};
    struct strbuf why = STRBUF_INIT;
    for (size_t i = 0; i < fl->n_machines; i++)
        if (machine_serves(fl->machines[i], p->vm_size, p->vm_priority))
            count_machine(&sh, fl->machines[i], p->id);
    say(fl, a, p, &sh, &why);
    const char *text = arena_printf(a, "%d of the %d nodes asked for %s missing: %s", missing,
                                    target, missing == 1 ? "is" : "are", why.s);
    id_map_free(&sh.others);
    strbuf_free(&sh.drained_names);
    strbuf_free(&sh.troubled_names);
    strbuf_free(&why);
    return text;
}
