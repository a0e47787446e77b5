/* SPDX-License-Identifier: MIT
 *
 * Clusters and jobs in a world of a scheduler test (world_base.h): how a test adds, changes and
 * deletes them, and what a test looks at.
 */
#ifndef TEST_SCHEDULER_WORLD_H
#define TEST_SCHEDULER_WORLD_H

#include "lib/guid.h"
#include "test/unit/scheduler/world_base.h"
#include "test/unit/support/says.h"

/* ' for ". */
static inline char *json(struct world *w, const char *text)
{
    char *copy = arena_strdup(&w->a, text);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}

#define SHARE                                                                                      \
    "'mountVolumes': {'azureFileShares': [{'accountName': 'acct', 'azureFileUrl': "                \
    "'https://acct.file.core.windows.net/share', 'relativeMountPath': 'share'}]}"

struct cluster_wish {
    struct scale scale;
    const char *setup; /* properties of nodeSetup; NULL: mounts only */
    const char *vm_size;
    enum vm_priority vm_priority;
};

static inline int64_t add_cluster(struct world *w, const char *name, struct cluster_wish wish)
{
    struct err e = {0};
    char guid[GUID_SIZE];
    guid_new(guid);
    int64_t now = time_now_us(), id;
    if (wish.scale.kind == 0)
        wish.scale.kind = SCALE_MANUAL;
    if (wish.scale.dealloc == 0)
        wish.scale.dealloc = DEALLOC_REQUEUE;
    const struct cluster c = {.workspace_id = w->workspace,
                              .name = name,
                              .guid = guid,
                              .doc =
                                  json(w, arena_printf(&w->a, "{'properties': {'nodeSetup': {%s}}}",
                                                       wish.setup ? wish.setup : SHARE)),
                              .vm_size = wish.vm_size ? wish.vm_size : "STANDARD_D1",
                              .vm_priority = wish.vm_priority ? wish.vm_priority : VM_DEDICATED,
                              .scale = wish.scale,
                              .prov_state = PROV_SUCCEEDED,
                              .alloc_state = ALLOC_RESIZING,
                              .prov_us = now,
                              .alloc_us = now,
                              .created_us = now,
                              .updated_us = now};
    ok(st_cluster_insert(w->st, &c, NULL, &id, &e), &e);
    sched_wake_pool(w->s, id);
    return id;
}

static inline int64_t add_cluster_of(struct world *w, const char *name, int target)
{
    return add_cluster(w, name, (struct cluster_wish){.scale = {.target = target}});
}

struct job_wish {
    const char *command, *prep, *more; /* more: properties, each with a comma behind it */
    int nodes, priority, wall_s;
};

/* JOB("the command", .nodes = 2): what add_job() takes. */
#define JOB(...) ((struct job_wish){.command = __VA_ARGS__})

/* A row of a queued job, without what the job does; its GUID and its strings last with the world.
 */
static inline struct job new_job(struct world *w, int64_t cluster, const char *name)
{
    char guid[GUID_SIZE];
    guid_new(guid);
    int64_t now = time_now_us();
    return (struct job){.experiment_id = w->experiment,
                        .cluster_id = cluster,
                        .name = name,
                        .guid = arena_strdup(&w->a, guid),
                        .cluster_ref = "ref",
                        .prov_state = PROV_SUCCEEDED,
                        .exec_state = EXEC_QUEUED,
                        .prov_us = now,
                        .exec_us = now,
                        .created_us = now,
                        .updated_us = now};
}

static inline int64_t insert_job(struct world *w, const struct job *j)
{
    struct err e = {0};
    int64_t id;
    ok(st_job_insert(w->st, j, NULL, &id, &e), &e);
    sched_wake_pool(w->s, j->cluster_id);
    return id;
}

static inline int64_t add_job(struct world *w, int64_t cluster, const char *name,
                              struct job_wish wish)
{
    struct arena *a = &w->a;
    struct job j = new_job(w, cluster, name);
    const char *prep =
        wish.prep ? arena_printf(a, "'jobPreparation': {'commandLine': '%s'},", wish.prep) : "";
    int wall_s = wish.wall_s ? wish.wall_s : 600;
    j.node_count = wish.nodes ? wish.nodes : 1;
    j.priority = wish.priority;
    j.max_wall_us = wall_s * 1000000LL;
    j.doc =
        json(w, arena_printf(a,
                             "{'properties': {%s %s 'nodeCount': %d, 'toolType': 'custom',"
                             " 'customToolkitSettings': {'commandLine': '%s'},"
                             " 'stdOutErrPathPrefix': '$AZ_BATCHAI_MOUNT_ROOT/share/logs',"
                             " 'constraints': {'maxWallClockTime': 'PT%dS'}}}",
                             wish.more ? wish.more : "", prep, j.node_count, wish.command, wall_s));
    return insert_job(w, &j);
}

static inline struct job job_row(struct world *w, int64_t id)
{
    struct job j = {0};
    struct err e = {0};
    ok(st_job_by_id(w->st, &w->a, id, &j, &e), &e);
    return j;
}

static inline enum exec_state job_state(struct world *w, int64_t id)
{
    struct arena a;
    arena_init(&a);
    struct job j = {0};
    struct err e = {0};
    ok(st_job_by_id(w->st, &a, id, &j, &e), &e);
    arena_free(&a);
    return j.exec_state;
}

static inline bool job_ended(struct world *w, int64_t id)
{
    enum exec_state x = job_state(w, id);
    return x == EXEC_SUCCEEDED || x == EXEC_FAILED;
}

static inline struct cluster cluster_row(struct world *w, int64_t id)
{
    struct cluster c = {0};
    struct err e = {0};
    ok(st_cluster_by_id(w->st, &w->a, id, &c, &e), &e);
    return c;
}

