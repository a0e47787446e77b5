/* SPDX-License-Identifier: MIT
 *
 * The pass over a pool: brings the number of its nodes to the target, gives idle nodes to waiting
 * runs, and writes its allocation state and errors. All writes are part of one transaction per turn
 * of the loop.
 */
#include <assert.h>
#include <string.h>

#include "model/states.h"
#include "scheduler/pass.h"
#include "scheduler/unplaceable.h"

/* Nodes that one pass adds, asks to leave or tries again. Each takes some tens of microseconds, so
 * other work waits for a few milliseconds. If there are more, the next pass follows in the next
 * turn of the loop. */
#define NODES_PER_PASS 100

/* A pass reads all nodes of the pool, and every node that becomes ready requests a pass. So after a
 * pass over a large pool there is a pause, in proportion to the number of its nodes. Thus the
 * passes take a small part of the loop's time, and runs wait for some tens of milliseconds at
 * most. */
#define REST_FROM_NODES  200
#define REST_PER_NODE_US 20

static bool deleting(const struct pass *p)
{
    return p->pool.going;
}

/* --- scale ---------------------------------------------------------------------------------- */

/* Whether new nodes of the class are machines. They are of the same sort (machine or local) as the
 * present nodes of the class, even if the inventory has changed. Without present nodes, machines
 * are preferred to local nodes. */
static bool wants_machines(const struct pass *p, const struct pass_class *c, int serving)
{
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].vm_priority == c->priority && p->nodes[i].state != NODE_LEAVING)
            return p->nodes[i].machine_id != 0;
    return serving > 0;
}

/* Sets *room to how many more nodes of the class the pool could get now. */
static int free_capacity(struct pass *p, struct pass_class *c, int *room, struct err *e)
{
    int serving;
    int64_t local;
    if (fleet_is_scripted(p->s->fleet, p->pool.vm_size)) {
        *room = SCRIPTED_NODES_MAX;
        return 0;
    }
    machines_count(p->s->fleet, p->pool.vm_size, c->priority, &serving, room);
    c->on_machines = wants_machines(p, c, serving);
    if (c->on_machines)
        return 0;
    if (st_node_local_total(p->s->st, fleet_scripted_sizes(p->s->fleet), &local, e) != 0)
        return -1;
    *room = p->s->local_nodes - (int)local;
    return 0;
}

/* The nodes of the class in the form of a plan. */
static struct plan_node *nodes_of(struct pass *p, const struct pass_class *c, size_t *n)
{
    struct plan_node *nodes = pass_plan_nodes(p);
    *n = 0;
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].vm_priority == c->priority)
            nodes[(*n)++] = nodes[i];
    return nodes;
}

/* How long a node is idle before automatic scaling removes it. */
static int64_t idle_us(const struct pass *p)
{
    int64_t paced_us = front_takes_us(p->front, STEP_AUTO_IDLE, p->pool.id);
    return paced_us > 0 ? paced_us : p->s->autoscale_idle_us;
}

