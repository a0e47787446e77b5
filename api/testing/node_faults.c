/* SPDX-License-Identifier: MIT
 *
 * Faults of fake nodes and of allocations: nodes that cannot be prepared, are lost, restart or are
 * preempted, and pools that get no nodes. A fault holds the nodes and pools that it has hit until
 * it is released or removed.
 */
#include <stdlib.h>
#include <string.h>

#include "api/testing/errors.h"
#include "api/testing/faults.h"
#include "lib/jsontext.h"
#include "model/failure.h"
#include "model/schema_rows.h"
#include "model/span.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/scheduler.h"
#include "storage/seeding.h"

#define TEXT_MAX 1000

static const struct enum_name effect_names[] = {
    {NODE_HOLD_PREPARATION, "holdPreparation"},
    {NODE_FAIL_PREPARATION, "failPreparation"},
    {NODE_LOST, "lost"},
    {NODE_RESTART, "restart"},
    {NODE_PREEMPTED, "preempted"},
    {0, NULL},
};
static const struct {
    /* prepares: it hits while a node is prepared; keeps: it lasts until it is released */
    bool prepares, keeps;
} effects[] = {
    [NODE_HOLD_PREPARATION] = {true, true},
    [NODE_FAIL_PREPARATION] = {true, true},
    [NODE_LOST] = {false, true},
    [NODE_RESTART] = {false, false},
    [NODE_PREEMPTED] = {false, true},
};

/* For how long a preempted node cannot be reached by default, in microseconds. */
#define AWAY_US INT64_C(60000000)

/* An effect that will begin or end on a node later. */
struct pending_fault {
    struct testing_faults *all;
    struct loop_timer *timer;
    int64_t fault, node; /* number of the fault; id of the node */
    bool ends;
    struct pending_fault *next;
};

struct fault_ground *testing_faults_ground(struct testing_faults *f)
{
    return &f->ground;
}

struct testing_faults *testing_faults_create(void)
{
    return xcalloc(1, sizeof(struct testing_faults));
}

/* --- reading and showing ---------------------------------------------------------------------- */

/* Refuses members that do not fit the effect. */
static int check_node(json_t *o, const char *path, struct err *e)
{
    (void)path;
    int effect = enum_from_name(effect_names, json_string_value(json_object_get(o, "effect")));
    const char *duration = json_string_value(json_object_get(o, "duration"));
    int64_t us;
    if (json_object_get(o, "after") && effects[effect].prepares)
        return err_set(e, ERR_INVALID_PROPERTY, "node.after",
                       "node.after can be set only with lost, restart and preempted.");
    if (duration && (effects[effect].prepares || !effects[effect].keeps))
        return err_set(e, ERR_INVALID_PROPERTY, "node.duration",
                       "node.duration can be set only with lost and preempted.");
    if (duration && (span_parse(duration, &us) < 0 || us == 0))
        return err_set(e, ERR_INVALID_PROPERTY, "node.duration",
                       "node.duration is '%.60s'; it must be longer than zero.", duration);
    if (json_object_get(o, "message") && effect != NODE_FAIL_PREPARATION)
        return err_set(e, ERR_INVALID_PROPERTY, "node.message",
                       "node.message can be set only with failPreparation.");
    return 0;
}

static void finish_node(struct arena *a, const json_t *o, void *into)
{
    struct fault *f = into;
    (void)a;
    (void)o;
    f->kind = OF_NODE;
    if (f->effect == NODE_PREEMPTED && f->lasts_us == 0)
        f->lasts_us = AWAY_US;
    if (!f->message)
        f->message = "a fault of a test";
}

static const struct field node_rows[] = {
    ENUM("effect", REQUIRED, effect_names, INTO(fault, effect)),
    SPAN("after", .max = DURATION_MAX_S, INTO(fault, after_us)),
    TEXT("message", .max = TEXT_MAX, INTO(fault, message)),
    SPAN("duration", .max = DURATION_MAX_S, INTO(fault, lasts_us)),
};
SCHEMA(fault_node_body, node_rows, "Node", FILLS(fault), .check = check_node,
       .finish = finish_node);

static int check_allocation(json_t *o, const char *path, struct err *e)
{
    (void)path;
    return json_object_get(o, "message") && !json_object_get(o, "code")
               ? err_set(e, ERR_MISSING_PROPERTY, "allocation.code",
                         "allocation.message needs a code.")
               : 0;
}

