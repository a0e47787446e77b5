/* SPDX-License-Identifier: MIT
 *
 * How long a plan takes: 10,000 runs wait for 2,000 nodes. Prints the microseconds of processor
 * time of each of the rounds, one line for each case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scheduler/plan.h"

#define NODES   2000
#define RUNS    10000
#define SLOTS   4
#define ROUNDS  21
#define HOUR_US INT64_C(3600000000)

struct town {
    struct plan_node nodes[NODES];
    struct plan_run runs[RUNS]; /* in turn */
    struct plan_held held[NODES * SLOTS];
    size_t n_held;
};

static const struct capacity whole = {SLOTS, 4, 16, INT64_C(1) << 30};
static unsigned seed;

static int any(int n)
{
    seed = seed * 1103515245U + 12345U;
    return (int)((seed >> 16 & 0x7fff) % (unsigned)n);
}

static struct capacity slots(int n)
{
    return (struct capacity){n, n, 4 * n, (int64_t)n << 28};
}

static void hold(struct town *t, size_t node, struct capacity what)
{
    struct plan_node *n = &t->nodes[node];
    t->held[t->n_held++] = (struct plan_held){node, (1 + any(1000)) * HOUR_US / 10, what};
    n->live++;
    n->left.slots -= what.slots;
    n->left.gpus -= what.gpus;
    n->left.cores -= what.cores;
    n->left.memory -= what.memory;
}

/* Where runs have whole nodes, one of 50 nodes is idle; where they share them, each second one has
 * a slot left. A quarter of those that wait want up to 64 nodes, or parts of up to 8. */
static void fill(struct town *t, bool parts, bool busy)
{
    seed = 1;
    t->n_held = 0;
    for (size_t i = 0; i < NODES; i++) {
        t->nodes[i] = (struct plan_node){.id = (int64_t)i + 1,
                                         .ordinal = (int)i + 1,
                                         .state = NODE_IDLE,
                                         .has = whole,
                                         .left = whole};
        if (busy && !parts && any(50) > 0)
            hold(t, i, whole);
        for (int k = any(2); busy && parts && k < SLOTS; k++)
            hold(t, i, slots(1));
    }
    for (int i = 0; i < RUNS; i++) {
        struct plan_run *r = &t->runs[i];
        *r = (struct plan_run){.id = i + 1,
                               .nodes = any(4) > 0 ? 1 : 1 + any(parts ? 8 : 64),
                               .part = parts && any(10) > 0,
                               .for_us = (1 + any(1000)) * HOUR_US / 10};
        if (r->part)
            r->need = slots(1 + any(SLOTS));
    }
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void ask_all(struct town *t, struct arena *a, size_t *started, size_t *waiting)
{
    const struct plan_queue_input in = {.nodes = t->nodes,
                                        .n_nodes = NODES,
                                        .largest = NODES,
                                        .backfill = true,
                                        .depth = PLAN_DEPTH,
                                        .now_us = HOUR_US / 100};
    struct plan_queue *q = plan_queue_new(a, &in);
    *started = *waiting = 0;
    for (size_t i = 0; i < RUNS && plan_queue_goes_on(q); i++) {
        if (plan_queue_wants_held(q))
            plan_queue_hold(q, t->held, t->n_held);
        struct plan_verdict v = plan_queue_ask(q, &t->runs[i]);
        *started += v.turn == PLAN_STARTS;
        *waiting += v.turn == PLAN_WAITS;
    }
}

static void measure(struct town *t, const char *name)
{
    size_t started, waiting;
    printf("%s", name);
    for (int i = 0; i < ROUNDS; i++) {
        struct arena a;
        arena_init(&a);
        double began = now_us();
        ask_all(t, &a, &started, &waiting);
        printf(" %.1f", now_us() - began);
        arena_free(&a);
    }
    printf(" started=%zu waiting=%zu\n", started, waiting);
}

int main(void)
{
    struct town *t = calloc(1, sizeof *t);
    if (!t)
        return 1;
    fill(t, false, true);
    measure(t, "busy-whole");
    fill(t, true, true);
    measure(t, "busy-parts");
    fill(t, false, false);
    measure(t, "idle-whole");
    fill(t, true, false);
    measure(t, "idle-parts");
    free(t);
    return 0;
}
