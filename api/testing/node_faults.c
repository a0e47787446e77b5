/* SPDX-License-Identifier: MIT
 *
 * Faults of fake nodes and of allocations: nodes that cannot be prepared, are lost, restart or are
 * preempted; pools that get no nodes. What they hit, they hold until it is let go, or they are
 * removed.
 */
#include <stdlib.h>
#include <string.h>

#include "api/http/json_members.h"
#include "api/testing/errors.h"
#include "api/testing/faults.h"
#include "lib/jsontext.h"
#include "model/failure.h"
#include "model/span.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/scheduler.h"
#include "storage/seeding.h"

#define TEXT_MAX 1000

static const struct {
    const char *name;
    bool prepares, keeps; /* it comes while a node is prepared; it lasts until it is let go */
} effects[] = {
    [NODE_HOLD_PREPARATION] = {"holdPreparation", true, true},
    [NODE_FAIL_PREPARATION] = {"failPreparation", true, true},
    [NODE_LOST] = {"lost", false, true},
    [NODE_RESTART] = {"restart", false, false},
    [NODE_PREEMPTED] = {"preempted", false, true},
};
#define N_EFFECTS (sizeof effects / sizeof effects[0])

/* How long a preempted node is away, where nothing is said. */
#define AWAY_US INT64_C(60000000)

/* An effect that comes over a node later, or ends. */
struct pending_fault {
    struct testing_faults *all;
    struct loop_timer *timer;
    int64_t fault, node; /* number; id */
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

static int read_node(struct fault *f, const json_t *o, struct err *e)
{
    struct {
        const char *effect, *after, *message, *duration;
    } given = {0};
    const struct member members[] = {
        {"effect", .text = &given.effect, .needed = true},
        {"after", .text = &given.after},
        {"message", .text = &given.message, .max = TEXT_MAX},
        {"duration", .text = &given.duration},
    };
    size_t i = 0;
    if (members_read(o, "node", MEMBERS(members), e) < 0)
        return -1;
    while (i < N_EFFECTS && strcmp(effects[i].name, given.effect) != 0)
        i++;
    if (i == N_EFFECTS)
        return err_set(e, ERR_INVALID_PROPERTY, "node.effect",
                       "node.effect is '%.60s'; it must be holdPreparation, failPreparation, lost, "
                       "restart or preempted.",
                       given.effect);
    f->kind = OF_NODE;
    f->effect = (enum node_effect)i;
    if (given.after && (effects[i].prepares || span_parse(given.after, &f->after_us) < 0 ||
                        f->after_us > DURATION_MAX_US))
        return err_set(e, ERR_INVALID_PROPERTY, "node.after",
                       "node.after is '%.60s'; it must be a duration such as PT30M, and goes with "
                       "lost, restart and preempted only.",
                       given.after);
    f->lasts_us = f->effect == NODE_PREEMPTED ? AWAY_US : 0;
    if (given.duration &&
        (effects[i].prepares || !effects[i].keeps || span_parse(given.duration, &f->lasts_us) < 0 ||
         f->lasts_us <= 0 || f->lasts_us > DURATION_MAX_US))
        return err_set(e, ERR_INVALID_PROPERTY, "node.duration",
                       "node.duration is '%.60s'; it must be a duration such as PT30M, and goes "
                       "with lost and preempted only.",
                       given.duration);
    if (given.message && f->effect != NODE_FAIL_PREPARATION)
        return err_set(e, ERR_INVALID_PROPERTY, "node.message",
                       "node.message goes with failPreparation only.");
    f->message = xstrdup(given.message ? given.message : "a fault of a test");
    return 0;
}

static int read_allocation(struct fault *f, const json_t *o, struct err *e)
{
    struct {
        const char *code, *message;
    } given = {0};
    const struct member members[] = {
        {"code", .text = &given.code, .max = TEXT_MAX},
        {"message", .text = &given.message, .max = TEXT_MAX},
    };
    if (members_read(o, "allocation", MEMBERS(members), e) < 0)
        return -1;
    if (given.message && !given.code)
        return err_set(e, ERR_MISSING_PROPERTY, "allocation.code",
                       "allocation.message goes with a code.");
    f->kind = OF_ALLOCATION;
    if (!given.code)
        return 0;
    f->code = xstrdup(given.code);
    f->message = xstrdup(given.message ? given.message : "A fault of a test.");
    return 0;
}

int fault_read_more(struct fault *f, const json_t *node, const json_t *allocation, struct err *e)
{
    const struct selector *m = &f->match;
    if (m->method || m->operation || m->path)
        return err_set(e, ERR_INVALID_PROPERTY, "match",
                       "A fault of nodes or allocation fits by pool, name and subscription.");
    if (m->name && (allocation || !node))
        return err_set(e, ERR_INVALID_PROPERTY, "match.name",
                       "An allocation fits by pool and subscription.");
    if (!node)
        return read_allocation(f, allocation, e);
    if (read_node(f, node, e) < 0)
        return -1;
    return m->name && effects[f->effect].prepares
               ? err_set(e, ERR_INVALID_PROPERTY, "match.name",
                         "While a node is prepared no job is there: it fits by pool and "
                         "subscription.")
               : 0;
}

void fault_render_more(const struct fault *f, json_t *o)
{
    char after[SPAN_SIZE], duration[SPAN_SIZE];
    span_text(f->after_us, after);
    span_text(f->lasts_us, duration);
    if (f->kind == OF_NODE)
        json_object_set_new(o, "node",
                            json_pack("{s:s, s:s, s:s*, s:s*}", "effect", effects[f->effect].name,
                                      "after", after, "duration", f->lasts_us > 0 ? duration : NULL,
                                      "message",
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

/* If it was not let go before. */
static void let_one_go(struct fault *f, struct fake_node *n)
{
    for (size_t i = 0; i < f->n_held; i++)
        if (f->held[i] == fake_id(n)) {
            f->held[i] = f->held[--f->n_held];
            heal(f, n);
            return;
        }
}

static struct fault *first_hit(struct testing_faults *all, bool prepares, const struct told *told)
{
    for (struct fault *f = all->first; f; f = f->next)
        if (f->kind == OF_NODE && effects[f->effect].prepares == prepares && fault_hits(f, told))
            return f;
    return NULL;
}

void testing_faults_met(struct testing_faults *all, struct fake_node *node,
                        const struct pool_place *place)
{
    const struct told told = {.subscription = place->subscription, .pool = place->pool};
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

/* Never at once: the node is about to say that the process has begun. */
void testing_faults_began(struct testing_faults *all, const struct fake_node *node,
                          const struct pool_place *place, const char *name)
{
    const struct told told = {
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

/* In the form of failure_append(): an error of the service's own. */
static const char *error_text(struct arena *a, const struct fault *f)
{
    if (!f->code)
        return NULL;
    return jsontext_new_in(a, json_pack("[{s:s, s:s}]", "code", f->code, "message", f->message));
}

/* A pool is hit once, and then held. */
bool testing_faults_shut(void *ctx, struct arena *a, const struct pool *p, const char **error)
{
    struct testing_faults *all = ctx;
    struct pool_place place;
    bool unmade = false;
    struct err e;
    *error = NULL;
    /* Its jobs want what the seed has still to write (sched_gate_opened() by api/testing/seed/). */
    if (st_pool_is_unmade(all->ground.storage, p->id, &unmade, &e) == 0 && unmade)
        return true;
    if (!all->first || st_pool_place(all->ground.storage, a, p->id, &place, &e) != 1)
        return false;
    const struct told told = {.subscription = place.subscription, .pool = place.pool};
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
