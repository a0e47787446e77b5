/* SPDX-License-Identifier: MIT
 *
 * A world for scheduler tests: real storage in a directory of its own, a real loop, the real agent
 * (BATCHAI_NODE, else build/batchai-node). Waiting is for a condition, with a limit.
 */
#ifndef TEST_SCHEDULER_WORLD_BASE_H
#define TEST_SCHEDULER_WORLD_BASE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/loop_uv.h"
#include "nodeagent-proto/link/provider.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "storage/folders/files.h"
#include "storage/storage.h"
#include "test/unit/support/patience.h"
#include "test/unit/support/tests.h"

#define LIMIT_MS 20000 /* never reached on a machine that is not stuck */

struct world {
    char dir[64], agent[512];
    uv_loop_t loop;
    struct loop *tools; /* over it */
    struct files *files;
    struct loop_lane *logins;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_timer_t limit, tick;
    bool timed_out, stopped, closed, up;
    struct log log;
    struct node_provider *local, *machines;
    struct storage *st;
    struct sched *s;
    struct arena a;
    int local_nodes, idle_s, mount_timeout_s, kill_timeout_s;
    struct keep_limits keep;
    const struct site *site; /* borrowed; NULL: local nodes only */
    struct batchai_front front;
    struct batch_front batch;
    struct front *only; /* the one front, instead of these two; NULL: these */
    int64_t ahead_us;   /* of the system's clocks: so much time has passed */
    int64_t group, workspace, experiment;
    /* Of a world in virtual time (virtual.h): lets the next thing happen; NULL: this one is real.
     */
    void (*step)(struct world *w);
    void (*free)(struct world *w); /* what it has besides */
};

static inline void on_limit(uv_timer_t *t)
{
    ((struct world *)t->data)->timed_out = true;
}

static inline void on_tick(uv_timer_t *t)
{
    (void)t; /* conditions outside the loop are looked at again */
}

static inline void wait_begin(struct world *w)
{
    w->timed_out = false;
    if (w->step)
        return;
    uv_timer_start(&w->limit, on_limit, patient_ms(LIMIT_MS), 0);
    uv_timer_start(&w->tick, on_tick, 2, 2);
}

static inline void wait_step(struct world *w)
{
    if (w->step)
        w->step(w);
    else
        uv_run(&w->loop, UV_RUN_ONCE);
}

static inline void wait_end(struct world *w, const char *condition)
{
    if (!w->step) {
        uv_timer_stop(&w->limit);
        uv_timer_stop(&w->tick);
    }
    if (w->timed_out)
        fail_msg("waited in vain for %s", condition);
}