static void finish_allocation(struct arena *a, const json_t *o, void *into)
{
    struct fault *f = into;
    (void)a;
    (void)o;
    f->kind = OF_ALLOCATION;
    if (f->code && !f->message)
        f->message = "A fault of a test.";
}

static const struct field allocation_rows[] = {
    TEXT("code", .max = TEXT_MAX, INTO(fault, code)),
    TEXT("message", .max = TEXT_MAX, INTO(fault, message)),
};
SCHEMA(fault_allocation_body, allocation_rows, "Allocation", FILLS(fault),
       .check = check_allocation, .finish = finish_allocation);

int fault_check_more(struct fault *f, struct err *e)
{
    const struct selector *m = &f->match;
    if (m->method || m->operation || m->path)
        return err_set(
            e, ERR_INVALID_PROPERTY, "match",
            "A fault of nodes or allocation can be matched only by pool, name and subscription.");
    if (m->name && f->kind == OF_ALLOCATION)
        return err_set(e, ERR_INVALID_PROPERTY, "match.name",
                       "A fault of allocation can be matched only by pool and subscription.");
    return m->name && effects[f->effect].prepares
               ? err_set(e, ERR_INVALID_PROPERTY, "match.name",
                         "A node in preparation has no job: match it by pool and subscription.")
               : 0;
}

void fault_render_more(const struct fault *f, json_t *o)
{
    char after[SPAN_SIZE], duration[SPAN_SIZE];
    span_text(f->after_us, after);
    span_text(f->lasts_us, duration);
    if (f->kind == OF_NODE)
        json_object_set_new(o, "node",
                            json_pack("{s:s, s:s, s:s*, s:s*}", "effect",
                                      enum_to_name(effect_names, (int)f->effect), "after", after,
                                      "duration", f->lasts_us > 0 ? duration : NULL, "message",
                                      f->effect == NODE_FAIL_PREPARATION ? f->message : NULL));
    if (f->kind == OF_ALLOCATION)
        json_object_set_new(o, "allocation",
                            json_pack("{s:s*, s:s*}", "code", f->code, "message", f->message));
}

/* --- nodes -------------------------------------------------------------------------------------
 */

static bool holds(const struct fault *f, int64_t id)
{
    for (size_t i = 0; i < f->n_held; i++)
        if (f->held[i] == id)
            return true;
    return false;
}

static void hold(struct fault *f, int64_t id)
{
    if (holds(f, id))
        return;
    f->held = xrealloc(f->held, (f->n_held + 1) * sizeof *f->held);
    f->held[f->n_held++] = id;
}

static void forget(struct pending_fault *p)
{
    struct pending_fault **at = &p->all->pending;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    loop_timer_destroy(p->timer);
    free(p);
}

static void on_time(void *ctx);

static void come_later(struct testing_faults *all, const struct fault *f,
                       const struct fake_node *node, int64_t in_us, bool ends)
{
    struct pending_fault *p = xcalloc(1, sizeof *p);
    *p = (struct pending_fault){.all = all,
                                .timer = loop_timer_create(all->ground.loop, on_time, p),
                                .fault = f->number,
                                .node = fake_id(node),
                                .ends = ends,
                                .next = all->pending};
    all->pending = p;
    loop_timer_start(p->timer, loop_mono_us(all->ground.loop) + in_us);
}

static void preempt(const struct testing_faults *all, struct fake_node *n)
{
    fake_wipe(n);
    fake_set_down(n, true, 0);
    if (all->ground.sched)
        fleet_node_preempt(sched_fleet(all->ground.sched), fake_id(n));
}

static void strike(struct testing_faults *all, struct fault *f, struct fake_node *n)
{
    if (effects[f->effect].keeps)
        hold(f, fake_id(n));
    if (f->lasts_us > 0)
        come_later(all, f, n, f->lasts_us, true);
    switch (f->effect) {
    case NODE_HOLD_PREPARATION:
        fake_set_hung(n, true);
        break;
    case NODE_FAIL_PREPARATION:
        fake_set_refusing(n, f->message);
        break;
    case NODE_LOST:
        fake_set_down(n, true, 0);
        break;
    case NODE_RESTART:
        fake_restart(n);
        break;
    case NODE_PREEMPTED:
        preempt(all, n);
        break;
    }
}

