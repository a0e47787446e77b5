/* SPDX-License-Identifier: MIT
 *
 * Informs users of a job whose cluster is too small for it at its present scale, or cannot get the
 * nodes: in the daemon's log and, if the job's log is on a share of the daemon, in the job's log.
 * Another place has no log yet, because the job has no directory on a node.
 */
#include <stdlib.h>

#include "model/capacity.h"
#include "model/run_output.h"
#include "scheduler/front/batchai/front_priv.h"
#include "scheduler/plan.h"

struct note {
    const struct batchai_front *front; /* the note holds a reference to the front's wakes */
    int64_t owner_id;
    char *name, *why;
    char *text;                /* the line for the run's log */
    char *path;                /* path of the run's log below the share; NULL: not on a share */
    struct mount_volume share; /* the note owns the texts */
};

static void note_free(struct note *n)
{
    struct wakes *wakes = n->front->wakes;
    free(n->name);
    free(n->why);
    free(n->text);
    free((char *)n->share.account);
    free((char *)n->share.share);
    free(n->path);
    free(n);
    wakes_unref(wakes); /* this may free the front */
}

static void on_written(void *ctx, const struct err *why)
{
    struct note *n = ctx;
    if (why)
        LOG_INFO(n->front->log, "job.log_not_written", LF_STR("job", n->name),
                 LF_STR("share", n->share.share), LF_STR("why", why->msg));
    note_free(n);
}

static void on_durable(void *ctx, const struct err *why)
{
    struct note *n = ctx;
    if (!why)
        LOG_INFO(n->front->log, "job.waiting", LF_STR("job", n->name),
                 LF_INT("job_id", n->owner_id), LF_STR("why", n->why));
    if (why || !n->path || wakes_stopping(n->front->wakes)) {
        note_free(n);
        return;
    }
    fleet_append_to_share(sched_fleet(n->front->sched), &n->share, n->path, n->text, on_written, n);
}

/* Finds the run's log, if it is on a share. */
static void find_log(struct note *n, struct arena *a, const struct run *r)
{
    struct run_spec spec;
    struct err e;
    const char *rest = "";
    const struct front *f = &n->front->front;
    const struct front_read how = {.st = n->front->st, .a = a};
    if (f->ops->load(f, &how, r, &spec, &e) != 0)
        return;
    const struct mount_volume *v =
        mount_resolve(a, f->words, &spec.pool_mounts, &spec.mounts, spec.std_prefix, &rest);
    if (!v || (v->kind != MOUNT_FILE_SHARE && v->kind != MOUNT_BLOBS))
        return;
    n->share = (struct mount_volume){
        .kind = v->kind, .account = xstrdup(v->account), .share = xstrdup(v->share)};
    n->path =
        xstrdup(arena_printf(a, "%s%s%s/%s", rest, *rest ? "/" : "",
                             run_output_at(a, &spec, 0).below, front_log_name(f->words, a, NULL)));
}

static void tell(const struct front *f, struct storage *st, const struct run *r, const char *why)
{
    const struct batchai_front *bf = front_self(f);
    char now[TIMEFMT_SIZE];
    struct arena a;
    arena_init(&a);
    timefmt_fixed(wakes_wall(bf->wakes), now);
    struct note *n = xcalloc(1, sizeof *n);
    n->front = bf;
    n->owner_id = r->owner_id;
    n->name = xstrdup(f->ops->run_name(f, st, &a, r));
    n->why = xstrdup(why);
    n->text = xstrdup(arena_printf(&a, "%s job %s waits: %s\n", now, n->name, n->why));
    find_log(n, &a, r);
    wakes_ref(bf->wakes);
    st_when_durable(st, on_durable, n);
    arena_free(&a);
}

static const char *needs_scale(struct arena *a, const struct run_waiting *w, const char *cluster)
{
    return arena_printf(
        a,
        "it needs %d nodes, but cluster %s is scaled to %d; other jobs start before "
        "it until the cluster is resized",
        w->run->nodes, cluster, plan_largest(&w->pool->scale));
}

static const char *needs_larger(struct arena *a, const struct run_waiting *w, const char *cluster)
{
    return arena_printf(a,
                        "it needs %s of each node, but no node of cluster %s has that much; other "
                        "jobs start before it until a node has",
                        capacity_text(a, &w->run->need), cluster);
}

static const char *needs_nodes(struct arena *a, const struct run_waiting *w, const char *cluster)
{
    const struct pool_nodes *have = w->have;
    const char *no_use =
        have->no_use == 0 ? "" : arena_printf(a, ", %d cannot be used", have->no_use);
    const char *missing =
        have->missing == 0 ? "" : arena_printf(a, ", %d not available", have->missing);
    return arena_printf(a,
                        "it needs %d nodes, but cluster %s has %d for jobs now%s%s; its errors say "
                        "why, and the jobs behind this one wait too",
                        w->run->nodes, cluster, have->usable, no_use, missing);
}

void waits(const struct front *f, struct storage *st, const struct run_waiting *w)
{
    static const char *(*const texts[])(struct arena *, const struct run_waiting *,
                                        const char *) = {
        [WAITS_FOR_SCALE] = needs_scale,
        [WAITS_FOR_LARGER_NODES] = needs_larger,
        [WAITS_FOR_NODES] = needs_nodes,
    };
    struct arena a;
    arena_init(&a);
    tell(f, st, w->run, texts[w->why](&a, w, f->ops->pool_name(f, st, &a, w->pool->id, false)));
    arena_free(&a);
}