static int64_t max_us(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t until(const struct pass *p, enum front_step step, int64_t since_us)
{
    return wakes_until(p->s->wakes, since_us, front_takes_us(p->front, step, p->pool.id));
}

/* Whether the pool gets no new nodes now: in strict mode the new nodes are made some time after the
 * resize, and a new pool gets none before it is created. */
static bool is_shut(struct pass *p, struct pass_class *c)
{
    const struct sched_gate *gate = &p->s->gate;
    bool resizes = p->pool.alloc_state == ALLOC_RESIZING;
    int64_t since_us = resizes ? p->pool.alloc_us : p->now_us;
    p->paced_until_us = until(
        p, p->pool.scale.kind == SCALE_AUTO ? STEP_AUTO_ALLOCATION : STEP_ALLOCATION, since_us);
    if (p->pool.is_new)
        p->paced_until_us =
            max_us(p->paced_until_us, until(p, STEP_POOL_CREATION, p->pool.alloc_us));
    return p->paced_until_us > 0 ||
           (gate->is_shut && gate->is_shut(gate->ctx, p->a, &p->pool, &c->error));
}

static int decide_scale(struct pass *p, struct pass_class *c, struct err *e)
{
    int64_t demand = 0;
    int room;
    size_t n;
    const struct plan_node *nodes = nodes_of(p, c, &n);
    if (c->scale.kind == SCALE_AUTO && pass_demand(p, nodes, &demand, e) != 0)
        return -1;
    if (free_capacity(p, c, &room, e) != 0)
        return -1;
    struct plan_scale_input in = {
        .scale = c->scale,
        .deleting = deleting(p),
        .initial = p->pool.is_new,
        .nodes = nodes,
        .n_nodes = n,
        .demand = demand,
        .now_us = wakes_mono(p->s->wakes),
        .idle_us = idle_us(p),
        .free_capacity = room,
        .good_capacity =
            c->on_machines ? machines_good(p->s->fleet, p->pool.vm_size, c->priority) : 0,
    };
    p->demand = demand;
    plan_scale(p->a, &in, &c->plan);
    c->shut = c->plan.add > 0 && is_shut(p, c);
    if (c->shut) {
        in.free_capacity = in.good_capacity = 0;
        plan_scale(p->a, &in, &c->plan);
    }
    return 0;
}

static int add_node(struct pass *p, struct pass_class *c, int ordinal, struct err *e)
{
    char when[TIMEFMT_SIZE];
    timefmt_basic(p->now_us, 1, when);
    const char *machine = NULL;
    int64_t machine_id = c->on_machines ? machines_pick(p->s->fleet, p->pool.vm_size, c->priority,
                                                        &c->pick, &machine)
                                        : 0;
    assert(machine_id != 0 ||
           !c->on_machines); /* the plan adds at most as many nodes as there are free machines */
    struct node nd = {
        .pool_id = p->pool.id,
        /* Ten digits that are unique to the pool: nodes of two pools never share a root. */
        .name = arena_printf(p->a, "tvm-%lld_%d-%s%s", 1000000000LL + (long long)p->pool.id,
                             ordinal, when, c->priority == VM_LOWPRIORITY ? "-p" : ""),
        .ordinal = ordinal,
        .vm_priority = c->priority,
        .state = NODE_PREPARING,
        .state_us = p->now_us,
        .created_us = p->now_us,
        .machine_id = machine_id,
    };
    int64_t id;
    if (st_node_insert(p->s->st, &nd, &id, e) != 0)
        return -1;
    machines_claimed(p->s->fleet, machine_id, id, p->pool.id);
    LOG_INFO(p->s->log, "node.preparing", LF_STR("node", nd.name),
             LF_STR("kind", p->front->words->pool), LF_STR("pool", p->name),
             LF_STR("machine", machine));
    wake_durable(p->s->wakes, &woken_node, id);
    return 0;
}

static void log_move(const struct pass *p, const struct node *row, enum node_event ev)
{
    const char *kind = p->front->words->pool;
    if (ev == NODE_EV_LEAVE)
        LOG_INFO(p->s->log, "node.leaving", LF_STR("node", row->name), LF_STR("kind", kind),
                 LF_STR("pool", p->name));
    else
        LOG_INFO(p->s->log, "node.preparing", LF_STR("node", row->name), LF_STR("kind", kind),
                 LF_STR("pool", p->name));
}

static int move_node(struct pass *p, const struct plan_node *n, enum node_event ev, struct err *e)
{
    const struct node *row = pass_row_of(p, n);
    const struct st_node_move m = {
        .id = row->id, .from = row->state, .to = node_next(row->state, ev), .now_us = p->now_us};
    if (st_node_move(p->s->st, &m, e) != 0)
        return -1;
    log_move(p, row, ev);
    wake_durable(p->s->wakes, &woken_node, row->id);
    return fleet_wake_runs(p->s->fleet, p->a, row->id, e);
}

static bool leaves(const struct pass *p, const struct plan_node *n)
{
    for (size_t i = 0; i < p->n_classes; i++)
        for (size_t k = 0; k < p->classes[i].plan.n_leave; k++)
            if (p->classes[i].plan.leave[k]->id == n->id)
                return true;
    return false;
}

/* Whenever the pool changes its size, tries each remaining unusable node once, in the order of
 * ordinals; `retrying` is the last tried ordinal. */
static int retry_unusable(struct pass *p, struct err *e)
{
    const struct plan_node *nodes = pass_plan_nodes(p);
    int64_t last = id_map_number(&p->s->retrying, p->pool.id);
    int left = NODES_PER_PASS;
    for (size_t i = 0; i < p->n_nodes; i++) {
        if (nodes[i].ordinal <= last || nodes[i].state != NODE_UNUSABLE || nodes[i].live > 0 ||
            leaves(p, &nodes[i]))
            continue;
        if (left-- == 0) {
            id_map_put_number(&p->s->retrying, p->pool.id, last);
            p->unfinished = true;
            return 0;
        }
        last = nodes[i].ordinal;
        if (move_node(p, &nodes[i], NODE_EV_RETRY, e) != 0)
            return -1;
    }
    id_map_remove(&p->s->retrying, p->pool.id);
    return 0;
}

/* Nodes whose machines were removed from the inventory leave as soon as nothing runs on them,
 * whatever the target is. The pool gets other nodes if there are any. */
static int leave_with_machines(struct pass *p, struct err *e)
{
    const struct plan_node *nodes = pass_plan_nodes(p);
    struct machine_use m;
    bool any = false;
    for (size_t i = 0; i < p->n_nodes; i++) {
        if (nodes[i].state == NODE_LEAVING || nodes[i].live > 0 || nodes[i].keeps ||
            !machines_use(p->s->fleet, p->nodes[i].machine_id, &m) || !m.leaves)
            continue;
        any = true;
        if (move_node(p, &nodes[i], NODE_EV_LEAVE, e) != 0)
            return -1;
    }
    return any ? pass_load_nodes(p, e) : 0;
}

void sched_pool_gone(struct sched *s, int64_t pool_id)
{
    wake_at(s->wakes, &woken_pool, pool_id, 0);
    oversized_forget(s, pool_id);
    bool wanted = machines_want(s->fleet, pool_id, NULL);
    id_map_remove(&s->resting, pool_id);
    id_map_remove(&s->retrying, pool_id);
    id_map_remove(&s->short_pools, pool_id);
    if (wanted)
        wake_short_pools(s);
}

static int add_nodes(struct pass *p, struct pass_class *c, int n, struct err *e)
{
    const struct plan_node *nodes = pass_plan_nodes(p);
    int *ordinals = arena_alloc(p->a, ((size_t)n + 1) * sizeof *ordinals);
    plan_ordinals(p->a, nodes, p->n_nodes, ordinals, n);
    for (int i = 0; i < n; i++)
        if (add_node(p, c, ordinals[i], e) != 0)
            return -1;
    if (n > 0 && c->on_machines)
        /* the errors of these pools name the holders of the machines, and the holders have
         * changed */
        wake_short_pools(p->s);
    return 0;
}

static const char *why_scaled(struct pass *p, const struct pass_class *c)
{
    const struct front_words *w = p->front->words;
    const struct scale *s = &c->scale;
    switch (c->plan.why) {
    case PLAN_AS_ASKED:
        return deleting(p) ? front_text(w, p->a, "the {pool} is being deleted")
                           : arena_printf(p->a, "%d asked for", s->target);
    case PLAN_DEMAND:
        return front_say(w, p->a, "the {runs} that wait want %lld", (long long)p->demand);
    case PLAN_BOUNDS:
        return arena_printf(p->a, "the minimum is %d, the maximum %d and the initial number %d",
                            s->minimum, s->maximum, s->initial);
    case PLAN_IDLE:
        return arena_printf(p->a, "idle for %lld s, and no waiting run needs more",
                            (long long)(idle_us(p) / 1000000));
    case PLAN_REPLACED:
        return "other machines are free and can be used";
    }
    return "";
}

/* Writes the decision and its reason to the log and to the event of the pool. */
static void say_why(struct pass *p, const struct pass_class *c, size_t nodes, const char *how)
{
    const struct front_words *w = p->front->words;
    if (nodes == 0)
        return;
    p->why = arena_printf(p->a, "%s%s%zu %s: %s", p->why ? p->why : "", p->why ? "; " : "", nodes,
                          how, why_scaled(p, c));
    LOG_INFO(p->s->log, "pool.scaled", LF_STR("kind", w->pool), LF_STR("pool", p->name),
             LF_STR("why", p->why));
}

/* Adds nodes and asks nodes to leave, as planned. *resized: the pool's number of nodes changes. */
static int apply_scale(struct pass *p, struct pass_class *c, bool *resized, struct err *e)
{
    const struct plan_scale_result *r = &c->plan;
    if (r->add == 0 && r->n_leave == 0)
        return 0;
    /* A replaced node leaves in the pass in which its replacement is made. */
    size_t most = r->add > 0 && r->n_leave > 0 ? NODES_PER_PASS / 2 : NODES_PER_PASS;
    size_t add = (size_t)r->add < most ? (size_t)r->add : most;
    size_t leave = r->n_leave < most ? r->n_leave : most;
    *resized = *resized || r->add > r->replaced || r->n_leave > (size_t)r->replaced;
    p->unfinished = p->unfinished || add < (size_t)r->add || leave < r->n_leave;
    say_why(p, c, leave, "less");
    say_why(p, c, add, "more");
    if (add_nodes(p, c, (int)add, e) != 0)
        return -1;
    for (size_t i = 0; i < leave; i++)
        if (move_node(p, r->leave[i], NODE_EV_LEAVE, e) != 0)
            return -1;
    return pass_load_nodes(p, e);
}

/* Finds the classes of nodes. The first class has the priority of the pool. */
static void find_classes(struct pass *p)
{
    bool low = p->pool.scale.low > 0;
    for (size_t i = 0; i < p->n_nodes && !low; i++)
        low = p->nodes[i].vm_priority != p->pool.vm_priority;
    p->classes[0] = (struct pass_class){.priority = p->pool.vm_priority, .scale = p->pool.scale};
    p->classes[0].scale.low = 0;
    p->classes[1] = (struct pass_class){
        .priority = VM_LOWPRIORITY,
        .scale = {SCALE_MANUAL, p->pool.scale.low, .dealloc = p->pool.scale.dealloc}};
    p->n_classes = low ? 2 : 1;
}

static void sum_up(struct pass *p, const struct plan_scale_result *r)
{
    p->scale.target += r->target;
    p->scale.missing += r->missing;
    p->scale.changes = p->scale.changes || r->add > 0 || r->n_leave > 0;
    if (p->scale.look_again_us == 0 ||
        (r->look_again_us > 0 && r->look_again_us < p->scale.look_again_us))
        p->scale.look_again_us = r->look_again_us;
}

/* Plans the classes one after the other, because capacity that one class takes is not available for
 * the next. */
static int scale_classes(struct pass *p, struct err *e)
{
    bool resized = false, retrying = id_map_has(&p->s->retrying, p->pool.id);
    find_classes(p);
    for (size_t i = 0; i < p->n_classes; i++) {
        if (decide_scale(p, &p->classes[i], e) != 0 ||
            apply_scale(p, &p->classes[i], &resized, e) != 0)
            return -1;
        sum_up(p, &p->classes[i].plan);
    }
    if (p->unfinished || (!resized && !retrying))
        return 0;
    return retry_unusable(p, e) == 0 ? pass_load_nodes(p, e) : -1;
}

static int move_pool(struct pass *p, enum pool_event ev, struct err *e)
{
    enum alloc_state to = pool_next(p->pool.alloc_state, ev);
    if (to == 0)
        return 0; /* the pool has this state already */
    const struct st_pool_move m = {.id = p->pool.id,
                                   .kind = p->pool.kind,
                                   .from = p->pool.alloc_state,
                                   .to = to,
                                   .now_us = p->now_us,
                                   .reason = to == ALLOC_RESIZING ? p->why : NULL};
    if (st_pool_move(p->s->st, &m, e) != 0)
        return -1;
    const struct front_words *w = p->front->words;
    p->pool.alloc_state = to;
    if (to == ALLOC_STEADY)
        LOG_INFO(p->s->log, "pool.steady", LF_STR("kind", w->pool), LF_STR("pool", p->name),
                 LF_INT("nodes", p->n_nodes), LF_INT("target", p->scale.target));
    else
        LOG_INFO(p->s->log, "pool.resizing", LF_STR("kind", w->pool), LF_STR("pool", p->name),
                 LF_INT("nodes", p->n_nodes), LF_INT("target", p->scale.target));
    return 0;
}

/* Adds an event for a decision during a resize. */
static int tell_event(struct pass *p, struct err *e)
{
    const struct event ev = {.at_us = p->now_us,
                             .kind = p->pool.kind,
                             .resource_id = p->pool.id,
                             .from = ALLOC_RESIZING,
                             .to = ALLOC_RESIZING,
                             .reason = p->why};
    return st_event_add(p->s->st, &ev, e);
}

static int tell_scaled(struct pass *p, bool settled, struct err *e)
{
    struct pool_scaled s = {.settled = settled, .missing = p->scale.missing};
    for (size_t i = 0; i < p->n_classes && !s.refused; i++)
        s.refused = p->classes[i].error;
    return FRONT_ASK(p->front, scaled, p->s->st, &p->pool, &s, p->now_us, e);
}

/* Whether each class has its target, and no node leaves. The sum does not suffice: one class may
 * lack nodes while another has too many. */
static bool is_settled(const struct pass *p)
{
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].state == NODE_LEAVING)
            return false;
    for (size_t k = 0; k < p->n_classes; k++) {
        int has = 0;
        for (size_t i = 0; i < p->n_nodes; i++)
            has += p->n_classes == 1 || p->nodes[i].vm_priority == p->classes[k].priority;
        if (has != p->classes[k].plan.target)
            return false;
    }
    return true;
}

