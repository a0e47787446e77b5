/* SPDX-License-Identifier: MIT
 *
 * A world in virtual time: fake nodes instead of agents, and whoever waits, be it for an hour,
 * waits for nothing. For what is decided about nodes and jobs, not for what their processes do;
 * commands are those of fake nodes (nodeagent-proto/link/fake.h), "fake run=MS exit=N".
 */
#ifndef TEST_SCHEDULER_VIRTUAL_H
#define TEST_SCHEDULER_VIRTUAL_H

#include "test/unit/scheduler/world.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "nodeagent-proto/link/fake.h"
#include "test/sim/sim_loop.h"

#define SECOND INT64_C(1000000)

/* Who waits for longer than this waits in vain. */
#define VIRTUAL_LIMIT_US (4 * 3600 * SECOND)

struct virtual_world {
    struct world w; /* first */
    struct sim_time t;
    int64_t patience_us; /* left, of the wait under way */
    struct loop *nodes_loop;
    struct fake_nodes *fake;
    int started, ended; /* tasks, on all nodes */
    int most_at_once;   /* of them that ran */
    char last_started[120], last_command[1000];
    const struct fake_node *last_node; /* of the task that was started last */
    int64_t user_us;                   /* what nodes measure of each task; 0: nothing */
    const char *stuck; /* tasks with this in their ids hang in the kernel; NULL: none does */
};

static inline struct virtual_world *virtual_of(struct world *w)
{
    return (struct virtual_world *)(void *)w;
}

static inline void on_task_started(void *ctx, struct fake_node *n, const char *id,
                                   const char *command)
{
    struct virtual_world *v = ctx;
    v->last_node = n;
    snprintf(v->last_command, sizeof v->last_command, "%s", command);
    v->started++;
    if (v->started - v->ended > v->most_at_once)
        v->most_at_once = v->started - v->ended;
    snprintf(v->last_started, sizeof v->last_started, "%s", id);
}

static inline void on_task_ended(void *ctx, struct fake_node *n, const char *id)
{
    (void)n, (void)id;
    ((struct virtual_world *)ctx)->ended++;
}

static inline void plan_task(void *ctx, const struct fake_node *on, const struct task_spec *spec,
                             struct fake_task *out)
{
    (void)on;
    const struct virtual_world *v = ctx;
    const char *before = strrchr(spec->command_line, '\n'); /* in a run of several nodes */
    fake_read_command(before ? before + 1 : spec->command_line, out);
    out->user_us = v->user_us;
    if (v->stuck && strstr(spec->id, v->stuck))
        out->run_us = out->dying_us = INT64_MAX / 4;
}

/* When the next thing is due; INT64_MAX: nothing is. */
static inline int64_t next_due(struct virtual_world *v)
{
    int64_t a = INT64_MAX, b = INT64_MAX;
    (void)sim_loop_next(v->w.tools, &a);
    (void)sim_loop_next(v->nodes_loop, &b);
    return a < b ? a : b;
}

static inline void run_due(struct virtual_world *v)
{
    sim_loop_run_due(v->nodes_loop);
    sim_loop_run_due(v->w.tools);
    turn(&v->w);
}

/* Lets the next thing happen. One wait after the other may last VIRTUAL_LIMIT_US. */
static inline void virtual_step(struct world *w)
{
    struct virtual_world *v = virtual_of(w);
    turn(w);
    int64_t at = next_due(v);
    int64_t by = at == INT64_MAX ? VIRTUAL_LIMIT_US : at > v->t.now_us ? at - v->t.now_us : 0;
    if (w->up && (v->patience_us -= by) < 0) {
        w->timed_out = true;
        v->patience_us = VIRTUAL_LIMIT_US;
        return;
    }
    v->t.now_us += at == INT64_MAX ? 0 : by;
    run_due(v);
}

/* So much time goes by. */
static inline void pass(struct world *w, int64_t us)
{
    struct virtual_world *v = virtual_of(w);
    int64_t end = v->t.now_us + us;
    turn(w);
    for (int64_t at; (at = next_due(v)) <= end;) {
        v->t.now_us = at > v->t.now_us ? at : v->t.now_us;
        run_due(v);
    }
    v->t.now_us = end;
    v->patience_us = VIRTUAL_LIMIT_US;
}

static inline void virtual_free(struct world *w)
{
    struct virtual_world *v = virtual_of(w);
    fake_provider_free(w->local);
    fake_nodes_free(v->fake);
    sim_loop_free(w->tools);
    sim_loop_free(v->nodes_loop);
}

/* Machines of the site are fake nodes too, called by their hosts. `machine_root`: see struct
 * fake_config. */
static inline struct world *world_virtual_rooted(int local_nodes, const struct site *site,
                                                 const char *machine_root)
{
    char dir[] = "/tmp/batchaid-sched-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct virtual_world *v = xcalloc(1, sizeof *v);
    struct world *w = &v->w;
    world_init(w, dir);
    w->step = virtual_step;
    w->free = virtual_free;
    w->local_nodes = local_nodes;
    w->site = site;
    v->patience_us = VIRTUAL_LIMIT_US;
    v->t = (struct sim_time){
        .now_us = 1000 * SECOND, .wall_ahead_us = time_now_us() - 1000 * SECOND, .random = 1};
    w->tools = sim_loop_create(&v->t, 500 * SECOND, 2000);
    v->nodes_loop = sim_loop_create(&v->t, 0, 2000);
    const struct fake_config c = {.loop = v->nodes_loop,
                                  .log = &w->log,
                                  .seed = 1,
                                  .delay_min_us = 100,
                                  .delay_max_us = 4000,
                                  .machine_root = machine_root,
                                  .plan = plan_task,
                                  .ctx = v,
                                  .watch = {on_task_started, on_task_ended, v, NULL}};
    v->fake = fake_nodes_create(&c);
    w->local = w->machines = fake_provider_new(v->fake, w->tools);
    world_start(w);
    insert_parents(w);
    return w;
}

static inline struct world *world_virtual_at(int local_nodes, const struct site *site)
{
    return world_virtual_rooted(local_nodes, site, NULL);
}

static inline struct world *world_virtual(int local_nodes)
{
    return world_virtual_at(local_nodes, NULL);
}

/* --- trouble -------------------------------------------------------------------------------- */

/* The node that a cluster's i-th row stands for. */
static inline struct fake_node *fake_of(struct world *w, int64_t cluster, size_t i)
{
    struct virtual_world *v = virtual_of(w);
    struct node *nodes;
    size_t n = nodes_of(w, cluster, &nodes);
    assert_true(i < n);
    for (size_t k = 0; k < fake_count(v->fake); k++)
        if (strstr(fake_name(fake_at(v->fake, k)), nodes[i].name))
            return fake_at(v->fake, k);
    fail_msg("no fake node for %s", nodes[i].name);
    return NULL;
}

/* The write-ahead log cannot grow, nor any other file beyond its size. */
static inline void set_disk_full(struct world *w, bool full)
{
    struct rlimit limit;
    struct stat s;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(stat(path(w, "db-wal"), &s), 0);
    limit.rlim_cur = full ? (rlim_t)s.st_size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#endif
