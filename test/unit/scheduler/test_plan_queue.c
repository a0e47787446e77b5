/* SPDX-License-Identifier: MIT
 *
 * Which runs start, as tables; and what backfill promises, in random queues.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/plan.h"
#include "test/unit/support/arena_test.h"

#define NOW  1000
#define MANY 64

/* A queue as one line of text: "run:ordinal,ordinal ..." of those that start, and "run>instant" of
 * those that are foreseen. */
static const char *answered(struct arena *a, const struct plan_queue_input *in,
                            const struct plan_run *runs, size_t n_runs,
                            const struct plan_held *held, size_t n_held)
{
    struct plan_queue *q = plan_queue_new(a, in);
    const char *text = "";
    if (in->foresee)
        plan_queue_hold(q, held, n_held);
    for (size_t i = 0; i < n_runs; i++) {
        if (plan_queue_wants_held(q) && plan_queue_goes_on(q))
            plan_queue_hold(q, held, n_held);
        struct plan_verdict v = plan_queue_ask(q, &runs[i]);
        if (v.turn == PLAN_WAITS && v.start_us > 0)
            text = arena_printf(a, "%s%d>%d ", text, (int)runs[i].id, (int)(v.start_us - NOW));
        if (v.turn != PLAN_STARTS)
            continue;
        text = arena_printf(a, "%s%d:", text, (int)runs[i].id);
        for (int k = 0; k < runs[i].nodes; k++)
            text = arena_printf(a, "%s%s%d", text, k ? "," : "", v.nodes[k]->ordinal);
        text = arena_printf(a, "%s ", text);
    }
    return text;
}

/* A question and its answer. */
struct row {
    const char *name;
    const char *runs;  /* see runs_of() */
    const char *nodes; /* see nodes_of() */
    const char *ends;  /* see held_by(); NULL: no node is held */
    const char *expected;
    int largest;
};

/* Runs 1, 2 and so on, a word each: NODES, or NODES/US with its time limit (100), sSLOTS for a part
 * of a node, or gGPUS for a slot with GPUs. */
static size_t runs_of(const char *text, struct plan_run *out)
{
    size_t n = 0;
    for (int used; *text; text += strspn(text, " ")) {
        struct plan_run *r = &out[n++];
        char kind = 0;
        int amount = 0;
        *r = (struct plan_run){.id = (int64_t)n, .for_us = 100};
        assert_int_equal(sscanf(text, "%d%n", &r->nodes, &used), 1);
        text += used;
        if (sscanf(text, "%c%d%n", &kind, &amount, &used) == 2 && kind != ' ')
            text += used;
        if (kind == '/')
            r->for_us = amount;
        r->part = kind == 's' || kind == 'g';
        if (r->part)
            r->need = (struct capacity){.slots = kind == 's' ? amount : 1,
                                        .gpus = kind == 'g' ? amount : 0};
    }
    return n;
}

/* A letter for each node, ordinals from 1: p(reparing) i(dle) r(unning) l(eaving) u(nusable)
 * d(rained). A digit: a node of 4 slots, 2 GPUs and 8 cores, of which others have so many slots and
 * twice as many cores. */
static size_t nodes_of(const char *text, struct plan_node *out)
{
    static const char letters[] = "pirlud";
    static const enum node_state states[] = {NODE_PREPARING, NODE_IDLE,     NODE_IDLE,
                                             NODE_LEAVING,   NODE_UNUSABLE, NODE_IDLE};
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) {
        const char *letter = strchr(letters, text[i]);
        int slots = text[i] - '0';
        out[i] = (struct plan_node){.id = 100 + (int64_t)i,
                                    .ordinal = (int)i + 1,
                                    .state = letter ? states[letter - letters] : NODE_IDLE,
                                    .live = letter ? text[i] == 'r' : slots > 0,
                                    .has = {4, 2, 8, 1000},
                                    .left = {4 - slots, 2, 8 - 2 * slots, 1000},
                                    .out_of_service = text[i] == 'd'};
        if (letter) {
            out[i].has = (struct capacity){.slots = 1};
            out[i].left = (struct capacity){.slots = text[i] != 'r'};
        }
    }
    return n;
}

/* A letter for each node: in how many tens the run there ends by its limit; 0: it overran; -: the
 * node has no run. */
static size_t held_by(const char *ends, struct plan_held *held)
{
    size_t n = 0;
    for (size_t i = 0; ends && ends[i]; i++)
        if (ends[i] != '-')
            held[n++] = (struct plan_held){
                .node = i, .end_us = NOW + 10 * (ends[i] - '0'), .takes = {.slots = 1}};
    return n;
}