/* If a resize begins and ends in this pass, writes two steps, so that the transition time
 * changes. */
static int write_alloc_state(struct pass *p, struct err *e)
{
    bool settled = is_settled(p);
    if (p->why && p->pool.alloc_state == ALLOC_RESIZING && tell_event(p, e) != 0)
        return -1;
    if ((!settled || p->scale.changes) && move_pool(p, POOL_EV_RESIZE, e) != 0)
        return -1;
    if (settled && !deleting(p) && move_pool(p, POOL_EV_SETTLED, e) != 0)
        return -1;
    assert(settled || p->pool.alloc_state == ALLOC_RESIZING);
    if (!deleting(p) && tell_scaled(p, settled, e) != 0)
        return -1;
    if (p->pool.scale.kind == SCALE_AUTO && p->pool.auto_target != p->scale.target)
        return st_pool_set_auto_target(p->s->st, p->pool.id, p->scale.target, e);
    return 0;
}

static int reconcile_scale(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    struct pass *p = ctx;
    if (pass_load_nodes(p, e) != 0 || pass_fulfil(p, e) != 0 || leave_with_machines(p, e) != 0 ||
        scale_classes(p, e) != 0)
        return -1;
    if (write_alloc_state(p, e) != 0 || pass_reclaim(p, e) != 0)
        return -1;
    return pass_write_errors(p, e);
}

