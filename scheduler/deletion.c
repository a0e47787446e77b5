/* SPDX-License-Identifier: MIT
 *
 * Carries out what st_mark_deleting() marked: jobs are ended and removed, clusters lose their
 * nodes, and whatever has nothing left in it goes, from the inside out.
 */
#include "scheduler/file_server.h"
#include "scheduler/outputs.h"
#include "scheduler/sched_priv.h"

/* Removals per pass: some tens of microseconds each; a pass follows at once while there are more.
 */
#define REMOVALS_PER_PASS 100

/* The one id of WAKE_DELETIONS. */
#define ALL_DELETIONS 1

struct pass {
    struct sched *s;
    struct arena a;
    int left;
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

/* A job that no node holds is removed here; one that runs is ended by its run, which wakes us. */
static int remove_jobs(struct pass *p, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_deleting_job_ids(p->s->st, &p->a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n && p->left > 0; i++) {
        struct node *nodes;
        size_t held;
        if (st_node_of_job(p->s->st, &p->a, ids[i], &nodes, &held, e) != 0)
            return -1;
        if (held > 0 || id_map_has(&p->s->runs, ids[i]))
            sched_after_durable(p->s, ids[i], effect_wake_job);
        else if (outputs_forget(p->s, &p->a, ids[i], e) != 0 ||
                 remove_row(p, RES_JOB, ids[i], e) != 0)
            return -1;
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
        wake(p->s, WAKE_CLUSTER, ids[i]);
    return 0;
}

/* A cluster whose queue still has jobs waits until cluster_reconcile() has failed them; a file
 * server waits until what served it has been taken down. */
static int may_remove(struct pass *p, enum resource_kind kind, int64_t id, bool *may, struct err *e)
{
    *may = kind != RES_FILE_SERVER || file_server_cleared(p->s, &p->a, id);
    if (kind != RES_CLUSTER)
        return 0;
    struct job *jobs;
    size_t n;
    if (st_job_queue(p->s->st, &p->a, id, 1, &jobs, &n, e) != 0)
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
        if (kind == RES_CLUSTER)
            wake_at(p->s, WAKE_CLUSTER, ids[i], 0);
        if (kind == RES_FILE_SERVER)
            file_server_forget(p->s, ids[i]);
    }
    return 0;
}

static int run_pass(struct pass *p, struct err *e)
{
    static const enum resource_kind inside_out[] = {RES_FILE_SERVER, RES_CLUSTER, RES_EXPERIMENT,
                                                    RES_WORKSPACE, RES_GROUP};
    if (remove_jobs(p, e) != 0 || wake_clusters(p, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof inside_out / sizeof inside_out[0]; i++)
        if (remove_empty(p, inside_out[i], e) != 0)
            return -1;
    return 0;
}

static void effect_removed(struct sched *s, int64_t id, const struct err *why)
{
    if (why)
        wake_at(s, WAKE_DELETIONS, id, sched_now(s) + WRITE_AGAIN_US);
}

void deletions_reconcile(struct sched *s)
{
    struct pass p = {.s = s, .left = REMOVALS_PER_PASS, .now_us = sched_now(s)};
    arena_init(&p.a);
    struct err e = {0};
    int rc = run_pass(&p, &e);
    if (p.left < REMOVALS_PER_PASS)
        sched_after_durable(s, ALL_DELETIONS, effect_removed);
    if (rc != 0) {
        LOG_ERROR(s->log, "deletion.failed", LF_STR("why", e.msg));
        wake_at(s, WAKE_DELETIONS, ALL_DELETIONS, p.now_us + WRITE_AGAIN_US);
    } else if (p.left == 0)
        s->wake_deletions = true;
    arena_free(&p.a);
}
