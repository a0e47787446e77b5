/* SPDX-License-Identifier: MIT
 *
 * Fake nodes and a daemon's end of links to them, in virtual time.
 */
#ifndef TEST_LINK_FAKE_WORLD_H
#define TEST_LINK_FAKE_WORLD_H

#include <signal.h>

#include "nodeagent-proto/link/fake.h"
#include "test/sim/sim_loop.h"
#include "test/unit/support/says.h"

#define SECOND INT64_C(1000000)

struct fake_world {
    struct sim_time t;
    struct log log;
    struct loop *nodes_loop, *loop;
    struct fake_nodes *fake;
    struct node_provider *provider;
    int started; /* commands, on all nodes */
    char last_started[40];
};

/* What a daemon's end of a link has heard. */
struct fake_end {
    struct node_link *link;
    bool ready, down, closed;
    char incarnation[40], boot_id[40];
    struct err why_down;
    int ends; /* that were told */
    struct task_status last;
    char last_id[40], last_why[80];
};

/* What a request was answered with. */
struct heard_answer {
    bool is_there;
    enum err_code code; /* ERR_NONE: well */
    struct task_status status;
    size_t n_tasks;
    const struct fake_end *end;
    int ends_before; /* told on its link when it came */
};

static inline void on_started(void *ctx, struct fake_node *n, const char *id, const char *command)
{
    struct fake_world *w = ctx;
    (void)n;
    (void)command;
    w->started++;
    snprintf(w->last_started, sizeof w->last_started, "%s", id);
}

static inline void world_open(struct fake_world *w, uint64_t seed)
{
    *w = (struct fake_world){.log = {.fd = -1}};
    w->t =
        (struct sim_time){.now_us = SECOND, .wall_ahead_us = 1700000000 * SECOND, .random = seed};
    w->nodes_loop = sim_loop_create(&w->t, 0, 1000);
    w->loop = sim_loop_create(&w->t, 77 * SECOND, 1000);
    const struct fake_config c = {.loop = w->nodes_loop,
                                  .log = &w->log,
                                  .seed = seed,
                                  .delay_min_us = 100,
                                  .delay_max_us = 4000,
                                  .watch = {.started = on_started, .ctx = w}};
    w->fake = fake_nodes_create(&c);
    w->provider = fake_provider_new(w->fake, w->loop);
}

static inline void pass(struct fake_world *w, int64_t us)
{
    int64_t end = w->t.now_us + us;
    for (;;) {
        int64_t a = INT64_MAX, b = INT64_MAX;
        (void)sim_loop_next(w->loop, &a);
        (void)sim_loop_next(w->nodes_loop, &b);
        int64_t at = a < b ? a : b;
        if (at > end)
            break;
        w->t.now_us = at > w->t.now_us ? at : w->t.now_us;
        sim_loop_run_due(w->nodes_loop);
        sim_loop_run_due(w->loop);
    }
    w->t.now_us = end;
}

static inline void world_close(struct fake_world *w)
{
    pass(w, 60 * SECOND);
    fake_provider_free(w->provider);
    fake_nodes_free(w->fake);
    sim_loop_free(w->loop);
    sim_loop_free(w->nodes_loop);
}

/* --- links ---------------------------------------------------------------------------------- */

static inline void on_ready(void *ctx, const struct node_facts *facts)
{
    struct fake_end *d = ctx;
    d->ready = true;
    snprintf(d->incarnation, sizeof d->incarnation, "%s", facts->incarnation);
    snprintf(d->boot_id, sizeof d->boot_id, "%s", facts->boot_id);
}

static inline void on_down(void *ctx, const struct err *why)
{
    struct fake_end *d = ctx;
    d->down = true;
    d->why_down = *why;
}

static inline void on_ended(void *ctx, const struct task_status *s)
{
    struct fake_end *d = ctx;
    d->ends++;
    d->last = *s;
    snprintf(d->last_id, sizeof d->last_id, "%s", s->id);
    snprintf(d->last_why, sizeof d->last_why, "%s", s->why ? s->why : "");
    d->last.id = d->last.why = d->last.stderr_tail = NULL;
}

static inline void on_closed(void *ctx)
{
    ((struct fake_end *)ctx)->closed = true;
}

