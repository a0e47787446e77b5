/* SPDX-License-Identifier: MIT */
#include "test/sim/sim_view.h"

#include <sqlite3.h>
#include <string.h>

#include "storage/storage_priv.h"

#define FIRST_ROWS 16

/* --- rows ------------------------------------------------------------------------------------- */

bool sim_view_rows_after(struct view *v, const char *sql, int64_t after,
                         void (*each)(struct view *v, struct sqlite3_stmt *s))
{
    sqlite3 *db = v->m->life->st->db;
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (rc == SQLITE_OK && sqlite3_bind_parameter_count(s) > 0)
        rc = sqlite3_bind_int64(s, 1, after);
    while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        each(v, s);
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_DONE)
        sim_fail(v->m, "cannot read: %s", sqlite3_errmsg(db));
    sqlite3_finalize(s);
    return rc == SQLITE_DONE;
}

bool sim_view_rows(struct view *v, const char *sql,
                   void (*each)(struct view *v, struct sqlite3_stmt *s))
{
    return sim_view_rows_after(v, sql, 0, each);
}

static void complain(struct view *v, sqlite3_stmt *s)
{
    sim_fail(v->m, "%s", (const char *)sqlite3_column_text(s, 0));
}

bool sim_view_none(struct view *v, const char *sql)
{
    return sim_view_rows(v, sql, complain);
}

static char *text(struct view *v, sqlite3_stmt *s, int col)
{
    return arena_strdup(&v->m->a, (const char *)sqlite3_column_text(s, col));
}

/* Room for one more: it doubles. */
static void *one_more(struct view *v, void *items, size_t *n, size_t size)
{
    bool full = *n == 0 || (*n >= FIRST_ROWS && (*n & (*n - 1)) == 0);
    if (full) {
        void *bigger = arena_alloc(&v->m->a, (*n > 0 ? 2 * *n : FIRST_ROWS) * size);
        if (*n > 0)
            memcpy(bigger, items, *n * size);
        items = bigger;
    }
    ++*n;
    return items;
}

static void take_cluster(struct view *v, sqlite3_stmt *s)
{
    v->clusters = one_more(v, v->clusters, &v->n_clusters, sizeof *v->clusters);
    v->clusters[v->n_clusters - 1] =
        (struct cluster){.id = sqlite3_column_int64(s, 0),
                         .name = text(v, s, 1),
                         .prov_state = (enum prov_state)sqlite3_column_int(s, 2),
                         .alloc_state = (enum alloc_state)sqlite3_column_int(s, 3),
                         .scale = {.kind = (enum scale_kind)sqlite3_column_int(s, 4),
                                   .target = sqlite3_column_int(s, 5),
                                   .minimum = sqlite3_column_int(s, 6),
                                   .maximum = sqlite3_column_int(s, 7),
                                   .dealloc = (enum dealloc_option)sqlite3_column_int(s, 10)},
                         .vm_priority = (enum vm_priority)sqlite3_column_int(s, 9),
                         .errors = text(v, s, 8)};
}

static void take_node(struct view *v, sqlite3_stmt *s)
{
    v->nodes = one_more(v, v->nodes, &v->n_nodes, sizeof *v->nodes);
    v->nodes[v->n_nodes - 1] = (struct node){.id = sqlite3_column_int64(s, 0),
                                             .pool_id = sqlite3_column_int64(s, 1),
                                             .name = text(v, s, 2),
                                             .state = (enum node_state)sqlite3_column_int(s, 3),
                                             .idle_us = sqlite3_column_int64(s, 4),
                                             .has = {.slots = sqlite3_column_int(s, 5),
                                                     .gpus = sqlite3_column_int(s, 6),
                                                     .cores = sqlite3_column_int(s, 8)},
                                             .machine_id = sqlite3_column_int64(s, 7),
                                             .ordinal = sqlite3_column_int(s, 9)};
}