/* --- the pass ------------------------------------------------------------------------------- */

/* Reports to the front the runs that the pool cannot serve: larger than its scale, in need of more
 * of a node than any node has, or first in the queue and in need of more nodes than are usable. */
static int look_at_waiting(struct pass *p, struct err *e)
{
    struct pool_nodes have = {.missing = p->scale.missing};
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct node *nd = &p->nodes[i];
        if (nd->state == NODE_UNUSABLE || (nd->state != NODE_LEAVING && pass_out_of_service(p, nd)))
            have.no_use++;
        else
            have.usable += nd->state != NODE_LEAVING;
    }
    if (oversized_look(p->s, p->a, &p->pool, e) != 0 ||
        oversized_parts(p->s, p->a, &p->pool, p->nodes, p->n_nodes, e) != 0)
        return -1;
    return oversized_blocks(p->s, p->a, &p->pool, &have, e);
}

/* How long until a pool is reconciled again after a failed write (us). */
#define RECONCILE_AGAIN_US 1000000

static void effect_reconciled(void *ctx, int64_t id, const struct err *why)
{
    struct sched *s = ctx;
    enum resource_kind kind;
    struct err e;
    if (!why)
        return;
    bool known = st_pool_kind(s->st, id, &kind, &e) == 1;
    const struct front_words *w = (known ? front_of(&s->fronts, kind) : s->fronts.all[0])->words;
    LOG_WARN(s->log, "pool.decision_not_written", LF_STR("kind", w->pool), LF_INT("pool_id", id),
             LF_STR("why", why->msg));
    oversized_forget(s, id); /* the front's reports were about rows that were rolled back */
    machines_reread(s->fleet);
    wake_at(s->wakes, &woken_pool, id, wakes_mono(s->wakes) + RECONCILE_AGAIN_US);
}

