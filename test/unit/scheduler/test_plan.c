/* SPDX-License-Identifier: MIT
 *
 * Scaling as tables: what is there, what should be decided. Placement: test_plan_queue.c.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/plan.h"
#include "test/unit/support/arena_test.h"

#define NOW  1000000000
#define IDLE 60000000

/* One letter per node, ordinals from 1: p(reparing) i(dle) I(dle for long) r(unning) l(eaving)
 * u(nusable) k(eeps data and is idle); out of service: d(rained and idle) D(the same for long)
 * U(nusable) R(eplaceable). */
static size_t nodes_of(const char *text, struct plan_node *out)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) {
        static const char letters[] = "piIrludDURk";
        static const enum node_state states[] = {
            NODE_PREPARING, NODE_IDLE, NODE_IDLE,     NODE_IDLE,     NODE_LEAVING, NODE_UNUSABLE,
            NODE_IDLE,      NODE_IDLE, NODE_UNUSABLE, NODE_UNUSABLE, NODE_IDLE};
        out[i] = (struct plan_node){.id = 100 + (int64_t)i,
                                    .ordinal = (int)i + 1,
                                    .state = states[strchr(letters, text[i]) - letters],
                                    .idle_since_us = strchr("ID", text[i]) ? NOW - IDLE : NOW - 1,
                                    .live = text[i] == 'r',
                                    .left = {.slots = text[i] != 'r'},
                                    .out_of_service = strchr("dDUR", text[i]) != NULL,
                                    .keeps = text[i] == 'k',
                                    .replaceable = text[i] == 'R'};
    }
    return n;
}

#define MANUAL(n, how)                                                                             \
    {                                                                                              \
        .kind = SCALE_MANUAL, .target = (n), .dealloc = DEALLOC_##how                              \
    }
#define AUTO(lo, hi)                                                                               \
    {                                                                                              \
        .kind = SCALE_AUTO, .minimum = (lo), .maximum = (hi), .initial = 1                         \
    }

/* What is planned, as text: "add 1, missing 2, target 3, leave 5 4 ", with ordinals in order. */
static const char *planned(struct arena *a, const char *text, struct plan_scale_input in)
{
    struct plan_node nodes[16];
    struct plan_scale_result got;
    in.nodes = nodes;
    in.n_nodes = nodes_of(text, nodes);
    in.now_us = NOW;
    in.idle_us = IDLE;
    plan_scale(a, &in, &got);
    const char *leave = "";
    for (size_t k = 0; k < got.n_leave; k++)
        leave = arena_printf(a, "%s%d ", leave, got.leave[k]->ordinal);
    return arena_printf(a, "add %d, missing %d, target %d, leave %s", got.add, got.missing,
                        got.target, leave);
}