static void take_job(struct view *v, sqlite3_stmt *s)
{
    size_t n = v->n_jobs;
    v->jobs = one_more(v, v->jobs, &n, sizeof *v->jobs);
    v->runs = one_more(v, v->runs, &v->n_jobs, sizeof *v->runs);
    v->jobs[n - 1] = (struct job){.id = sqlite3_column_int64(s, 0),
                                  .cluster_id = sqlite3_column_int64(s, 1),
                                  .name = text(v, s, 2),
                                  .prov_state = (enum prov_state)sqlite3_column_int(s, 3),
                                  .exec_state = (enum exec_state)sqlite3_column_int(s, 4),
                                  .priority = sqlite3_column_int(s, 5),
                                  .node_count = sqlite3_column_int(s, 6),
                                  .attempt = sqlite3_column_int(s, 7)};
    v->runs[n - 1] = (struct run){.id = sqlite3_column_int64(s, 8),
                                  .pool_id = sqlite3_column_int64(s, 15),
                                  .priority = sqlite3_column_int(s, 5),
                                  .nodes = sqlite3_column_int(s, 6),
                                  .start_us = sqlite3_column_int64(s, 16),
                                  .max_wall_us = sqlite3_column_int64(s, 17),
                                  .state = (enum run_state)sqlite3_column_int(s, 9),
                                  .stop = (enum run_stop)sqlite3_column_int(s, 10),
                                  .attempt = sqlite3_column_int(s, 7),
                                  .need_whole = sqlite3_column_int(s, 11) != 0,
                                  .need = {.slots = sqlite3_column_int(s, 12),
                                           .gpus = sqlite3_column_int(s, 13),
                                           .cores = sqlite3_column_int(s, 14)},
                                  .held = (enum run_hold)sqlite3_column_int(s, 18),
                                  .idx = sqlite3_column_int(s, 19),
                                  .runs = sqlite3_column_int(s, 20)};
}

static void take_work(struct view *v, sqlite3_stmt *s)
{
    v->works = one_more(v, v->works, &v->n_works, sizeof *v->works);
    v->works[v->n_works - 1] =
        (struct batch_job){.id = sqlite3_column_int64(s, 0),
                           .name = text(v, s, 1),
                           .state = (enum batch_job_state)sqlite3_column_int(s, 2),
                           .pool_name = text(v, s, 3),
                           .max_parallel = sqlite3_column_int(s, 4),
                           .on_all = (enum batch_on_all)sqlite3_column_int(s, 5)};
}

static void take_task(struct view *v, sqlite3_stmt *s)
{
    size_t n = v->n_tasks;
    v->tasks = one_more(v, v->tasks, &n, sizeof *v->tasks);
    v->task_runs = one_more(v, v->task_runs, &v->n_tasks, sizeof *v->task_runs);
    v->tasks[n - 1] = (struct batch_task){.id = sqlite3_column_int64(s, 0),
                                          .job_id = sqlite3_column_int64(s, 1),
                                          .name = text(v, s, 2),
                                          .state = (enum batch_task_state)sqlite3_column_int(s, 3),
                                          .result = (enum batch_result)sqlite3_column_int(s, 4),
                                          .retries = sqlite3_column_int(s, 5),
                                          .requeues = sqlite3_column_int(s, 6),
                                          .end_us = sqlite3_column_int64(s, 7),
                                          .fed = sqlite3_column_int(s, 8) != 0,
                                          .waits = sqlite3_column_int(s, 9),
                                          .satisfies = sqlite3_column_int(s, 10) != 0,
                                          .fate = (enum batch_fate)sqlite3_column_int(s, 11)};
    v->task_runs[n - 1] = (struct run){.id = sqlite3_column_int64(s, 12),
                                       .guid = text(v, s, 13),
                                       .state = (enum run_state)sqlite3_column_int(s, 14),
                                       .stop = (enum run_stop)sqlite3_column_int(s, 15),
                                       .attempt = sqlite3_column_int(s, 16)};
}

