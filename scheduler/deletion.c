/* SPDX-License-Identifier: MIT
 *
 * Carries out what st_mark_deleting() marked: jobs are ended and removed, clusters lose their
 * nodes, and whatever has nothing left in it goes, from the inside out.
 */
#include "scheduler/sched_priv.h"

#include <limits.h>

/* Removals per pass, of which there is one a turn while there are more: some tens of microseconds
 * each, so that whoever else wants something waits for a few milliseconds. */
#define REMOVALS_PER_PASS 100

/* Runs taken out of their queues per pass: a microsecond or two each. */
#define DOOMED_PER_PASS 2000

struct pass {
    struct sched *s;
    struct arena a;
    int left;
    bool fresh; /* something was marked since the pass before */
    int64_t now_us;
};

static int remove_row(struct pass *p, enum resource_kind kind, int64_t id, struct err *e)
{
    if (st_remove(p->s->st, kind, id, p->now_us, e) != 0)
        return -1;
    p->left--;
    LOG_INFO(p->s->log, "resource.deleted",
             LF_STR("kind", enum_to_name(resource_kind_names, (int)kind)), LF_INT("id", id));
    return 0;
}

/* Those that run end by themselves, each of which wakes us when it is over. */
static int wake_held(struct pass *p, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_run_doomed_ids(p->s->st, &p->a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        wake_durable(p->s->wakes, WAKE_RUN, ids[i]);
    return 0;
}

/* What waited behind a removed job may run now. A cluster whose jobs go with their experiment is
 * looked at once they are all gone, as each look would have to pass over those that are left. */
static void wake_queue(struct pass *p, const struct doomed_job *j)
{
    if (j->cluster_id == 0)
        return;
    if (j->with_experiment)
        id_map_put(&p->s->bereft, j->cluster_id, NULL);
    else
        wake(p->s->wakes, WAKE_POOL, j->cluster_id);
}

static void wake_bereft(struct sched *s)
{
    int64_t id;
    while (id_map_pop(&s->bereft, &id))
        wake(s->wakes, WAKE_POOL, id);
}

/* First nothing may be started any more of what goes. */
static int take_out_of_queues(struct pass *p, bool *more, struct err *e)
{
    if (p->fresh)
        p->s->doom = (struct st_doom){0};
    p->s->dooming = p->s->dooming || p->fresh;
    *more = p->s->dooming;
    if (!p->s->dooming)
        return 0;
    int rc = st_doom_runs(p->s->st, &p->s->doom, DOOMED_PER_PASS, e);
    p->s->dooming = rc != 0;
    *more = rc > 0;
    return rc < 0 ? -1 : 0;
}

/* Those that no node holds, as many as a pass may. */
static int remove_jobs(struct pass *p, struct err *e)
{
    struct doomed_job *rows;
    size_t n;
    if (st_doomed_jobs(p->s->st, &p->a, p->left, &rows, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (runs_has(p->s->runs, rows[i].run_id)) {
            wake_durable(p->s->wakes, WAKE_RUN, rows[i].run_id);
            continue;
        }
        if (runs_forget_outputs(p->s->runs, &p->a, rows[i].run_id, e) != 0 ||
            remove_row(p, RES_JOB, rows[i].id, e) != 0)
            return -1;
        wake_queue(p, &rows[i]);
    }
    return 0;
}

static int wake_clusters(struct pass *p, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_deleting_cluster_ids(p->s->st, &p->a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        wake(p->s->wakes, WAKE_POOL, ids[i]);
    return 0;
}

/* A cluster whose queue still has jobs waits until cluster_reconcile() has failed them; a file
 * server waits until what served it has been taken down. */
static int may_remove(struct pass *p, enum resource_kind kind, int64_t id, bool *may, struct err *e)
{
    *may = kind != RES_FILE_SERVER || file_server_cleared(p->s->fleet, &p->a, id);
    if (kind != RES_CLUSTER)
        return 0;
    struct run *runs;
    size_t n;
    if (st_run_queue(p->s->st, &p->a, id, INT_MAX, 1, &runs, &n, e) != 0)
        return -1;
    *may = n == 0;
    return 0;
}

static int remove_empty(struct pass *p, enum resource_kind kind, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_removable_ids(p->s->st, &p->a, kind, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n && p->left > 0; i++) {
        bool may;
        if (may_remove(p, kind, ids[i], &may, e) != 0)
            return -1;
        if (!may)
            continue;
        if (remove_row(p, kind, ids[i], e) != 0)
            return -1;
        if (kind == RES_CLUSTER) {
            wake_at(p->s->wakes, WAKE_POOL, ids[i], 0);
            id_map_remove(&p->s->told_sizes, ids[i]);
        }
        if (kind == RES_FILE_SERVER)
            file_server_forget(p->s->fleet, ids[i]);
    }
    return 0;
}

static int run_pass(struct pass *p, struct err *e)
{
    static const enum resource_kind inside_out[] = {RES_FILE_SERVER, RES_CLUSTER, RES_EXPERIMENT,
                                                    RES_WORKSPACE, RES_GROUP};
    bool more, began = p->s->dooming || p->fresh;
    if (p->fresh && wake_clusters(p, e) != 0)
        return -1;
    if (take_out_of_queues(p, &more, e) != 0 || (began && wake_held(p, e) != 0))
        return -1;
    if (more) {
        p->left = 0;
        p->s->jobs_go_first = true;
        return 0;
    }
    if (remove_jobs(p, e) != 0)
        return -1;
    p->s->jobs_go_first = p->left == 0;
    if (p->left == 0)
        return 0; /* there are more jobs, and what they are in has to wait for them */
    wake_bereft(p->s);
    if (wake_clusters(p, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof inside_out / sizeof inside_out[0]; i++)
        if (remove_empty(p, inside_out[i], e) != 0)
            return -1;
    return 0;
}

static void effect_removed(void *ctx, int64_t id, const struct err *why)
{
    struct sched *s = ctx;
    if (!why)
        return;
    s->fresh_deletions = true; /* from the beginning */
    wake_at(s->wakes, WAKE_DELETIONS, id, wakes_mono(s->wakes) + WRITE_AGAIN_US);
}

void deletions_reconcile(void *ctx, int64_t id)
{
    struct sched *s = ctx;
    struct pass p = {.s = s,
                     .left = REMOVALS_PER_PASS,
                     .fresh = s->fresh_deletions,
                     .now_us = wakes_wall(s->wakes)};
    s->fresh_deletions = false;
    arena_init(&p.a);
    struct err e = {0};
    int rc = run_pass(&p, &e);
    if (p.left < REMOVALS_PER_PASS)
        wake_when_durable(s->wakes, effect_removed, s, id);
    if (rc != 0) {
        LOG_ERROR(s->log, "deletion.failed", LF_STR("why", e.msg));
        s->fresh_deletions = true;
        wake_at(s->wakes, WAKE_DELETIONS, id, wakes_mono(s->wakes) + WRITE_AGAIN_US);
    } else if (p.left == 0) {
        wake_at(s->wakes, WAKE_DELETIONS, id, wakes_mono(s->wakes)); /* next turn: others first */
    }
    arena_free(&p.a);
}