static inline struct node_counts counts(struct world *w, int64_t id)
{
    struct arena a;
    arena_init(&a);
    struct cluster c = {0};
    struct err e = {0};
    ok(st_cluster_by_id(w->st, &a, id, &c, &e), &e);
    arena_free(&a);
    return c.counts;
}

static inline int rows_of(struct node_counts n)
{
    return n.preparing + n.idle + n.running + n.leaving + n.unusable;
}

static inline void set_scale(struct world *w, int64_t cluster, struct scale scale)
{
    struct err e = {0};
    struct cluster c = cluster_row(w, cluster);
    c.scale = scale;
    c.updated_us = time_now_us();
    ok(st_cluster_update_scale(w->st, &c, &e), &e);
    sched_wake_pool(w->s, cluster);
}

/* To `target` nodes; the rule says what becomes of the jobs on nodes that leave. */
static inline void resize_by(struct world *w, int64_t cluster, int target, enum dealloc_option rule)
{
    set_scale(w, cluster, (struct scale){.kind = SCALE_MANUAL, .target = target, .dealloc = rule});
}

static inline void resize(struct world *w, int64_t cluster, int target)
{
    resize_by(w, cluster, target, DEALLOC_REQUEUE);
}

/* How many nodes a cluster or a pool has; and their rows, by their numbers, unless `rows` is NULL.
 */
static inline size_t nodes_of(struct world *w, int64_t pool, struct node **rows)
{
    struct err e = {0};
    struct node *ignored;
    size_t n;
    ok(st_node_list(w->st, &w->a, pool, rows ? rows : &ignored, &n, &e), &e);
    return n;
}

/* The i-th of them, which there must be. */
static inline struct node node_row(struct world *w, int64_t pool, size_t i)
{
    struct node *rows;
    assert_true(i < nodes_of(w, pool, &rows));
    return rows[i];
}

static inline const char *errors_of(struct world *w, int64_t cluster)
{
    const char *errors = cluster_row(w, cluster).errors;
    return errors ? errors : "";
}

/* --- what happens ----------------------------------------------------------------------------- */

/* A cluster "c" of so many nodes, which all are idle. */
static inline int64_t idle_cluster(struct world *w, int nodes)
{
    int64_t c = add_cluster_of(w, "c", nodes);
    WAIT(w, counts(w, c).idle == nodes);
    return c;
}

static inline int64_t cluster_of(struct world *w, int target, enum dealloc_option rule)
{
    return add_cluster(w, "c", (struct cluster_wish){.scale = {.target = target, .dealloc = rule}});
}

static inline void restart(struct world *w)
{
    world_stop(w);
    world_start(w);
}

static inline void terminate(struct world *w, int64_t job)
{
    struct err e = {0};
    ok(batchai_terminate(&w->front, job, &e), &e);
}

static inline void delete_row(struct world *w, enum resource_kind kind, int64_t id)
{
    struct err e = {0};
    ok(st_mark_deleting(w->st, kind, id, time_now_us(), &e), &e);
    batchai_wake_deletions(&w->front);
}

static inline void assert_ends(struct world *w, int64_t job, enum exec_state how)
{
    WAIT(w, job_ended(w, job));
    assert_int_equal(job_state(w, job), how);
}

/* The job ends so in this attempt. */
static inline void assert_ends_in(struct world *w, int64_t job, enum exec_state how, int attempt)
{
    assert_ends(w, job, how);
    assert_int_equal(job_row(w, job).attempt, attempt);
}

/* The errors of a job or of a cluster have each of these parts. */
#define job_says(w, job, ...)         assert_says(job_row(w, job).errors, __VA_ARGS__)
#define cluster_says(w, cluster, ...) assert_says(cluster_row(w, cluster).errors, __VA_ARGS__)

/* Waits until the cluster has errors. */
#define cluster_will_say(w, cluster, ...)                                                          \
    do {                                                                                           \
        WAIT(w, cluster_row(w, cluster).errors != NULL);                                           \
        cluster_says(w, cluster, __VA_ARGS__);                                                     \
    } while (0)

/* The job's directory in the share, as the user sees it. */
static inline const char *share_file(struct world *w, int64_t job, const char *rest)
{
    struct job j = job_row(w, job);
    return arena_printf(&w->a, "%s/storage/acct/files/share/logs/%s/%s", w->dir,
                        job_path_segment(&w->a, &j), rest);
}

static inline const char *read_text(struct world *w, const char *file)
{
    char *data;
    struct err e = {0};
    if (fs_read(file, 1 << 20, &data, NULL, &e) != 0)
        return "(no such file)";
    const char *copy = arena_strdup(&w->a, data);
    free(data);
    return copy;
}

static inline const char *out_of(struct world *w, int64_t job)
{
    return read_text(w, share_file(w, job, "stdouterr/stdout.txt"));
}

static inline const char *log_of(struct world *w, int64_t job)
{
    return read_text(w, share_file(w, job, "stdouterr/execution.log"));
}

/* A job that writes "begin", and "end" once go() was called. */
#define UNTIL_GO                                                                                   \
    "echo begin; until test -f $AZ_BATCHAI_MOUNT_ROOT/share/go; do sleep 0.05; done; echo end"

static inline void make_share(struct world *w)
{
    struct err e = {0};
    ok(fs_mkdirs(path(w, "storage/acct/files/share"), 0755, &e), &e);
}

static inline void go(struct world *w)
{
    struct err e = {0};
    make_share(w);
    ok(fs_write_atomic(path(w, "storage/acct/files/share/go"), "", 0, 0644, &e), &e);
}

#endif
