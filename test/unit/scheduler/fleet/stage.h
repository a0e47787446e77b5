/* SPDX-License-Identifier: MIT
 *
 * Scripts against a real agent: STAGE_TEST(name) is a test with a stage `s`, which has a link to
 * the agent of the fixture `s->f`, an empty script and a folder of the daemon's.
 */
#ifndef TEST_UNIT_FLEET_STAGE_H
#define TEST_UNIT_FLEET_STAGE_H

#include "scheduler/fleet/script/script.h"
#include "test/unit/nodeagent-proto/link/fixture.h"
#include "test/unit/support/words.h"

struct stage {
    struct fixture *f;
    struct arena a;
    struct script *sc;
    char dir[64];
    int changes; /* of the script */
};

static const struct script_label plain = {.code = FAIL_NODE_PREPARATION_FAILED,
                                          .what = "a request"};

/* The stage of the test that runs; callbacks of the fixture know only the fixture. */
static struct stage *stage;

/* Hands tasks that end to the script, as the scheduler does. */
static inline void on_task_ended(void *ctx, const struct task_status *st)
{
    on_ended(ctx, st);
    if (stage->sc)
        script_task_ended(stage->sc, st);
}

static inline void on_changed(void *ctx)
{
    ((struct stage *)ctx)->changes++;
}

/* A new script; the last one goes with the arena. */
static inline void again(struct stage *s)
{
    s->sc = script_new(&s->a, &s->f->log, "node-1");
}

static inline void open_stage(struct stage *s, struct fixture *f)
{
    struct err e = {0};
    *s = (struct stage){.f = f, .dir = "/tmp/batchaid-stage-XXXXXX"};
    stage = s;
    arena_init(&s->a);
    assert_non_null(mkdtemp(s->dir));
    const struct node_local_config c = {.loop = f->tools,
                                        .log = &f->log,
                                        .files = f->files,
                                        .agent_path = f->agent,
                                        .root = f->root,
                                        .callbacks = {on_ready, on_down, on_task_ended, NULL, f}};
    assert_int_equal(node_open_local(&c, &f->link, &e), 0);
    WAIT(f, f->ready > 0);
    again(s);
}

static inline void close_stage(struct stage *s)
{
    struct err e;
    close_link(s->f);
    arena_free(&s->a);
    assert_int_equal(fs_remove_tree(s->dir, &e), 0);
    stage = NULL;
}

#define STAGE_TEST(name)                                                                           \
    static void name(struct stage *s);                                                             \
    static void run_##name(void **state)                                                           \
    {                                                                                              \
        struct stage s;                                                                            \
        open_stage(&s, *state);                                                                    \
        name(&s);                                                                                  \
        close_stage(&s);                                                                           \
    }                                                                                              \
    ENTER_TEST(name, run_##name, setup, teardown)                                                  \
    static void name(struct stage *s)

static inline void run_to_end(struct stage *s)
{
    script_run(s->sc, s->f->link, on_changed, s);
    WAIT(s->f, script_state(s->sc) != SCRIPT_RUNNING && !script_busy(s->sc));
}

/* Runs it; nothing fails. */
static inline void run_well(struct stage *s)
{
    run_to_end(s);
    if (script_state(s->sc) != SCRIPT_DONE)
        fail_msg("%s", script_failure(s->sc)->message);
}

static inline const char *below(struct stage *s, const char *path)
{
    return arena_printf(&s->a, "%s/%s", s->f->root, path);
}

#endif