/* Of a daemon of that term. */
static inline void begin(struct fake_world *w, struct fake_end *d, int64_t term)
{
    struct err e;
    char id[16];
    *d = (struct fake_end){.link = NULL};
    snprintf(id, sizeof id, "life%d", (int)term);
    const struct node_target at = {.name = "n1", .root = "/n1", .epoch = {term, id}};
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, NULL, d};
    if (node_provider_open(w->provider, &at, &callbacks, &d->link, &e) < 0)
        fail_msg("%s", e.msg);
}

static inline void connect_at(struct fake_world *w, struct fake_end *d, int64_t term)
{
    begin(w, d, term);
    pass(w, SECOND);
    assert_true(d->ready);
}

static inline void hang_up(struct fake_world *w, struct fake_end *d)
{
    node_close(d->link, on_closed, d);
    pass(w, SECOND);
    assert_true(d->closed);
}

static inline void connect_again(struct fake_world *w, struct fake_end *d, int64_t term)
{
    hang_up(w, d);
    connect_at(w, d, term);
}

/* The test gets a world, and a daemon's end that it has to connect. */
#define FAKE_TEST(name, seed)                                                                      \
    static void name(struct fake_world *w, struct fake_end *d);                                    \
    static void run_##name(__attribute__((unused)) void **state)                                   \
    {                                                                                              \
        struct fake_world w;                                                                       \
        struct fake_end d;                                                                         \
        world_open(&w, seed);                                                                      \
        name(&w, &d);                                                                              \
        hang_up(&w, &d);                                                                           \
        world_close(&w);                                                                           \
    }                                                                                              \
    ENTER_TEST(name, run_##name, NULL, NULL)                                                       \
    static void name(struct fake_world *w, struct fake_end *d)

static inline struct fake_node *node(struct fake_world *w)
{
    return fake_at(w->fake, 0);
}

/* --- requests ------------------------------------------------------------------------------- */

static inline void take_done(void *ctx, const struct err *why)
{
    struct heard_answer *a = ctx;
    assert_false(a->is_there);
    a->is_there = true;
    a->code = why ? why->code : ERR_NONE;
    a->ends_before = a->end ? a->end->ends : 0;
}

static inline void take_task(void *ctx, const struct err *why, const struct task_status *s)
{
    struct heard_answer *a = ctx;
    take_done(a, why);
    if (s)
        a->status = *s;
}

static inline void take_tasks(void *ctx, const struct err *why, const struct task_status *list,
                              size_t n)
{
    struct heard_answer *a = ctx;
    take_done(a, why);
    a->n_tasks = n;
    if (n > 0)
        a->status = list[0];
}

static inline void ask_run(struct fake_end *d, const char *id, const char *command,
                           struct heard_answer *a)
{
    *a = (struct heard_answer){.end = d};
    const struct task_spec spec = {.id = id,
                                   .command_line = command,
                                   .cwd = "/n1/work",
                                   .stdout_path = "/n1/out",
                                   .stderr_path = "/n1/err",
                                   .step = "job"};
    node_run(d->link, &spec, take_task, a);
}

static inline struct heard_answer run(struct fake_world *w, struct fake_end *d, const char *id,
                                      const char *command)
{
    struct heard_answer a;
    ask_run(d, id, command, &a);
    pass(w, SECOND / 10);
    assert_true(a.is_there);
    return a;
}

static inline struct heard_answer tasks(struct fake_world *w, struct fake_end *d)
{
    struct heard_answer a = {.end = d};
    node_tasks(d->link, take_tasks, &a);
    pass(w, SECOND / 10);
    assert_true(a.is_there);
    return a;
}

static inline enum err_code send_signal(struct fake_world *w, struct fake_end *d, const char *id,
                                        int signo)
{
    struct heard_answer a = {.end = d};
    node_ask(d->link, REQUEST(signal, .task = id, .signal = signo), take_done, &a);
    pass(w, SECOND / 10);
    assert_true(a.is_there);
    return a.code;
}

static inline enum err_code forget(struct fake_world *w, struct fake_end *d, const char *id)
{
    struct heard_answer a = {.end = d};
    node_ask(d->link, REQUEST(forget, .task = id), take_done, &a);
    pass(w, SECOND / 10);
    assert_true(a.is_there);
    return a.code;
}

#endif
