/* SPDX-License-Identifier: MIT
 *
 * Queued jobs that want more nodes than their cluster has as it is scaled now. They stand aside
 * until it is resized (plan.h); here it is said so, once for each size of the cluster: in the log,
 * and in the job's execution.log if that is on a share of ours. On nodes there is nothing yet.
 */
#include "scheduler/oversized.h"

#include <stdlib.h>

#include "files/files.h"
#include "model/job_output.h"
#include "scheduler/plan.h"

/* As many are told of at once: more than that nobody reads. */
#define TOLD_AT_ONCE 64

struct note {
    struct sched *s; /* a reference */
    int64_t job_id;
    char *name, *why;
    char *text;        /* the line */
    char *root, *path; /* the share's folder, the log below it; NULL: on none */
};

static void note_free(struct note *n)
{
    struct wakes *wakes = n->s->wakes;
    free(n->name);
    free(n->why);
    free(n->text);
    free(n->root);
    free(n->path);
    free(n);
    wakes_unref(wakes); /* may end it all */
}

static void on_written(void *ctx, const struct err *why)
{
    struct note *n = ctx;
    if (why)
        LOG_INFO(n->s->log, "job.log_not_written", LF_STR("job", n->name), LF_STR("share", n->root),
                 LF_STR("why", why->msg));
    note_free(n);
}

static void on_durable(void *ctx, const struct err *why)
{
    struct note *n = ctx;
    if (!why)
        LOG_INFO(n->s->log, "job.waits", LF_STR("job", n->name), LF_INT("job_id", n->job_id),
                 LF_STR("why", n->why));
    if (why || !n->root || wakes_stopping(n->s->wakes)) {
        note_free(n);
        return;
    }
    const struct file_place log = {n->root, n->path};
    files_append(n->s->files, &log, n->text, on_written, n);
}

/* Where execution.log is, if it is on a share. */
static void find_log(struct note *n, struct arena *a, const struct job *j)
{
    struct job_spec spec;
    const char *rest = "";
    const struct front *f = n->s->front;
    if (f->ops->load(f, n->s->st, a, j, false, &spec, NULL) != 0)
        return;
    const struct mount_volume *v =
        mount_resolve(a, &spec.cluster_mounts, &spec.mounts, spec.std_prefix, &rest);
    if (!v || (v->kind != MOUNT_AZURE_FILE_SHARE && v->kind != MOUNT_AZURE_BLOB))
        return;
    n->root = xstrdup(fleet_share_path(n->s->storage_dir, a, v));
    n->path = xstrdup(arena_printf(a, "%s%s%s/execution.log", rest, *rest ? "/" : "",
                                   job_output_at(a, &spec, 0).below));
}

void oversized_tell(struct sched *s, const struct cluster *c, const struct job *j)
{
    char now[TIMEFMT_SIZE];
    struct arena a;
    arena_init(&a);
    timefmt_fixed(wakes_wall(s->wakes), now);
    struct note *n = xcalloc(1, sizeof *n);
    n->s = s;
    n->job_id = j->id;
    n->name = xstrdup(j->name);
    n->why =
        xstrdup(arena_printf(&a,
                             "it needs %d nodes, and cluster %s is scaled to %d; other jobs go "
                             "ahead of it until the cluster is resized",
                             j->node_count, c->name, plan_largest(&c->scale)));
    n->text = xstrdup(arena_printf(&a, "%s job %s waits: %s\n", now, j->name, n->why));
    find_log(n, &a, j);
    wakes_ref(s->wakes);
    st_when_durable(s->st, on_durable, n);
    arena_free(&a);
}

int oversized_look(struct sched *s, struct arena *a, const struct cluster *c, struct err *e)
{
    int largest = plan_largest(&c->scale);
    void *size = (void *)((uintptr_t)largest + 1);
    struct job *jobs;
    size_t n;
    if (id_map_find(&s->told_sizes, c->id) == size)
        return 0;
    if (st_job_oversized(s->st, a, c->id, largest, TOLD_AT_ONCE, &jobs, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        oversized_tell(s, c, &jobs[i]);
    id_map_put(&s->told_sizes, c->id, size);
    return 0;
}

/* As it stands in the database, where its place in the tree is known. */
static void tell_of(struct sched *s, const struct cluster *c, int64_t job_id)
{
    struct arena a;
    struct job j;
    struct err e = {0};
    arena_init(&a);
    int rc = st_job_by_id(s->st, &a, job_id, &j, &e);
    if (rc == 1)
        oversized_tell(s, c, &j);
    else if (rc < 0)
        LOG_ERROR(s->log, "job.not_read", LF_INT("job_id", job_id), LF_STR("why", e.msg));
    arena_free(&a);
}

void sched_job_queued(struct sched *s, const struct cluster *c, const struct job *j)
{
    if (j->node_count > plan_largest(&c->scale))
        tell_of(s, c, j->id);
    wake(s->wakes, WAKE_POOL, c->id);
}
