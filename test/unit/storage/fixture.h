/* SPDX-License-Identifier: MIT
 *
 * A real database in a directory of its own, its loop, and rows to start from.
 */
#ifndef TEST_STORAGE_FIXTURE_H
#define TEST_STORAGE_FIXTURE_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/loop_uv.h"
#include "storage/storage_priv.h"
#include "test/unit/support/says.h"

#define SUB "11111111-2222-3333-4444-555555555555"
#define T0  INT64_C(1528406940000000) /* 2018-06-07T21:29:00Z */

struct fx {
    char dir[64], db[96], key[96];
    uv_loop_t loop;
    struct loop *tools; /* over it */
    struct log log;
    struct storage *st;
    struct arena a;
    struct err e;
    int64_t large_bytes;                           /* see struct st_config */
    bool without_sync;                             /* the same */
    int64_t group, workspace, experiment, cluster; /* of fx_start() */
};

#define ok(fx, call)                                                                               \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, (fx)->e.msg);                                                \
    } while (0)
#define found(fx, call)                                                                            \
    do {                                                                                           \
        int found_rc = (call);                                                                     \
        if (found_rc != 1)                                                                         \
            fail_msg("%s: %d %s", #call, found_rc, found_rc < 0 ? (fx)->e.msg : "not there");      \
    } while (0)

/* The call fails with this code; its message has these words. */
#define refused_saying(fx, call, expected, words)                                                  \
    do {                                                                                           \
        if ((call) != -1)                                                                          \
            fail_msg("%s was not refused", #call);                                                 \
        assert_int_equal((fx)->e.code, expected);                                                  \
        assert_says((fx)->e.msg, words);                                                           \
    } while (0)
#define refused(fx, call, expected) refused_saying(fx, call, expected, "")

/* The first rows of a list, and those after a row. */
#define IN(sub, group)         (&(struct st_filter){.subscription = (sub), .group_id = (group)})
#define PAGE(rows)             (&(struct st_page){.limit = (rows)})
#define PAGE_AFTER(last, rows) (&(struct st_page){.after = (last), .limit = (rows)})

static inline void fx_loop_open(struct fx *f)
{
    assert_int_equal(uv_loop_init(&f->loop), 0);
    f->tools = loop_uv_create(&f->loop, NULL, NULL);
}

static inline void fx_loop_close(struct fx *f)
{
    loop_uv_destroy(f->tools);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
}

static inline int fx_try_open(struct fx *f)
{
    struct st_config c = {.path = f->db,
                          .key_path = f->key,
                          .loop = f->tools,
                          .log = &f->log,
                          .without_sync = f->without_sync,
                          .large_bytes = f->large_bytes};
    return st_open(&c, &f->st, &f->e);
}

static inline void fx_open(struct fx *f)
{
    ok(f, fx_try_open(f));
}

static inline void fx_set_true(void *ctx)
{
    *(bool *)ctx = true;
}

static inline void fx_run_until(struct fx *f, const bool *flag)
{
    while (!*flag)
        assert_true(uv_run(&f->loop, UV_RUN_ONCE) != 0 || *flag);
}

static inline void fx_close(struct fx *f)
{
    bool closed = false;
    st_close(f->st, fx_set_true, &closed);
    fx_run_until(f, &closed);
    f->st = NULL;
}

static inline void fx_reopen(struct fx *f)
{
    fx_close(f);
    fx_open(f);
}

struct fx_flushed {
    bool done, failed;
    struct err why;
};

static inline void fx_on_flushed(void *ctx, const struct err *why)
{
    struct fx_flushed *w = ctx;
    w->done = true;
    w->failed = why != NULL;
    if (why)
        w->why = *why;
}

/* Ends the turn and waits for the disk. */
static inline struct fx_flushed fx_flush(struct fx *f)
{
    struct fx_flushed w = {0};
    st_when_durable(f->st, fx_on_flushed, &w);
    st_turn_end(f->st);
    fx_run_until(f, &w.done);
    return w;
}

static inline int fx_start_empty(void **state)
{
    struct fx *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/batchaid-st-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->db, sizeof f->db, "%s/state.db", f->dir);
    snprintf(f->key, sizeof f->key, "%s/secret.key", f->dir);
    char log[96];
    snprintf(log, sizeof log, "%s/log", f->dir);
    f->log = (struct log){.fd = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600),
                          .level = LOG_LVL_DEBUG};
    fx_loop_open(f);
    arena_init(&f->a);
    *state = f;
    return 0;
}

static inline int fx_end(void **state)
{
    struct fx *f = *state;
    if (f->st)
        fx_close(f);
    fx_loop_close(f);
    arena_free(&f->a);
    close(f->log.fd);
    ok(f, fs_remove_tree(f->dir, &f->e));
    free(f);
    return 0;
}