static void take_chore(struct view *v, sqlite3_stmt *s)
{
    v->chores = one_more(v, v->chores, &v->n_chores, sizeof *v->chores);
    v->chores[v->n_chores - 1] = sqlite3_column_int64(s, 0);
}

static void take_server(struct view *v, sqlite3_stmt *s)
{
    v->servers = one_more(v, v->servers, &v->n_servers, sizeof *v->servers);
    v->servers[v->n_servers - 1] =
        (struct file_server){.id = sqlite3_column_int64(s, 0),
                             .name = text(v, s, 1),
                             .prov_state = (enum prov_state)sqlite3_column_int(s, 2)};
}

static void take_machine(struct view *v, sqlite3_stmt *s)
{
    int i = sim_machine_index((const char *)sqlite3_column_text(s, 1));
    if (i < 0)
        return;
    v->machines[i] = sqlite3_column_int64(s, 0);
    v->drained |= (unsigned)(sqlite3_column_int(s, 2) != 0) << i;
}

static void take_allocation(struct view *v, sqlite3_stmt *s)
{
    v->held = one_more(v, v->held, &v->n_held, sizeof *v->held);
    v->held[v->n_held - 1] = (struct allocation){.run_id = sqlite3_column_int64(s, 0),
                                                 .attempt = sqlite3_column_int(s, 1),
                                                 .rank = sqlite3_column_int(s, 2),
                                                 .node_id = sqlite3_column_int64(s, 3),
                                                 .node_name = text(v, s, 4),
                                                 .takes = {.slots = sqlite3_column_int(s, 5),
                                                           .gpus = sqlite3_column_int(s, 6),
                                                           .cores = sqlite3_column_int(s, 8)},
                                                 .devices = text(v, s, 7)};
}

/* --- together --------------------------------------------------------------------------------- */

struct node *sim_view_node(const struct view *v, int64_t id)
{
    for (size_t i = 0; i < v->n_nodes; i++)
        if (v->nodes[i].id == id)
            return &v->nodes[i];
    return NULL;
}

int sim_view_machine(const struct view *v, const struct node *n)
{
    for (int i = 0; i < MACHINES; i++)
        if (n->machine_id != 0 && v->machines[i] == n->machine_id)
            return i;
    return -1;
}

static void count(struct view *v)
{
    for (size_t i = 0; i < v->n_held; i++) {
        struct node *n = sim_view_node(v, v->held[i].node_id);
        if (n)
            n->live++;
    }
    for (size_t i = 0; i < v->n_clusters; i++) {
        struct node_counts *c = &v->clusters[i].counts;
        for (size_t k = 0; k < v->n_nodes; k++) {
            const struct node *n = &v->nodes[k];
            int *of[] = {[NODE_PREPARING] = &c->preparing,
                         [NODE_IDLE] = n->live > 0 ? &c->running : &c->idle,
                         [NODE_LEAVING] = &c->leaving,
                         [NODE_UNUSABLE] = &c->unusable};
            *of[n->state] += n->pool_id == v->clusters[i].id;
        }
    }
}