static const struct scale_row {
    const char *name;
    struct scale scale;
    const char *nodes;
    int64_t demand;
    int capacity;
    bool deleting, initial;
    int add, missing;
    const char *leave; /* ordinals in order */
    int target;
} scales[] = {
    {"steady", MANUAL(2, REQUEUE), "ii", 0, 9, 0, 0, 0, 0, "", 2},
    {"grows from nothing", MANUAL(3, REQUEUE), "", 0, 9, 0, 0, 3, 0, "", 3},
    {"replaces who leaves", MANUAL(2, REQUEUE), "il", 0, 9, 0, 0, 1, 0, "", 2},
    {"short of capacity", MANUAL(5, REQUEUE), "i", 0, 1, 0, 0, 1, 3, "", 5},
    {"no capacity at all", MANUAL(2, REQUEUE), "", 0, -1, 0, 0, 0, 2, "", 2},
    {"order of leaving", MANUAL(0, REQUEUE), "ripui", 0, 9, 0, 0, 0, 0, "4 3 5 2 1 ", 0},
    {"highest ordinal first", MANUAL(1, REQUEUE), "iii", 0, 9, 0, 0, 0, 0, "3 2 ", 1},
    {"drained before good ones", MANUAL(1, REQUEUE), "diu", 0, 9, 0, 0, 0, 0, "3 1 ", 1},
    {"drained ones count", MANUAL(2, REQUEUE), "dU", 0, 9, 0, 0, 0, 0, "", 2},
    {"running last", MANUAL(1, TERMINATE), "ri", 0, 9, 0, 0, 0, 0, "2 ", 1},
    {"running too", MANUAL(0, TERMINATE), "r", 0, 9, 0, 0, 0, 0, "1 ", 0},
    {"waits for the job", MANUAL(0, WAIT_FOR_COMPLETION), "ri", 0, 9, 0, 0, 0, 0, "2 ", 0},
    {"waits for the data, too", MANUAL(0, WAIT_FOR_DATA), "rki", 0, 9, 0, 0, 0, 0, "3 ", 0},
    {"data that nobody waits for", MANUAL(1, WAIT_FOR_COMPLETION), "ki", 0, 9, 0, 0, 0, 0, "2 ", 1},
    {"nor here", MANUAL(0, REQUEUE), "k", 0, 9, 0, 0, 0, 0, "1 ", 0},
    {"deletion waits for none", MANUAL(5, WAIT_FOR_COMPLETION), "rl", 0, 9, 1, 0, 0, 0, "1 ", 0},
    {"auto: nothing to do", AUTO(0, 4), "", 0, 9, 0, 0, 0, 0, "", 0},
    {"auto: starts with some", AUTO(0, 4), "", 0, 9, 0, 1, 1, 0, "", 1},
    {"auto: follows demand", AUTO(0, 4), "", 3, 9, 0, 0, 3, 0, "", 3},
    {"auto: not above maximum", AUTO(0, 4), "r", 9, 9, 0, 0, 3, 0, "", 4},
    {"auto: not below minimum", AUTO(2, 4), "", 0, 9, 0, 0, 2, 0, "", 2},
    {"auto: held and wanted", AUTO(0, 4), "rr", 1, 9, 0, 0, 1, 0, "", 3},
    {"auto: idle for a while", AUTO(0, 4), "ii", 0, 9, 0, 0, 0, 0, "", 2},
    {"auto: idle for long", AUTO(0, 4), "iI", 0, 9, 0, 0, 0, 0, "2 ", 1},
    {"auto: keeps the minimum", AUTO(1, 4), "II", 0, 9, 0, 0, 0, 0, "2 ", 1},
    {"auto: takes no job's node", AUTO(0, 1), "rr", 0, 9, 0, 0, 0, 0, "", 1},
    {"auto: drained does not serve", AUTO(0, 4), "d", 1, 9, 0, 0, 1, 0, "", 2},
    {"auto: nor does unreachable", AUTO(0, 4), "rU", 1, 9, 0, 0, 1, 0, "", 3},
    {"auto: nor does unusable", AUTO(0, 4), "u", 1, 9, 0, 0, 1, 0, "", 2},
    {"auto: unusable stays as long", AUTO(0, 3), "upp", 1, 9, 0, 0, 0, 0, "", 3},
    {"auto: unusable, nothing waits", AUTO(0, 4), "u", 0, 9, 0, 0, 0, 0, "1 ", 0},
    {"auto: but not above maximum", AUTO(0, 1), "d", 1, 9, 0, 0, 0, 0, "", 1},
    {"auto: drained leaves in time", AUTO(0, 4), "Dd", 0, 9, 0, 0, 0, 0, "1 ", 1},
    {"auto: above the maximum", AUTO(0, 1), "ii", 0, 9, 0, 0, 0, 0, "2 ", 1},
};

ARENA_TEST(test_scale)
{
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        const struct scale_row *row = &scales[i];
        const struct plan_scale_input in = {.scale = row->scale,
                                            .deleting = row->deleting,
                                            .initial = row->initial,
                                            .demand = row->demand,
                                            .free_capacity = row->capacity};
        const char *got = planned(a, row->nodes, in);
        const char *expected = arena_printf(a, "add %d, missing %d, target %d, leave %s", row->add,
                                            row->missing, row->target, row->leave);
        if (strcmp(got, expected) != 0)
            fail_msg("%s: got %s, expected %s", row->name, got, expected);
    }
}