static void heal(const struct fault *f, struct fake_node *n)
{
    if (f->effect == NODE_HOLD_PREPARATION)
        fake_set_hung(n, false);
    else if (f->effect == NODE_FAIL_PREPARATION)
        fake_set_refusing(n, NULL);
    else if (f->effect == NODE_LOST || f->effect == NODE_PREEMPTED)
        fake_set_down(n, false, 0);
}

/* Releases the node, unless the fault does not hold it any more. */
static void let_one_go(struct fault *f, struct fake_node *n)
{
    for (size_t i = 0; i < f->n_held; i++)
        if (f->held[i] == fake_id(n)) {
            f->held[i] = f->held[--f->n_held];
            heal(f, n);
            return;
        }
}

static struct fault *first_hit(struct testing_faults *all, bool prepares,
                               const struct request_facts *told)
{
    for (struct fault *f = all->first; f; f = f->next)
        if (f->kind == OF_NODE && effects[f->effect].prepares == prepares && fault_hits(f, told))
            return f;
    return NULL;
}

void testing_faults_met(struct testing_faults *all, struct fake_node *node,
                        const struct pool_place *place)
{
    const struct request_facts told = {.subscription = place->subscription, .pool = place->pool};
    struct fault *f = first_hit(all, true, &told);
    if (f)
        strike(all, f, node);
}

static void on_time(void *ctx)
{
    struct pending_fault *p = ctx;
    struct testing_faults *all = p->all;
    struct fake_node *n = fake_by_id(all->ground.nodes, p->node);
    struct fault *f = all->first;
    bool ends = p->ends;
    while (f && f->number != p->fault)
        f = f->next;
    forget(p);
    if (f && n && ends)
        let_one_go(f, n);
    else if (f && n)
        strike(all, f, n);
}

/* Called when a process begins on a node. Its fault always acts later, because the node has not
 * reported yet that the process has begun. */
void testing_faults_began(struct testing_faults *all, const struct fake_node *node,
                          const struct pool_place *place, const char *name)
{
    const struct request_facts told = {
        .subscription = place->subscription, .pool = place->pool, .name = name};
    const struct fault *f = first_hit(all, false, &told);
    if (f)
        come_later(all, f, node, f->after_us, false);
}

void faults_pending_free(struct testing_faults *all)
{
    for (struct pending_fault *p = all->pending, *next; p; p = next) {
        next = p->next;
        forget(p);
    }
}

/* --- allocations -------------------------------------------------------------------------------
 */

/* The fault's error in the form of failure_append(), like an error of the service; NULL: none. */
static const char *error_text(struct arena *a, const struct fault *f)
{
    if (!f->code)
        return NULL;
    return jsontext_new_in(a, json_pack("[{s:s, s:s}]", "code", f->code, "message", f->message));
}

/* Whether a pool must get no nodes. A fault hits a pool once, and then holds it. */
bool testing_faults_shut(void *ctx, struct arena *a, const struct pool *p, const char **error)
{
    struct testing_faults *all = ctx;
    struct pool_place place;
    bool unmade = false;
    struct err e;
    *error = NULL;
    /* the pool's jobs need rows that the seed has not written yet; the end of the seed calls
     * sched_gate_opened() */
    if (st_pool_is_unmade(all->ground.storage, p->id, &unmade, &e) == 0 && unmade)
        return true;
    if (!all->first || st_pool_place(all->ground.storage, a, p->id, &place, &e) != 1)
        return false;
    const struct request_facts told = {.subscription = place.subscription, .pool = place.pool};
    for (struct fault *f = all->first; f; f = f->next) {
        if (f->kind != OF_ALLOCATION || f->opened)
            continue;
        if (!holds(f, p->id) && !fault_hits(f, &told))
            continue;
        hold(f, p->id);
        *error = error_text(a, f);
        return true;
    }
    return false;
}

int fault_let_go(struct testing_faults *all, struct fault *f)
{
    int n = (int)f->n_held;
    for (size_t i = 0; f->kind == OF_NODE && i < f->n_held; i++) {
        struct fake_node *node = fake_by_id(all->ground.nodes, f->held[i]);
        if (node)
            heal(f, node);
    }
    f->n_held = 0;
    f->opened = f->kind == OF_ALLOCATION;
    if (f->opened && all->ground.sched)
        sched_gate_opened(all->ground.sched);
    return n;
}
