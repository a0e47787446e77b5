/* SPDX-License-Identifier: MIT
 *
 * Waiting runs that want more nodes than their cluster has as it is scaled now. They stand aside
 * until it is resized (plan.h); here it is said so, once for each size of the cluster: in the log,
 * and in the job's execution.log if that is on a share of ours. On nodes there is nothing yet.
 */
#include "scheduler/oversized.h"

#include <stdlib.h>

#include "files/files.h"
#include "model/job_output.h"
#include "scheduler/plan.h"

/* As many are told of for one size of a cluster: more than that nobody reads, and whoever puts
 * thousands into a cluster that is not scaled up yet need not wait for as many files. */
#define TOLD_MOST 64

struct note {
    struct sched *s; /* a reference */
    int64_t owner_id;
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
        LOG_INFO(n->s->log, "job.waits", LF_STR("job", n->name), LF_INT("job_id", n->owner_id),
                 LF_STR("why", n->why));
    if (why || !n->root || wakes_stopping(n->s->wakes)) {
        note_free(n);
        return;
    }
    const struct file_place log = {n->root, n->path};
    files_append(n->s->files, &log, n->text, on_written, n);
}

/* Where execution.log is, if it is on a share. */
static void find_log(struct note *n, struct arena *a, const struct run *r)
{
    struct job_spec spec;
    struct err e;
    const char *rest = "";
    const struct front *f = n->s->front;
    if (f->ops->load(f, n->s->st, a, r, false, &spec, &e) != 0)
        return;
    const struct mount_volume *v =
        mount_resolve(a, &spec.cluster_mounts, &spec.mounts, spec.std_prefix, &rest);
    if (!v || (v->kind != MOUNT_AZURE_FILE_SHARE && v->kind != MOUNT_AZURE_BLOB))
        return;
    n->root = xstrdup(fleet_share_path(n->s->storage_dir, a, v));
    n->path = xstrdup(arena_printf(a, "%s%s%s/execution.log", rest, *rest ? "/" : "",
                                   job_output_at(a, &spec, 0).below));
}

static void tell(struct sched *s, const struct pool *p, const struct run *r)
{
    char now[TIMEFMT_SIZE];
    struct arena a;
    const struct front *f = s->front;
    arena_init(&a);
    timefmt_fixed(wakes_wall(s->wakes), now);
    struct note *n = xcalloc(1, sizeof *n);
    n->s = s;
    n->owner_id = r->owner_id;
    n->name = xstrdup(f->ops->run_name(f, s->st, &a, r));
    n->why = xstrdup(arena_printf(
        &a,
        "it needs %d nodes, and cluster %s is scaled to %d; other jobs go "
        "ahead of it until the cluster is resized",
        r->nodes, f->ops->pool_name(f, s->st, &a, p->id, false), plan_largest(&p->scale)));
    n->text = xstrdup(arena_printf(&a, "%s job %s waits: %s\n", now, n->name, n->why));
    find_log(n, &a, r);
    wakes_ref(s->wakes);
    st_when_durable(s->st, on_durable, n);
    arena_free(&a);
}

/* What told_sizes has of a cluster: the largest job it took, plus 1, and how many were told so. */
static void *told(int largest, size_t n)
{
    return (void *)(((uintptr_t)n << 32) | ((uintptr_t)largest + 1));
}

static bool is_told(const struct sched *s, int64_t cluster, int largest, size_t *n)
{
    uintptr_t was = (uintptr_t)id_map_find(&s->told_sizes, cluster);
    *n = was >> 32;
    return (was & UINT32_MAX) == (uintptr_t)largest + 1;
}

int oversized_look(struct sched *s, struct arena *a, const struct pool *p, struct err *e)
{
    int largest = plan_largest(&p->scale);
    struct run *runs;
    size_t n;
    if (is_told(s, p->id, largest, &n))
        return 0;
    if (st_run_oversized(s->st, a, p->id, largest, TOLD_MOST, &runs, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        tell(s, p, &runs[i]);
    id_map_put(&s->told_sizes, p->id, told(largest, n));
    return 0;
}

static int tell_of(struct sched *s, struct arena *a, int64_t pool_id, int64_t job_id, struct err *e)
{
    struct run r;
    struct pool p;
    int rc = st_run_of(s->st, a, RES_JOB, job_id, 0, &r, e);
    if (rc == 1)
        rc = st_pool_by_id(s->st, a, pool_id, &p, e);
    if (rc == 1)
        tell(s, &p, &r);
    return rc;
}

void sched_job_queued(struct sched *s, const struct cluster *c, const struct job *j)
{
    struct arena a;
    struct err e = {0};
    int largest = plan_largest(&c->scale);
    size_t n = 0;
    bool known = is_told(s, c->id, largest, &n);
    wake(s->wakes, WAKE_POOL, c->id);
    if (j->node_count <= largest || (known && n >= TOLD_MOST))
        return;
    arena_init(&a);
    if (tell_of(s, &a, c->id, j->id, &e) < 0)
        LOG_ERROR(s->log, "job.not_read", LF_INT("job_id", j->id), LF_STR("why", e.msg));
    else if (known)
        id_map_put(&s->told_sizes, c->id, told(largest, n + 1));
    arena_free(&a);
}