static const struct replace_row {
    const char *name;
    struct scale scale;
    const char *nodes;
    int capacity, good; /* good: of the capacity */
    int add, missing;
    const char *leave; /* ordinals in order */
} replacements[] = {
    {"a good one for one never reached", MANUAL(2, REQUEUE), "iR", 1, 1, 1, 0, "2 "},
    {"not another in trouble", MANUAL(2, REQUEUE), "iR", 1, 0, 0, 0, ""},
    {"not for one that was reached", MANUAL(2, REQUEUE), "iU", 1, 1, 0, 0, ""},
    {"as many as are good", MANUAL(3, REQUEUE), "RRR", 4, 2, 2, 0, "3 2 "},
    {"missing ones come first", MANUAL(3, REQUEUE), "iR", 2, 1, 1, 0, ""},
    {"smaller: it just leaves", MANUAL(1, REQUEUE), "iR", 1, 1, 0, 0, "2 "},
    {"auto: too", AUTO(2, 4), "iR", 1, 1, 1, 0, "2 "},
};

ARENA_TEST(test_replacing)
{
    for (size_t i = 0; i < sizeof replacements / sizeof replacements[0]; i++) {
        const struct replace_row *row = &replacements[i];
        const struct plan_scale_input in = {
            .scale = row->scale, .free_capacity = row->capacity, .good_capacity = row->good};
        const char *got = planned(a, row->nodes, in);
        int target = row->scale.kind == SCALE_AUTO ? row->scale.minimum : row->scale.target;
        const char *expected = arena_printf(a, "add %d, missing %d, target %d, leave %s", row->add,
                                            row->missing, target, row->leave);
        if (strcmp(got, expected) != 0)
            fail_msg("%s: got %s, expected %s", row->name, got, expected);
    }
}

ARENA_TEST(test_looks_again_when_an_idle_node_is_due)
{
    struct plan_node nodes[4];
    struct plan_scale_result got;
    const struct plan_scale_input in = {.scale = AUTO(0, 4),
                                        .nodes = nodes,
                                        .n_nodes = nodes_of("i", nodes),
                                        .now_us = NOW,
                                        .idle_us = IDLE};
    plan_scale(a, &in, &got);
    assert_int_equal(got.look_again_us, NOW - 1 + IDLE);
}

ARENA_TEST(test_ordinals_fill_gaps)
{
    const struct plan_node nodes[] = {{.ordinal = 1}, {.ordinal = 3}};
    int out[3];
    plan_ordinals(a, nodes, 2, out, 3);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 4);
    assert_int_equal(out[2], 5);
}

/* Nodes have 4 slots and 4 GPUs; letters of `left`: how many of both a node has left that holds
 * runs; of `wants`: how many GPUs each run wants, with a slot for each. */
static const struct parts_row {
    const char *name, *left, *wants;
    int nodes; /* of each run */
    int most, expected;
} parts_rows[] = {
    {"nothing waits", "", "", 1, 9, 0},
    {"eight of one GPU are two nodes", "", "11111111", 1, 9, 2},
    {"in turn, into the first that has room", "", "33113", 1, 9, 3},
    {"what is left is used first", "31", "1111", 1, 9, 0},
    {"and then others", "31", "11111", 1, 9, 1},
    {"on distinct nodes", "", "11", 2, 9, 2},
    {"no more than there may be", "", "4444", 1, 3, 3},
    {"more than a node has counts for nothing", "", "52", 1, 9, 1},
    {"the maximum takes no memory", "", "11", 1, INT_MAX, 1},
};