static void check_row(const struct row *row, struct plan_queue_input in)
{
    struct arena a;
    struct plan_node nodes[16];
    struct plan_run runs[8];
    struct plan_held held[16];
    size_t n_runs = runs_of(row->runs, runs), n_held = held_by(row->ends, held);
    arena_init(&a);
    in.nodes = nodes;
    in.n_nodes = nodes_of(row->nodes, nodes);
    in.largest = row->largest;
    in.depth = in.depth ? in.depth : PLAN_DEPTH;
    in.now_us = NOW;
    const char *got = answered(&a, &in, runs, n_runs, held, n_held);
    if (strcmp(got, row->expected) != 0)
        fail_msg("%s: got \"%s\", expected \"%s\"", row->name, got, row->expected);
    arena_free(&a);
}

#define CHECK_ROWS(rows, ...)                                                                      \
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++)                                    \
    check_row(&(rows)[i], (struct plan_queue_input){__VA_ARGS__})

TEST(test_allocation)
{
    static const struct row rows[] = {
        {"nothing queued", "", "ii", NULL, "", 100},
        {"first in, first out", "1 1 1", "ii", NULL, "1:1 2:2 ", 100},
        {"gang in one go", "3", "iii", NULL, "1:1,2,3 ", 100},
        {"gang does not fit", "3", "ii", NULL, "", 100},
        {"the head blocks", "3 1", "ii", NULL, "", 100},
        {"a big one in between", "1 2 1", "ii", NULL, "1:1 ", 100},
        {"only idle nodes", "2", "priuli", NULL, "1:3,6 ", 100},
        {"no drained nodes", "1 1", "ddi", NULL, "1:3 ", 100},
        {"no nodes", "1", "", NULL, "", 100},
        {"too large for the pool stands aside", "3 1", "ii", NULL, "2:1 ", 2},
        {"even with idle nodes for it", "3 1", "iii", NULL, "2:1 ", 2},
        {"as large as the pool blocks", "2 1", "ir", NULL, "", 2},
    };
    CHECK_ROWS(rows, .foresee = false);
}

TEST(test_parts_of_nodes)
{
    static const struct row rows[] = {
        {"side by side", "1s2 1s2", "00", NULL, "1:1 2:1 ", 2},
        {"the first where it fits", "1s2", "300", NULL, "1:2 ", 3},
        {"never two of one node", "2s1", "00", NULL, "1:1,2 ", 2},
        {"not even if there is one node", "2s1", "0", NULL, "", 2},
        {"GPUs count too", "1g2 1g1", "00", NULL, "1:1 2:2 ", 2},
        {"whole nodes are nobody else's", "1 1s1", "10", NULL, "1:2 2:1 ", 2},
        {"a part makes a node a whole no more", "1s1 1", "0", NULL, "1:1 ", 1},
        {"more than any node has stands aside", "1s5 1s1", "0", NULL, "2:1 ", 1},
        {"but a node that comes may have it", "1s5 1s1", "0", NULL, "", 2},
    };
    CHECK_ROWS(rows, .foresee = false);
}

TEST(test_spread_takes_the_emptiest)
{
    static const char runs[] = "1s1 1s1 1s1 2s1 1s1";
    static const struct row packed = {"packed", runs, "300", NULL, "1:1 2:2 3:2 4:2,3 5:2 ", 3};
    static const struct row spread = {"spread", runs, "300", NULL, "1:2 2:3 3:2 4:3,2 5:3 ", 3};
    check_row(&packed, (struct plan_queue_input){.spread = false});
    check_row(&spread, (struct plan_queue_input){.spread = true});
}

/* --- backfill --------------------------------------------------------------------------------- */

TEST(test_backfill)
{
    static const struct row rows[] = {
        {"what ends in time starts", "2 1/50", "ir", "-5", "1>50 2:1 ", 2},
        {"what does not waits", "2 1/51", "ir", "-5", "1>50 2>150 ", 2},
        {"what is kept is kept", "3 1/900", "irri", "-59-", "1>50 2>90 ", 4},
        {"what is kept is the first", "3 1/900", "irrri", "-555-", "1>50 2:5 ", 5},
        {"in one gap after another", "2 1/30 1/30", "ir", "-5", "1>50 2:1 3>150 ", 2},
        {"the second is not delayed either", "2 1/60 1/170", "ir", "-5", "1>50 2>150 3>150 ", 2},
        {"an end that has passed is near", "2 1/50", "ir", "-0", "1>1 2>101 ", 2},
        {"no limit ends never", "2 1/0", "ir", "-5", "1>50 2>150 ", 2},
        {"what is prepared may be ready now", "2 1/5", "ip", "--", "2>100 ", 2},
        {"what is unusable may be back now", "2 1/5", "iu", "--", "2>100 ", 2},
        {"and is counted on only if it must be", "2 1/50", "iru", "-5-", "1>50 2:1 ", 3},
        {"what nobody has yet may be made now", "2 1/5", "i", "-", "2>100 ", 2},
    };
    CHECK_ROWS(rows, .backfill = true, .foresee = true);
}