bool sim_view_read(struct sim *m, struct view *v)
{
    *v = (struct view){.m = m};
    st_turn_read(m->life->st);
    bool ok =
        sim_view_rows(
            v,
            "SELECT r.id, r.name, r.prov_state, p.alloc_state, p.scale_kind, p.scale_target, "
            "p.scale_minimum, p.scale_maximum, p.errors, p.vm_priority, p.scale_dealloc FROM "
            "cluster r JOIN pool p "
            "ON p.id = r.id",
            take_cluster) &&
        sim_view_rows(v,
                      "SELECT id, pool_id, name, state, idle_us, slots, gpus, machine_id, "
                      "cores, ordinal FROM node ORDER BY pool_id, ordinal",
                      take_node) &&
        sim_view_rows(
            v,
            "SELECT j.id, j.cluster_id, j.name, j.prov_state, j.exec_state, u.priority, u.nodes, "
            "u.attempt, u.id, u.phase, u.stop, u.need_whole, u.need_slots, u.need_gpus, "
            "u.need_cores, u.pool_id, u.start_us, u.max_wall_us, u.held, u.idx, u.runs FROM job j "
            "LEFT JOIN run u ON "
            "u.owner_kind = 6 AND u.owner_id = j.id ORDER BY j.id, u.idx",
            take_job) &&
        sim_view_rows(v,
                      "SELECT run_id, attempt, rank, node_id, node_name, slots, gpus, devices, "
                      "cores FROM "
                      "allocation WHERE state IN (1, 2)",
                      take_allocation) &&
        sim_view_rows(v, "SELECT id, name, drained FROM machine", take_machine) &&
        sim_view_rows(v, "SELECT id, name, state, pool_name, max_parallel, on_all FROM batch_job",
                      take_work) &&
        sim_view_rows(v,
                      "SELECT t.id, t.job_id, t.name, t.state, t.result, t.retries, t.requeues, "
                      "t.end_us, t.fed, t.waits, t.satisfies, t.fate, u.id, u.guid, u.phase, "
                      "u.stop, u.attempt FROM batch_task t LEFT JOIN run u ON u.owner_kind = 12 "
                      "AND u.owner_id = t.id",
                      take_task) &&
        sim_view_rows(v, "SELECT id FROM run WHERE owner_kind = 13", take_chore) &&
        sim_view_rows(v, "SELECT id, name, prov_state FROM file_server", take_server);
    count(v);
    return ok;
}

/* --- as others read --------------------------------------------------------------------------- */

static void compare_cluster(struct view *v, const struct cluster *c)
{
    struct node *list;
    size_t n;
    struct err e = {0};
    struct cluster read;
    int rc = st_cluster_by_id(v->m->life->st, &v->m->a, c->id, &read, &e);
    if (!sim_ok(v->m, rc, &e, "cluster"))
        return;
    if (rc != 1 || memcmp(&read.counts, &c->counts, sizeof read.counts) != 0)
        sim_fail(v->m, "the counts of cluster %s do not add up", c->name);
    rc = st_node_list(v->m->life->st, &v->m->a, c->id, &list, &n, &e);
    if (!sim_ok(v->m, rc, &e, "nodes"))
        return;
    for (size_t i = 0; i < n; i++) {
        const struct node *seen = sim_view_node(v, list[i].id);
        if (!seen || seen->live != list[i].live || seen->state != list[i].state)
            sim_fail(v->m, "node %s in state %d is said to hold %d runs", list[i].name,
                     (int)list[i].state, list[i].live);
    }
}

static void compare_job(struct view *v, const struct job *j, const struct run *r)
{
    struct job job;
    struct run run = {0};
    struct err e = {0};
    struct storage *st = v->m->life->st;
    int rc = st_job_by_id(st, &v->m->a, j->id, &job, &e);
    if (rc == 1)
        rc = st_run_of(st, &v->m->a, RES_JOB, j->id, r->idx, &run, &e);
    if (!sim_ok(v->m, rc, &e, "job"))
        return;
    if (rc != 1 || job.exec_state != j->exec_state || (r->idx == 0 && job.attempt != run.attempt) ||
        run.id != r->id || run.state != r->state)
        sim_fail(v->m, "job %s is read in state %d, attempt %d, its run %lld in state %d", j->name,
                 (int)job.exec_state, job.attempt, (long long)run.id, (int)run.state);
}

void sim_view_compare(struct view *v)
{
    sim_events_check_pruned(v);
    sim_tasks_compare(v);
    for (size_t i = 0; i < v->n_clusters && !sim_failed(v->m); i++)
        compare_cluster(v, &v->clusters[i]);
    for (size_t i = 0; i < v->n_jobs && !sim_failed(v->m); i++)
        compare_job(v, &v->jobs[i], &v->runs[i]);
}