TEST(test_demand_of_parts)
{
    for (size_t i = 0; i < sizeof parts_rows / sizeof parts_rows[0]; i++) {
        const struct parts_row *row = &parts_rows[i];
        struct plan_node nodes[8];
        struct plan_run runs[16];
        struct arena a;
        size_t n_nodes = strlen(row->left);
        struct plan_parts in = {
            .runs = runs, .n_runs = strlen(row->wants), .node = {4, 4, 0, 0}, .most = row->most};
        for (size_t k = 0; k < n_nodes; k++)
            nodes[k] = (struct plan_node){.state = NODE_IDLE,
                                          .live = 1,
                                          .has = in.node,
                                          .left = {row->left[k] - '0', row->left[k] - '0', 0, 0}};
        for (size_t k = 0; k < in.n_runs; k++)
            runs[k] = (struct plan_run){.nodes = row->nodes,
                                        .part = true,
                                        .need = {row->wants[k] - '0', row->wants[k] - '0', 0, 0}};
        arena_init(&a);
        int got = plan_parts_demand(&a, nodes, n_nodes, &in);
        arena_free(&a);
        if (got != row->expected)
            fail_msg("%s: got %d nodes, expected %d", row->name, got, row->expected);
    }
}

/* The class of each node by its letter: d(edicated), l(ow priority); upper case: it holds a run. */
TEST(test_nodes_that_leave_after_their_runs)
{
    static const struct {
        const char *nodes;
        int target, low;
        enum dealloc_option how;
        const char *leave; /* x for each node that counts as leaving */
    } rows[] = {
        {"ddd", 1, 0, DEALLOC_WAIT_FOR_COMPLETION, ".xx"},
        {"dll", 1, 2, DEALLOC_WAIT_FOR_COMPLETION, "..."},
        {"Dll", 0, 2, DEALLOC_WAIT_FOR_COMPLETION, "x.."},
        {"DLl", 1, 1, DEALLOC_WAIT_FOR_DATA, "..x"},
        {"lld", 0, 1, DEALLOC_WAIT_FOR_DATA, ".xx"},
        {"lld", 0, 1, DEALLOC_REQUEUE, "..."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct scale scale = {SCALE_MANUAL, rows[i].target, .dealloc = rows[i].how,
                                    .low = rows[i].low};
        struct plan_node nodes[4];
        char got[4] = "";
        struct arena a;
        for (int k = 0; k < 3; k++)
            nodes[k] = (struct plan_node){.ordinal = k + 1,
                                          .low = strchr("lL", rows[i].nodes[k]) != NULL,
                                          .state = NODE_IDLE,
                                          .live = strchr("DL", rows[i].nodes[k]) != NULL};
        arena_init(&a);
        plan_empty(&a, &scale, nodes, 3);
        arena_free(&a);
        for (int k = 0; k < 3; k++)
            got[k] = nodes[k].state == NODE_LEAVING ? 'x' : '.';
        if (strcmp(got, rows[i].leave) != 0)
            fail_msg("row %zu: got %s, expected %s", i, got, rows[i].leave);
    }
}

/* Nodes that are asked to leave go first, and nobody goes in the place of one that has to wait. */
TEST(test_parting_nodes)
{
    static const struct {
        enum dealloc_option how;
        size_t leave;
        int waiting;
    } cases[] = {{DEALLOC_REQUEUE, 2, 0}, {DEALLOC_WAIT_FOR_COMPLETION, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan_scale_result got;
        struct arena a;
        struct plan_node nodes[4];
        for (int k = 0; k < 4; k++)
            nodes[k] = (struct plan_node){.id = k + 1,
                                          .ordinal = k + 1,
                                          .state = NODE_IDLE,
                                          .live = k == 0,
                                          .parting = k < 2,
                                          .how = cases[i].how};
        const struct plan_scale_input in = {
            .scale = {SCALE_MANUAL, 2, .dealloc = DEALLOC_REQUEUE}, .nodes = nodes, .n_nodes = 4};
        arena_init(&a);
        plan_scale(&a, &in, &got);
        assert_int_equal(got.n_leave, cases[i].leave);
        assert_int_equal(got.waiting, cases[i].waiting);
        assert_int_equal(got.leave[0]->ordinal, 2);
        arena_free(&a);
    }
}