static inline struct job fx_job(const struct fx *f, const char *name)
{
    return (struct job){.experiment_id = f->experiment,
                        .cluster_id = f->cluster,
                        .name = name,
                        .guid = "aaaaaaaa-0000-4000-8000-000000000001",
                        .doc = "{\"nodeCount\":1}",
                        .cluster_ref = "/subscriptions/s/clusters/nc6",
                        .node_count = 1,
                        .max_wall_us = INT64_C(604800000000),
                        .prov_state = PROV_SUCCEEDED,
                        .exec_state = EXEC_QUEUED,
                        .prov_us = T0,
                        .exec_us = T0,
                        .created_us = T0,
                        .updated_us = T0};
}

static inline int64_t fx_add_job(struct fx *f, const char *name)
{
    struct job j = fx_job(f, name);
    int64_t id = 0;
    ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    return id;
}

static inline int64_t fx_add_group(struct fx *f, const char *subscription, const char *name)
{
    struct resource_group g = {.subscription = subscription,
                               .name = name,
                               .location = "eastus",
                               .prov_state = PROV_SUCCEEDED,
                               .created_us = T0,
                               .updated_us = T0};
    int64_t id = 0;
    ok(f, st_group_insert(f->st, &g, &id, &f->e));
    return id;
}

static inline int64_t fx_add_workspace(struct fx *f, int64_t group, const char *name)
{
    struct workspace w = {.group_id = group,
                          .name = name,
                          .scope = {.location = "westus2"},
                          .tags = "{\"team\":\"x\"}",
                          .prov_state = PROV_SUCCEEDED,
                          .prov_us = T0,
                          .created_us = T0,
                          .updated_us = T0};
    int64_t id = 0;
    ok(f, st_workspace_insert(f->st, &w, &id, &f->e));
    return id;
}

static inline int64_t fx_add_experiment(struct fx *f, int64_t workspace, const char *name)
{
    struct experiment x = {.workspace_id = workspace,
                           .name = name,
                           .prov_state = PROV_SUCCEEDED,
                           .prov_us = T0,
                           .created_us = T0,
                           .updated_us = T0};
    int64_t id = 0;
    ok(f, st_experiment_insert(f->st, &x, &id, &f->e));
    return id;
}

static inline struct cluster fx_cluster(int64_t workspace, const char *name)
{
    return (struct cluster){
        .workspace_id = workspace,
        .name = name,
        .guid = "bbbbbbbb-0000-4000-8000-000000000001",
        .doc = "{\"vmSize\":\"STANDARD_NC6\"}",
        .vm_size = "STANDARD_NC6",
        .vm_priority = VM_DEDICATED,
        .scale = {.kind = SCALE_MANUAL, .target = 2, .dealloc = DEALLOC_REQUEUE},
        .prov_state = PROV_SUCCEEDED,
        .alloc_state = ALLOC_RESIZING,
        .prov_us = T0,
        .alloc_us = T0,
        .created_us = T0,
        .updated_us = T0};
}

static inline int64_t fx_add_cluster(struct fx *f, int64_t workspace, const char *name)
{
    struct cluster c = fx_cluster(workspace, name);
    int64_t id = 0;
    ok(f, st_cluster_insert(f->st, &c, NULL, &id, &f->e));
    return id;
}

static inline int64_t fx_add_file_server_in(struct fx *f, int64_t workspace, const char *name,
                                            enum prov_state state)
{
    struct file_server s = {.workspace_id = workspace,
                            .name = name,
                            .guid = "cccccccc-0000-4000-8000-000000000001",
                            .doc = "{\"vmSize\":\"STANDARD_DS1_V2\"}",
                            .prov_state = state,
                            .prov_us = T0,
                            .created_us = T0,
                            .updated_us = T0};
    int64_t id = 0;
    ok(f, st_file_server_insert(f->st, &s, "{\"password\":\"pw\"}", &id, &f->e));
    return id;
}

static inline int64_t fx_add_file_server(struct fx *f, int64_t workspace, const char *name)
{
    return fx_add_file_server_in(f, workspace, name, PROV_SUCCEEDED);
}

static inline int64_t fx_add_node(struct fx *f, int64_t cluster, int ordinal, enum node_state state)
{
    char name[32];
    snprintf(name, sizeof name, "tvm-%d", ordinal);
    struct node nd = {.pool_id = cluster,
                      .name = name,
                      .ordinal = ordinal,
                      .state = state,
                      .state_us = T0,
                      .created_us = T0};
    int64_t id = 0;
    ok(f, st_node_insert(f->st, &nd, &id, &f->e));
    return id;
}

static inline struct run fx_run_of(struct fx *f, int64_t job)
{
    struct run r;
    found(f, st_run_of(f->st, &f->a, RES_JOB, job, 0, &r, &f->e));
    return r;
}

/* The job's run has the node, at this rank. */
static inline void fx_hold(struct fx *f, int64_t job, int rank, int64_t node)
{
    struct run r = fx_run_of(f, job);
    const struct allocation al = {.run_id = r.id,
                                  .attempt = r.attempt,
                                  .rank = rank,
                                  .node_id = node,
                                  .node_name = "tvm",
                                  .takes = {.slots = 1},
                                  .state = ALLOCATION_HELD,
                                  .task_prefix = "p-",
                                  .created_us = T0};
    ok(f, st_allocation_insert(f->st, &al, 1, &f->e));
}