/* Behind the last that is looked past nothing starts, so that the promise holds for all. */
TEST(test_depth)
{
    static const char *const expected[] = {"", "", "3:1 "};
    for (size_t depth = 1; depth <= 3; depth++) {
        const struct row row = {"depth", "2 2 1/5", "ir", "-5", expected[depth - 1], 2};
        check_row(&row, (struct plan_queue_input){.backfill = true, .depth = depth});
    }
}

/* Without backfill each is foreseen no earlier than those ahead of it, and starts only in turn. */
TEST(test_foreseen_without_backfill)
{
    static const struct row row = {"in turn", "2 1/5 3/5 1/5", "ir", "-5", "1>50 2>150 4>150 ", 2};
    check_row(&row, (struct plan_queue_input){.foresee = true});
}

/* --- random queues ---------------------------------------------------------------------------- */

struct running {
    int64_t id, end_us; /* by its limit */
    int n_nodes;
    size_t nodes[MANY];
    struct capacity takes;
    bool whole;
};

/* A pool whose runs take as long as they are let. */
struct queue_town {
    struct arena a;
    unsigned seed;
    int64_t now_us;
    struct plan_node nodes[MANY];
    size_t n_nodes;
    struct running running[MANY];
    size_t n_running;
    struct plan_run queue[MANY]; /* in turn */
    size_t n_queue;
    int64_t last_id;
    struct plan_verdict got[MANY]; /* for the queue, when it was last asked */
};

static int any(struct queue_town *t, int n)
{
    t->seed = t->seed * 1103515245U + 12345U;
    return (int)((t->seed >> 16 & 0x7fff) % (unsigned)n);
}

static const struct capacity town_has = {4, 4, 8, 1000};

static struct queue_town *town_new(unsigned seed)
{
    struct queue_town *t = calloc(1, sizeof *t);
    arena_init(&t->a);
    t->seed = seed;
    t->now_us = NOW;
    t->n_nodes = 1 + (size_t)any(t, 8);
    for (size_t i = 0; i < t->n_nodes; i++)
        t->nodes[i] = (struct plan_node){.id = (int64_t)i + 1, .ordinal = (int)i + 1};
    return t;
}

static void town_free(struct queue_town *t)
{
    arena_free(&t->a);
    free(t);
}

static struct plan_run new_run(struct queue_town *t)
{
    struct plan_run r = {.id = ++t->last_id, .nodes = 1, .for_us = 1 + any(t, 60)};
    if (any(t, 2))
        r.nodes = 1 + any(t, (int)t->n_nodes);
    r.part = any(t, 2);
    if (r.part)
        r.need = (struct capacity){1 + any(t, 4), any(t, 5), any(t, 9), 0};
    return r;
}

/* The nodes as the running ones leave them, and what they hold. */
static size_t town_held(struct queue_town *t, struct plan_held *held)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_nodes; i++) {
        t->nodes[i].state = NODE_IDLE;
        t->nodes[i].has = t->nodes[i].left = town_has;
        t->nodes[i].live = 0;
    }
    for (size_t i = 0; i < t->n_running; i++)
        for (int k = 0; k < t->running[i].n_nodes; k++) {
            struct plan_node *node = &t->nodes[t->running[i].nodes[k]];
            const struct capacity *c = &t->running[i].takes;
            node->live++;
            node->left.slots -= c->slots;
            node->left.gpus -= c->gpus;
            node->left.cores -= c->cores;
            node->left.memory -= c->memory;
            assert_true(node->left.slots >= 0 && node->left.gpus >= 0 && node->left.cores >= 0);
            assert_true(!t->running[i].whole || node->live == 1);
            held[n++] = (struct plan_held){t->running[i].nodes[k], t->running[i].end_us, *c};
        }
    return n;
}

/* Asks for the first `n` of the queue; what is found is in got[], and nothing starts. */
static void town_ask(struct queue_town *t, size_t n)
{
    struct plan_held held[MANY * 8];
    size_t n_held = town_held(t, held);
    const struct plan_queue_input in = {.nodes = t->nodes,
                                        .n_nodes = t->n_nodes,
                                        .largest = (int)t->n_nodes,
                                        .backfill = true,
                                        .foresee = true,
                                        .depth = MANY,
                                        .now_us = t->now_us};
    struct plan_queue *q = plan_queue_new(&t->a, &in);
    plan_queue_hold(q, held, n_held);
    for (size_t i = 0; i < n; i++)
        t->got[i] = plan_queue_ask(q, &t->queue[i]);
}

