/* SPDX-License-Identifier: MIT
 *
 * Which nodes runs get that would rather have one, or may not have some.
 */
#include <string.h>

#include "scheduler/plan.h"
#include "test/unit/support/tests.h"

#define SLOTS 2

/* A letter for each node, which is its number of free slots; the ids are 101, 102, ... */
static size_t nodes_of(const char *text, struct plan_node *out)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct plan_node){.id = 101 + (int64_t)i,
                                    .ordinal = (int)i + 1,
                                    .state = NODE_IDLE,
                                    .live = SLOTS - (text[i] - '0'),
                                    .has = {.slots = SLOTS},
                                    .left = {.slots = text[i] - '0'}};
    return n;
}

struct wishes_question {
    const char *nodes;
    int want; /* nodes */
    int64_t near;
    const int64_t *barred;
    size_t n_barred;
    bool spread, backfill;
};

/* "1,2": the ordinals of the nodes that it gets; else why it gets none. The next run, which may
 * have any node, is asked as well: "; " and its nodes. */
static const char *answer(struct arena *a, const struct wishes_question *w)
{
    static const char *const turns[] = {[PLAN_WAITS] = "waits",
                                        [PLAN_TOO_MANY] = "too many",
                                        [PLAN_TOO_MUCH] = "too much",
                                        [PLAN_BARRED] = "barred",
                                        [PLAN_NOT_SEEN] = "not seen"};
    struct plan_node nodes[8];
    size_t n = nodes_of(w->nodes, nodes);
    const struct plan_queue_input in = {.nodes = nodes,
                                        .n_nodes = n,
                                        .largest = (int)n,
                                        .spread = w->spread,
                                        .backfill = w->backfill,
                                        .depth = PLAN_DEPTH};
    struct plan_run runs[] = {{.id = 1,
                               .nodes = w->want,
                               .part = true,
                               .need = {.slots = 1},
                               .near = w->near,
                               .barred = w->barred,
                               .n_barred = w->n_barred},
                              {.id = 2, .nodes = 1, .part = true, .need = {.slots = 1}}};
    struct plan_queue *q = plan_queue_new(a, &in);
    const char *text = "";
    for (size_t i = 0; i < 2; i++) {
        struct plan_verdict v = plan_queue_ask(q, &runs[i]);
        text = i > 0 ? arena_concat(a, text, "; ") : text;
        if (v.turn != PLAN_STARTS)
            text = arena_concat(a, text, turns[v.turn]);
        for (int k = 0; v.turn == PLAN_STARTS && k < runs[i].nodes; k++)
            text = arena_printf(a, "%s%s%d", text, k ? "," : "", v.nodes[k]->ordinal);
    }
    return text;
}

static const int64_t first[] = {101}, two[] = {101, 103}, all[] = {101, 102, 103};

TEST(test_table)
{
    static const struct {
        struct wishes_question w;
        const char *expected;
    } rows[] = {
        {{.nodes = "222", .want = 1}, "1; 1"},
        {{.nodes = "222", .want = 1, .near = 103}, "3; 1"},
        {{.nodes = "221", .want = 1, .near = 103, .spread = true}, "3; 1"},
        {{.nodes = "220", .want = 1, .near = 103}, "1; 1"}, /* it is a wish only */
        {{.nodes = "22", .want = 1, .near = 999}, "1; 1"},
        {{.nodes = "222", .want = 2, .near = 103}, "3,1; 1"},
        {{.nodes = "122", .want = 2, .near = 101, .spread = true}, "1,2; 3"},
        {{.nodes = "222", .want = 1, .barred = first, .n_barred = 1}, "2; 1"},
        {{.nodes = "222", .want = 1, .barred = two, .n_barred = 2}, "2; 1"},
        {{.nodes = "222", .want = 1, .near = 101, .barred = first, .n_barred = 1}, "2; 1"},
        {{.nodes = "222", .want = 1, .barred = two, .n_barred = 2, .spread = true}, "2; 1"},
        /* Those behind it go on where it may not. */
        {{.nodes = "202", .want = 1, .barred = two, .n_barred = 2}, "barred; 1"},
        {{.nodes = "222", .want = 1, .barred = all, .n_barred = 3}, "barred; 1"},
        {{.nodes = "222", .want = 2, .barred = two, .n_barred = 2}, "barred; 1"},
        {{.nodes = "202", .want = 1, .barred = two, .n_barred = 2, .backfill = true}, "barred; 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a;
        arena_init(&a);
        const char *got = answer(&a, &rows[i].w);
        if (strcmp(got, rows[i].expected) != 0)
            fail_msg("row %zu: got \"%s\", expected \"%s\"", i, got, rows[i].expected);
        arena_free(&a);
    }
}