static inline int fx_release(struct fx *f, const struct allocation *al, enum allocation_state to,
                             int64_t now_us)
{
    const struct allocation_end end = {.to = to, .now_us = now_us};
    return st_allocation_move(f->st, al, &end, &f->e);
}

/* It has none any more. */
static inline void fx_let_go(struct fx *f, int64_t job, int64_t now_us)
{
    struct run r = fx_run_of(f, job);
    struct allocation *rows;
    size_t n;
    ok(f, st_allocation_of_run(f->st, &f->a, r.id, r.attempt, &rows, &n, &f->e));
    for (size_t i = 0; i < n; i++)
        if (rows[i].state == ALLOCATION_HELD)
            ok(f, fx_release(f, &rows[i], ALLOCATION_RELEASED, now_us));
}

static inline struct storage_account fx_storage_account(int64_t group, const char *name)
{
    return (struct storage_account){.group_id = group,
                                    .name = name,
                                    .scope = {.location = "eastus"},
                                    .sku = "Standard_LRS",
                                    .kind = "StorageV2",
                                    .doc = "{}",
                                    .prov_state = PROV_SUCCEEDED,
                                    .created_us = T0,
                                    .updated_us = T0,
                                    .key1_us = T0,
                                    .key2_us = T0};
}

static inline int64_t fx_add_storage_account(struct fx *f, int64_t group, const char *name)
{
    const struct storage_account s = fx_storage_account(group, name);
    struct account_keys keys;
    int64_t id = 0;
    st_account_new_keys(&keys);
    ok(f, st_account_insert(f->st, &s, &keys, &id, &f->e));
    return id;
}

static inline struct batch_account fx_batch_account(int64_t group, const char *name)
{
    return (struct batch_account){.group_id = group,
                                  .name = name,
                                  .scope = {.location = "eastus"},
                                  .doc = "{\"properties\":{}}",
                                  .created_by = "me",
                                  .prov_state = PROV_SUCCEEDED,
                                  .created_us = T0,
                                  .updated_us = T0};
}

static inline int64_t fx_add_batch_account(struct fx *f, int64_t group, const char *name)
{
    const struct batch_account b = fx_batch_account(group, name);
    struct account_keys keys;
    int64_t id = 0;
    st_account_new_keys(&keys);
    ok(f, st_batch_account_insert(f->st, &b, &keys, &id, &f->e));
    return id;
}

/* A run whose owner is no job, and that is gone again: no later run has the id of its job. */
static inline void fx_set_run_ids_apart(struct storage *st, struct err *e)
{
    const struct run r = {.owner_kind = RES_GROUP, .guid = "g", .state = RUN_OVER};
    if (st_run_insert(st, &r, NULL, e) < 0 || st_runs_remove(st, RES_GROUP, 0, e) < 0)
        fail_msg("%s", e->msg);
}

/* An open database with a group "Demo", a workspace "Work", an experiment "Exp", a cluster "nc6".
 */
static inline int fx_start(void **state)
{
    fx_start_empty(state);
    struct fx *f = *state;
    fx_open(f);
    f->group = fx_add_group(f, SUB, "Demo");
    f->workspace = fx_add_workspace(f, f->group, "Work");
    f->experiment = fx_add_experiment(f, f->workspace, "Exp");
    f->cluster = fx_add_cluster(f, f->workspace, "nc6");
    fx_set_run_ids_apart(f->st, &f->e);
    return 0;
}

#define DB_TEST(name)       TEST_IN(name, struct fx *f, *state, fx_start, fx_end)
#define EMPTY_DB_TEST(name) TEST_IN(name, struct fx *f, *state, fx_start_empty, fx_end)

/* A closed database with 300 jobs, some pages long. */
static inline void fx_fill_and_close(struct fx *f)
{
    fx_open(f);
    f->group = fx_add_group(f, SUB, "g");
    f->workspace = fx_add_workspace(f, f->group, "w");
    f->experiment = fx_add_experiment(f, f->workspace, "x");
    f->cluster = fx_add_cluster(f, f->workspace, "c");
    for (int i = 0; i < 300; i++) {
        fx_add_job(f, arena_printf(&f->a, "j%d", i));
    }
    fx_close(f);
}

static inline void fx_overwrite(const struct fx *f, off_t at, const void *bytes, size_t n)
{
    int fd = open(f->db, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, n, at), n);
    close(fd);
}

/* Makes junk of the third page from the end. */
static inline void fx_damage_page(const struct fx *f)
{
    char junk[4096];
    struct stat s;
    assert_int_equal(stat(f->db, &s), 0);
    memset(junk, 0xa5, sizeof junk);
    fx_overwrite(f, s.st_size - 4096 * 3, junk, sizeof junk);
}

#endif