/* Those that start are running; got[] is that of those that are left. */
static void town_start(struct queue_town *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_queue; i++) {
        const struct plan_run *r = &t->queue[i];
        if (t->got[i].turn != PLAN_STARTS) {
            t->got[kept] = t->got[i];
            t->queue[kept++] = *r;
            continue;
        }
        struct running *to = &t->running[t->n_running++];
        *to = (struct running){.id = r->id,
                               .end_us = t->now_us + r->for_us,
                               .n_nodes = r->nodes,
                               .whole = !r->part,
                               .takes = r->part ? r->need : town_has};
        for (int k = 0; k < r->nodes; k++)
            to->nodes[k] = (size_t)(t->got[i].nodes[k]->id - 1);
    }
    t->n_queue = kept;
}

static void town_end(struct queue_town *t, size_t i)
{
    t->running[i] = t->running[--t->n_running];
}

static void fill_queue(struct queue_town *t, int n)
{
    while (n-- > 0 && t->n_queue < MANY / 2)
        t->queue[t->n_queue++] = new_run(t);
}

/* Each that waits is foreseen as if those behind it were not there, and after these have started
 * it is foreseen just so: neither the instant nor, at that instant, the nodes are lost to it. */
TEST(test_nobody_is_delayed)
{
    int backfilled = 0;
    for (unsigned seed = 1; seed <= 3000; seed++) {
        struct queue_town *t = town_new(seed);
        fill_queue(t, 1 + any(t, 12));
        int64_t alone[MANY], kept[MANY] = {0};
        size_t n = t->n_queue, n_kept = 0;
        for (size_t i = 0; i < n; i++) {
            town_ask(t, i + 1);
            alone[i] = t->got[i].start_us;
        }
        bool waits = false;
        for (size_t i = 0; i < n; i++) {
            backfilled += waits && t->got[i].turn == PLAN_STARTS;
            waits = waits || t->got[i].turn == PLAN_WAITS;
            if (t->got[i].turn != PLAN_STARTS)
                kept[n_kept++] = alone[i];
        }
        town_start(t);
        town_ask(t, t->n_queue);
        for (size_t i = 0; i < t->n_queue; i++)
            if (t->got[i].turn == PLAN_STARTS || t->got[i].start_us != kept[i])
                fail_msg("seed %u: run %d was foreseen at %d, and is at %d after others started",
                         seed, (int)t->queue[i].id, (int)kept[i], (int)t->got[i].start_us);
        town_free(t);
    }
    assert_true(backfilled > 500); /* else nothing was looked at */
}

/* As long as all end at their limits and those that come are lower, each starts when it was
 * foreseen at first, or before. Where some end early, that holds for the highest that waits. */
TEST(test_what_is_foreseen_holds)
{
    for (unsigned seed = 1; seed <= 600; seed++) {
        struct queue_town *t = town_new(seed);
        int64_t foreseen[1000] = {0}, head = 0;
        bool early = seed % 2;
        for (int step = 0; step < 60; step++) {
            fill_queue(t, any(t, 3));
            town_ask(t, t->n_queue);
            for (size_t i = 0; i < t->n_queue; i++) {
                int64_t id = t->queue[i].id, *was = &foreseen[id];
                bool starts = t->got[i].turn == PLAN_STARTS;
                int64_t at = starts ? t->now_us : t->got[i].start_us;
                bool holds = !early || (i == 0 && head == id);
                if (t->got[i].turn == PLAN_TOO_MUCH)
                    continue;
                if (holds && *was != 0 && at > *was)
                    fail_msg("seed %u, step %d: run %d was foreseen at %d, now at %d", seed, step,
                             (int)id, (int)*was, (int)at);
                *was = at;
            }
            town_start(t);
            head = t->n_queue > 0 ? t->queue[0].id : 0;
            int64_t next = INT64_MAX;
            for (size_t i = 0; i < t->n_running; i++)
                next = t->running[i].end_us < next ? t->running[i].end_us : next;
            if (early && t->n_running > 0 && any(t, 2)) {
                town_end(t, (size_t)any(t, (int)t->n_running));
            } else if (next != INT64_MAX) {
                t->now_us = next;
                for (size_t i = t->n_running; i-- > 0;)
                    if (t->running[i].end_us <= t->now_us)
                        town_end(t, i);
            }
        }
        town_free(t);
    }
}
