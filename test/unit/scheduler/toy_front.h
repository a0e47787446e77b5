/* SPDX-License-Identifier: MIT
 *
 * A front in fifty lines, as docs/architecture.md explains it: pools need nothing, a run runs the
 * command of its owner, and its end is noted. It has no documents and no rows of its own; a real
 * front keeps its resources in tables, and writes their states in the functions below, which are
 * called in the transaction of the change.
 */
#ifndef TEST_SCHEDULER_TOY_FRONT_H
#define TEST_SCHEDULER_TOY_FRONT_H

#include "scheduler/front/front.h"

/* The kinds of its pools and of the owners of its runs: the storage knows no others. */
#define TOY_BOX  RES_CLUSTER
#define TOY_GAME RES_JOB

struct toy_front {
    struct front front;  /* first */
    const char *command; /* of all runs */
    int ended, exit_code;
};

static inline int toy_load_pool(const struct front *f, const struct front_read *how,
                                int64_t pool_id, struct node_setup_spec *out, struct err *e)
{
    (void)f, (void)how, (void)pool_id, (void)e;
    *out = (struct node_setup_spec){.setup_task = NULL};
    return 1;
}

static inline const char *toy_pool_name(const struct front *f, struct storage *st, struct arena *a,
                                        int64_t pool_id, bool full)
{
    (void)f, (void)st, (void)full;
    return arena_printf(a, "box %lld", (long long)pool_id);
}

static inline const char *toy_run_name(const struct front *f, struct storage *st, struct arena *a,
                                       const struct run *r)
{
    (void)f, (void)st;
    return arena_printf(a, "game %lld", (long long)r->owner_id);
}

static inline int toy_load(const struct front *f, const struct front_read *how, const struct run *r,
                           struct run_spec *out, struct err *e)
{
    (void)how, (void)e;
    *out = (struct run_spec){.tool = TOOL_CUSTOM,
                             .toolkit = {.command_line = ((const struct toy_front *)f)->command},
                             .node_count = r->nodes,
                             .std_prefix = "out",
                             .segment = r->guid,
                             .max_wall_us = r->max_wall_us};
    return 0;
}

static inline int toy_ended(const struct front *f, struct storage *st, const struct run *r,
                            const struct run_end *end, struct err *e)
{
    struct toy_front *toy = (struct toy_front *)(uintptr_t)f;
    (void)st, (void)r, (void)e;
    toy->ended++;
    toy->exit_code = end->has_exit_code ? end->exit_code : -1;
    return 0;
}

static const struct front_ops toy_ops = {.load_pool = toy_load_pool,
                                         .pool_name = toy_pool_name,
                                         .run_name = toy_run_name,
                                         .load = toy_load,
                                         .ended = toy_ended};

static const struct front_var_name toy_vars[] = {{VAR_RUN_DIR, "TOY_DIR"}, {.name = NULL}};

static const struct front_words toy_words = {.pool = "box",
                                             .pools = "boxes",
                                             .run = "game",
                                             .runs = "games",
                                             .log = "game",
                                             .setup_task = "set-up",
                                             .mounts_dir = "mounts",
                                             .vars = toy_vars};

static inline struct toy_front toy_front(const char *command)
{
    return (struct toy_front){
        .front = {&toy_ops, &toy_words, FRONT_OWNS(TOY_BOX) | FRONT_OWNS(TOY_GAME)},
        .command = command};
}

#endif