#define WAIT(w, condition)                                                                         \
    do {                                                                                           \
        wait_begin(w);                                                                             \
        while (!(condition) && !(w)->timed_out)                                                    \
            wait_step(w);                                                                          \
        wait_end(w, #condition);                                                                   \
    } while (0)

static inline void turn(struct world *w)
{
    if (w->s && w->up)
        sched_turn(w->s);
    if (w->st && !w->closed)
        st_turn_end(w->st);
}

static inline void on_prepare(uv_prepare_t *h)
{
    turn(h->data);
}

static inline void on_check(uv_check_t *h)
{
    turn(h->data);
}

static inline void ok(int rc, const struct err *e)
{
    if (rc < 0)
        fail_msg("%s: %s", err_code_name(e->code), e->msg);
}

static inline const char *path(struct world *w, const char *rest)
{
    return arena_printf(&w->a, "%s/%s", w->dir, rest);
}

static inline int64_t world_wall(void *ctx)
{
    const struct world *w = ctx;
    return time_now_us() + w->ahead_us;
}

static inline int64_t world_mono(void *ctx)
{
    return (int64_t)(uv_hrtime() / 1000) + ((const struct world *)ctx)->ahead_us;
}

static inline void world_start(struct world *w)
{
    struct err e = {0};
    const struct st_config sc = {
        .path = path(w, "db"), .key_path = path(w, "key"), .loop = w->tools, .log = &w->log};
    w->stopped = w->closed = false;
    ok(st_open(&sc, &w->st, &e), &e);
    w->files = files_create(w->tools, &w->log);
    w->logins = loop_lane_create(w->tools, "logins", 2, 64);
    w->front = batchai_front(w->st, &w->log, false);
    w->batch = batch_front(w->st, &w->log);
    const struct sched_config c = {
        .loop = w->tools,
        .fronts = {{w->only ? w->only : &w->front.front, w->only ? NULL : &w->batch.front}},
        .storage = w->st,
        .files = w->files,
        .login_lane = w->logins,
        .log = &w->log,
        .local = w->local,
        .machines = w->machines,
        .nodes_dir = path(w, "nodes"),
        .storage_dir = path(w, "storage"),
        .local_nodes = w->local_nodes,
        .autoscale_idle_s = w->idle_s,
        .mount_timeout_s = w->mount_timeout_s,
        .kill_timeout_s = w->kill_timeout_s,
        .keep = w->keep,
        .site = w->site};
    w->s = sched_create(&c);
    ok(sched_start(w->s, &e), &e);
    w->up = true;
}

static inline void on_stopped(void *ctx)
{
    struct world *w = ctx;
    w->stopped = true;
}

static inline void on_closed(void *ctx)
{
    struct world *w = ctx;
    w->closed = true;
}

static inline void on_files_stopped(void *ctx, size_t left_behind)
{
    struct world *w = ctx;
    assert_int_equal(left_behind, 0);
    w->files = NULL;
}

static inline void on_lane_closed(void *ctx)
{
    struct world *w = ctx;
    w->logins = NULL;
}

static inline void world_stop(struct world *w)
{
    w->up = false;
    sched_stop(w->s, on_stopped, w);
    files_stop(w->files, on_files_stopped, w);
    WAIT(w, w->stopped && !w->files);
    loop_lane_close(w->logins, LOOP_LANE_FINISH, 0, on_lane_closed, w);
    WAIT(w, !w->logins);
    w->s = NULL;
    struct storage *st = w->st;
    w->st = NULL;
    st_close(st, on_closed, w);
    WAIT(w, w->closed);
}

static inline void insert_parents(struct world *w)
{
    struct err e = {0};
    int64_t now = time_now_us();
    const struct resource_group g = {.subscription = "sub",
                                     .name = "rg",
                                     .location = "here",
                                     .prov_state = PROV_SUCCEEDED,
                                     .created_us = now,
                                     .updated_us = now};
    ok(st_group_insert(w->st, &g, &w->group, &e), &e);
    /* No run has the id of its job. */
    const struct run apart = {.owner_kind = RES_GROUP, .guid = "g", .state = RUN_OVER};
    ok(st_run_insert(w->st, &apart, NULL, &e), &e);
    ok(st_runs_remove(w->st, RES_GROUP, 0, &e), &e);
    const struct workspace ws = {.group_id = w->group,
                                 .scope = {.location = "here"},
                                 .name = "ws",
                                 .prov_state = PROV_SUCCEEDED,
                                 .prov_us = now,
                                 .created_us = now,
                                 .updated_us = now};
    ok(st_workspace_insert(w->st, &ws, &w->workspace, &e), &e);
    const struct experiment x = {.workspace_id = w->workspace,
                                 .name = "exp",
                                 .prov_state = PROV_SUCCEEDED,
                                 .prov_us = now,
                                 .created_us = now,
                                 .updated_us = now};
    ok(st_experiment_insert(w->st, &x, &w->experiment, &e), &e);
}

static inline void init_handle(struct world *w, void *h)
{
    ((uv_handle_t *)h)->data = w;
}

static inline void world_init(struct world *w, const char *dir)
{
    snprintf(w->dir, sizeof w->dir, "%s", dir);
    arena_init(&w->a);
    w->log = (struct log){.fd = getenv("TEST_LOG") ? 2 : -1, .level = LOG_LVL_DEBUG};
}

/* A loop and its handles in an existing directory; nothing is opened yet. */
static inline struct world *world_bare(const char *dir)
{
    struct world *w = xcalloc(1, sizeof *w);
    world_init(w, dir);
    const char *agent = getenv("BATCHAI_NODE");
    (void)signal(SIGPIPE, SIG_IGN); /* as the daemon does: links may break while we write */
    char *found = realpath(agent ? agent : "build/batchai-node", NULL);
    if (!found)
        fail_msg("no node agent: build it, or name it in BATCHAI_NODE");
    snprintf(w->agent, sizeof w->agent, "%s", found);
    free(found);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->tools = loop_uv_create(&w->loop, &(const struct clock){world_wall, w},
                              &(const struct clock){world_mono, w});
    w->local = node_provider_local(w->tools, &w->log, w->agent, NULL);
    w->machines = node_provider_ssh(w->tools, &w->log);
    uv_prepare_init(&w->loop, &w->prepare);
    uv_check_init(&w->loop, &w->check);
    uv_timer_init(&w->loop, &w->limit);
    uv_timer_init(&w->loop, &w->tick);
    init_handle(w, &w->prepare);
    init_handle(w, &w->check);
    init_handle(w, &w->limit);
    init_handle(w, &w->tick);
    uv_prepare_start(&w->prepare, on_prepare);
    uv_check_start(&w->check, on_check);
    return w;
}

static inline struct world *world_at(int local_nodes, const struct site *site)
{
    char dir[] = "/tmp/batchaid-sched-XXXXXX";
    struct err e = {0};
    assert_non_null(mkdtemp(dir));
    struct world *w = world_bare(dir);
    w->local_nodes = local_nodes;
    w->site = site;
    ok(fs_mkdirs(path(w, "nodes"), 0755, &e), &e);
    ok(fs_mkdirs(path(w, "storage"), 0755, &e), &e);
    world_start(w);
    insert_parents(w);
    return w;
}

static inline struct world *world_new(int local_nodes)
{
    return world_at(local_nodes, NULL);
}

static inline void world_free_loop(struct world *w)
{
    uv_close((uv_handle_t *)&w->prepare, NULL);
    uv_close((uv_handle_t *)&w->check, NULL);
    uv_close((uv_handle_t *)&w->limit, NULL);
    uv_close((uv_handle_t *)&w->tick, NULL);
    node_provider_free(w->local);
    node_provider_free(w->machines);
    loop_uv_destroy(w->tools);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
}

static inline void world_free(struct world *w)
{
    struct err e = {0};
    world_stop(w);
    (w->free ? w->free : world_free_loop)(w);
    ok(fs_remove_tree(w->dir, &e), &e);
    arena_free(&w->a);
    free(w);
}

/* A test in the world `w`, which `new_world` makes. */
#define WORLD_TEST(name, new_world) TEST_WITH(name, struct world *, w, new_world, world_free)

/* A test that gets a fixture, as the parameter `type` `arg`, and the fixture's world `w`. */
#define FIXTURE_TEST(name, type, arg, begin, end)                                                  \
    static void name(type arg, struct world *w);                                                   \
    static void run_##name(__attribute__((unused)) void **state)                                   \
    {                                                                                              \
        type arg = begin;                                                                          \
        name(arg, (arg)->w);                                                                       \
        end(arg);                                                                                  \
    }                                                                                              \
    ENTER_TEST(name, run_##name, NULL, NULL)                                                       \
    static void name(__attribute__((unused)) type arg, __attribute__((unused)) struct world *w)

/* The state of a stopped daemon is lost, its key with it; node roots and their tasks are not. */
static inline void lose_state(struct world *w)
{
    static const char *const files[] = {"db", "db-wal", "db-shm", "key"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)unlink(path(w, files[i]));
}

static inline void copy_file(struct world *w, const char *from, const char *to)
{
    char *bytes;
    size_t n;
    struct err e;
    ok(fs_read(path(w, from), 1 << 26, &bytes, &n, &e), &e);
    ok(fs_write_atomic(path(w, to), bytes, n, 0600, &e), &e);
    free(bytes);
}

/* The daemon starts anew on the way. */
static inline void back_up(struct world *w)
{
    world_stop(w);
    copy_file(w, "db", "backup");
    world_start(w);
}

static inline void put_back(struct world *w)
{
    world_stop(w);
    copy_file(w, "backup", "db");
    (void)unlink(path(w, "db-wal"));
    (void)unlink(path(w, "db-shm"));
    world_start(w);
}

#endif