/* Whether it is too early for another pass. If so, the pool will be woken when the pause is
 * over. */
static bool rests(struct sched *s, int64_t id)
{
    int64_t until = id_map_number(&s->resting, id);
    if (until <= wakes_mono(s->wakes))
        return false;
    wake_by(s->wakes, &woken_pool, id, until);
    return true;
}

/* Sets the earliest time of the next pass. */
static void rest(struct pass *p, int64_t id)
{
    struct wakes *w = p->s->wakes;
    int64_t us = p->n_nodes < REST_FROM_NODES ? 0 : (int64_t)p->n_nodes * REST_PER_NODE_US;
    if (p->unfinished)
        wake_at(w, &woken_pool, id, wakes_mono(w));
    else if (us > 0)
        id_map_put_number(&p->s->resting, id, wakes_mono(w) + us);
    else
        id_map_remove(&p->s->resting, id);
}

void pool_reconcile(void *ctx, int64_t id)
{
    struct sched *s = ctx;
    if (rests(s, id))
        return;
    struct arena a;
    struct pass p = {.s = s, .a = &a, .now_us = wakes_wall(s->wakes)};
    arena_init(&a);
    struct err e = {0};
    int rc = pass_load_pool(&p, id, &e);
    if (rc == 1)
        rc = st_tx(s->st, "scale pool", reconcile_scale, &p, &e);
    if (rc == 0 && p.pool.id == 0)
        sched_pool_gone(s, id); /* the creation of the pool may have been rolled back, too */
    if (rc == 0 && p.pool.id != 0) {
        wake_at(s->wakes, &woken_pool, id, p.scale.look_again_us);
        if (p.paced_until_us > 0)
            wake_by(s->wakes, &woken_pool, id, p.paced_until_us);
        rc = deleting(&p) ? pass_fail_queue(&p, &e) : pass_fail_broken(&p, &e);
        if (rc == 0 && !deleting(&p))
            rc = pass_serve_queue(&p, &e);
        if (rc == 0 && !deleting(&p))
            rc = look_at_waiting(&p, &e);
    }
    if (rc < 0) {
        const struct front_words *w = p.front->words;
        LOG_ERROR(s->log, "pool.reconcile_failed", LF_STR("kind", w->pool), LF_INT("pool_id", id),
                  LF_STR("why", e.msg));
        machines_reread(s->fleet);
        wake_at(s->wakes, &woken_pool, id, wakes_mono(s->wakes) + RECONCILE_AGAIN_US);
    }
    if (rc == 0 && p.pool.id != 0)
        rest(&p, id);
    if (st_has_pending(s->st))
        wake_when_durable(s->wakes, effect_reconciled, s, id);
    arena_free(&a);
}

/* Writes to the pool's errors that no pass is allowed. The next allowed pass writes the errors
 * anew. */
void pool_refused(void *ctx, int64_t id, const struct err *why)
{
    struct sched *s = ctx;
    struct arena a;
    struct err e = {0};
    struct pass p = {.s = s, .a = &a};
    const struct failure f = {.code = FAIL_ENDED_DAEMON, .message = why->msg, .exit_code = -1};
    arena_init(&a);
    int rc = pass_load_pool(&p, id, &e);
    const char *errors = failure_append(&a, NULL, &f);
    if (rc == 1 && (!p.pool.errors || strcmp(p.pool.errors, errors) != 0))
        rc = st_pool_set_errors(s->st, id, errors, &e);
    if (rc < 0) {
        LOG_ERROR(s->log, "pool.error_not_written", LF_INT("pool_id", id), LF_STR("why", e.msg));
        wake_at(s->wakes, &woken_pool, id, wakes_mono(s->wakes) + RECONCILE_AGAIN_US);
    } else if (st_has_pending(s->st)) {
        wake_if_lost(s->wakes, &woken_pool, id);
    }
    arena_free(&a);
}
