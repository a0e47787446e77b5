/* SPDX-License-Identifier: MIT
 *
 * The functions that the core calls: documents become specs, and the result of a run is written
 * into the row of its job, in the core's transaction. The front owns one table in memory, of
 * clusters that lose jobs (deletion.c).
 */
#include <assert.h>

#include "model/states.h"
#include "scheduler/front/batchai/front_priv.h"

/* --- settings of pools and runs --------------------------------------------------------------- */

static int load_pool(const struct front *f, const struct front_read *how, int64_t pool_id,
                     struct node_setup_spec *out, struct err *e)
{
    struct cluster c;
    const char *text = NULL;
    int rc = st_cluster_by_id(how->st, how->a, pool_id, &c, e);
    (void)f;
    if (rc <= 0)
        return rc;
    if (how->secrets && st_cluster_secrets(how->st, how->a, c.id, &text, e) < 0)
        return -1;
    return node_setup_decode(how->a, &c, text, out, e) == 0 ? 1 : -1;
}

/* The run's job; a deleted job is an error, as is a run of another owner. */
static int job_of(struct storage *st, struct arena *a, const struct run *r, struct job *out,
                  struct err *e)
{
    if (r->owner_kind != RES_JOB)
        return err_set(e, ERR_STORAGE, NULL,
                       "The database is damaged: run %lld belongs to no job; restore it from a "
                       "backup.",
                       (long long)r->id);
    int rc = st_job_by_id(st, a, r->owner_id, out, e);
    if (rc == 0)
        return err_set(e, ERR_JOB_NOT_FOUND, NULL, "the run's job is gone");
    return rc < 0 ? -1 : 0;
}

static int load(const struct front *f, const struct front_read *how, const struct run *r,
                struct run_spec *out, struct err *e)
{
    struct job j = {0};
    const char *text = NULL;
    (void)f;
    if (job_of(how->st, how->a, r, &j, e) < 0)
        return -1;
    if (how->secrets && st_job_secrets(how->st, how->a, j.id, &text, e) < 0)
        return -1;
    if (job_spec_decode(how->a, &j, text, out, e) < 0)
        return -1;
    if (out->wishes.array) /* also for an array with a single index */
        array_spec(how->a, r, out);
    return 0;
}

static const char *pool_name(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id, bool full)
{
    const char *name, *workspace;
    struct err e;
    (void)f;
    if (st_cluster_names(st, a, pool_id, &name, &workspace, &e) != 1)
        return "";
    return full ? arena_printf(a, "cluster %s of workspace %s", name, workspace) : name;
}

static const char *pool_path(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id)
{
    const char *name, *workspace;
    struct err e;
    (void)f;
    if (st_cluster_names(st, a, pool_id, &name, &workspace, &e) != 1)
        return "";
    return arena_printf(a, "%s/%s", workspace, name);
}

static const char *run_name(const struct front *f, struct storage *st, struct arena *a,
                            const struct run *r)
{
    struct job j = {0};
    struct err e;
    (void)f;
    if (job_of(st, a, r, &j, &e) != 0)
        return "";
    return r->runs > 1 ? arena_printf(a, "%s[%d]", j.name, r->number) : j.name;
}

/* --- results ---------------------------------------------------------------------------------- */

static int contradicts(const struct run *r, const struct job *j, struct err *e)
{
    return err_set(e, ERR_STORAGE, NULL,
                   "The database is damaged: the state of job %s (%s) contradicts the state of "
                   "its run %lld (%s); restore it from a backup.",
                   j->name, enum_to_name(exec_state_names, (int)j->exec_state), (long long)r->id,
                   enum_to_name(run_state_names, (int)r->state));
}

/* Moves the run's job by an event; the caller fills in the rest of *m. */
static int move(struct storage *st, const struct run *r, enum job_event ev, struct st_job_move *m,
                struct err *e)
{
    struct arena a;
    struct job j = {0};
    arena_init(&a);
    int rc = job_of(st, &a, r, &j, e);
    if (rc == 0) {
        m->id = j.id;
        m->from = j.exec_state;
        m->to = job_next(j.exec_state, ev);
        rc = m->to != 0 ? st_job_move(st, m, e) : contradicts(r, &j, e);
    }
    arena_free(&a);
    return rc;
}

static int started(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                   struct err *e)
{
    struct st_job_move m = {.now_us = now_us, .start_us = now_us};
    (void)f;
    if (r->runs > 1)
        return array_started(st, r, now_us, e);
    return move(st, r, JOB_EV_ALLOCATED, &m, e);
}

/* Does nothing for the runs of an array: so many events would displace the job's other events. */
static int prepared(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                    struct err *e)
{
    struct arena a;
    struct job j = {0};
    (void)f;
    if (r->runs > 1)
        return 0;
    arena_init(&a);
    int rc = job_of(st, &a, r, &j, e);
    if (rc == 0)
        rc =
            front_tell_job(st, &j, now_us, r->nodes > 1 ? "all nodes are prepared" : "prepared", e);
    arena_free(&a);
    return rc;
}

static int stopping(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                    struct err *e)
{
    struct st_job_move m = {.now_us = now_us};
    (void)f;
    if (r->runs > 1)
        return array_stopping(st, r, now_us, e);
    return move(st, r, JOB_EV_TERMINATE, &m, e);
}

static enum job_event event_of(const struct run_end *end)
{
    if (end->succeeded)
        return JOB_EV_SUCCEEDED;
    return end->stopped ? JOB_EV_STOPPED : JOB_EV_FAILED;
}

/* A failed job gets an exit code that is not 0, even if no process returned one, because scripts
 * check the code. */
static int ended(const struct front *f, struct storage *st, const struct run *r,
                 const struct run_end *end, struct err *e)
{
    struct arena a;
    assert(end->succeeded == !end->why);
    if (r->runs > 1)
        return array_ended(f, st, r, end, e);
    bool made_up = !end->has_exit_code && !end->succeeded && !front_is_strict(f, r);
    arena_init(&a);
    struct st_job_move m = {
        .now_us = end->now_us,
        .start_us = end->was_queued ? end->now_us : 0,
        .end_us = end->now_us,
        .has_exit_code = end->has_exit_code || made_up,
        .exit_code = made_up ? failure_exit_code(end->why) : end->exit_code,
        .errors = end->why ? failure_append(&a, NULL, end->why) : NULL,
        .reason = end->why && end->why->code == FAIL_DEPENDENCY ? end->why->message : NULL,
        .failure = end->why ? (int)end->why->code : 0};
    int rc = move(st, r, event_of(end), &m, e);
    if (rc == 0)
        rc = dependents_settle(f, m.id, end, e);
    if (rc == 0 && m.from == EXEC_TERMINATING)
        rc = st_op_finish(st, RES_JOB, m.id, false, NULL, NULL, end->now_us, e);
    arena_free(&a);
    return rc;
}

static int requeued(const struct front *f, struct storage *st, const struct run *r, const char *why,
                    int64_t now_us, struct err *e)
{
    struct st_job_move m = {.now_us = now_us, .start_us = -1, .reason = why};
    (void)f;
    if (r->runs > 1)
        return array_requeued(st, r, why, now_us, e);
    return move(st, r, JOB_EV_REQUEUE, &m, e);
}

static int may_forget(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e)
{
    int64_t left = 0;
    (void)f;
    if (r->runs > 1 && st_run_count_left(st, r->owner_kind, r->owner_id, &left, e) < 0)
        return -1;
    if (left > 0)
        return 0;
    return st_op_finish(st, r->owner_kind, r->owner_id, false, NULL, NULL, now_us, e);
}

/* --- begin, end, and calls from the layers above ---------------------------------------------- */

static void begin(struct front *base, struct sched *sched)
{
    struct batchai_front *f = front_self_rw(base);
    f->sched = sched;
    f->wakes = sched_wakes(sched);
    deletions_begin(f);
    dependents_begin(f);
    keep_jobs_begin(f);
}

static void end(struct front *f)
{
    id_map_free(&front_self_rw(f)->bereft);
}

void batchai_job_queued(struct batchai_front *f, const struct cluster *c, const struct job *j)
{
    sched_run_queued(f->sched, c->id, &c->scale, RES_JOB, j->id, j->node_count);
}

/* Ends a job that a test made in state running without processes. */
static int end_picture(struct batchai_front *f, struct arena *a, int64_t job_id, struct err *e)
{
    struct job j;
    const struct failure why = {
        .code = FAIL_RUN_TERMINATED, .message = "The job was terminated.", .exit_code = -1};
    int64_t now_us = wakes_wall(f->wakes);
    int rc = st_job_by_id(f->st, a, job_id, &j, e);
    if (rc <= 0 || (j.exec_state != EXEC_RUNNING && j.exec_state != EXEC_TERMINATING))
        return rc < 0 ? -1 : 0;
    struct st_job_move m = {
        .id = job_id, .from = EXEC_RUNNING, .to = EXEC_TERMINATING, .now_us = now_us};
    if (j.exec_state == EXEC_RUNNING && st_job_move(f->st, &m, e) < 0)
        return -1;
    m = (struct st_job_move){.id = job_id,
                             .from = EXEC_TERMINATING,
                             .to = EXEC_FAILED,
                             .now_us = now_us,
                             .end_us = now_us,
                             .errors = failure_append(a, NULL, &why),
                             .failure = (int)why.code};
    return st_job_move(f->st, &m, e) < 0
               ? -1
               : st_op_finish(f->st, RES_JOB, job_id, false, NULL, NULL, now_us, e);
}

int batchai_terminate(struct batchai_front *f, int64_t job_id, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n;
    bool under_way = false;
    arena_init(&a);
    int rc = st_run_ids_of(f->st, &a, RES_JOB, job_id, &ids, &n, e);
    if (rc == 0 && n == 0)
        rc = err_set(e, ERR_JOB_NOT_FOUND, NULL, "the job %lld has no run", (long long)job_id);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        rc = runs_terminate(sched_runs(f->sched), ids[i], e);
        under_way = under_way || rc > 0;
    }
    if (rc >= 0 && !under_way)
        rc = end_picture(f, &a, job_id, e);
    arena_free(&a);
    return rc < 0 ? -1 : under_way;
}

/* How long the real service took for the steps of the core (strict mode). */
static int64_t takes_us(const struct front *f, enum front_step step, int64_t pool_id,
                        const struct file_server *server)
{
    static const enum pace_step steps[FRONT_STEPS] = {
        [STEP_POOL_CREATION] = PACE_CLUSTER_CREATION,
        [STEP_ALLOCATION] = PACE_ALLOCATION,
        [STEP_AUTO_ALLOCATION] = PACE_AUTO_ALLOCATION,
        [STEP_AUTO_IDLE] = PACE_AUTO_IDLE,
        [STEP_NODE_CREATION] = PACE_NODE_CREATION,
        [STEP_NODE_START] = PACE_NODE_START,
        [STEP_NODE_SETUP] = PACE_NODE_SETUP,
        [STEP_NODE_LEAVING] = PACE_NODE_LEAVING,
        [STEP_RUN_START] = PACE_JOB_START,
        [STEP_RUN_STOP] = PACE_JOB_TERMINATION,
        [STEP_FILE_SERVER_CREATION] = PACE_FILE_SERVER_CREATION,
    };
    const struct wakes *w = front_self(f)->wakes;
    if (server)
        return pace_us(wakes_pace(w), server->scope.subscription, steps[step]);
    int64_t before_us = step == STEP_RUN_START ? wakes_pace_us(w, pool_id, PACE_JOB_CREATION) : 0;
    return before_us + wakes_pace_us(w, pool_id, steps[step]);
}

static const struct front_ops ops = {
    .begin = begin,
    .end = end,
    .load_pool = load_pool,
    .pool_name = pool_name,
    .pool_path = pool_path,
    .run_name = run_name,
    .load = load,
    .takes_us = takes_us,
    .read_secret = secret_read,
    .started = started,
    .prepared = prepared,
    .stopping = stopping,
    .ended = ended,
    .requeued = requeued,
    .may_forget = may_forget,
    .waits = waits,
    .may_remove = may_remove,
    .removes_runs = removes_runs,
    .find_file_server = file_server_find,
    .file_server_made = file_server_made,
};

#define BATCHAI_OWNS (FRONT_OWNS(RES_CLUSTER) | FRONT_OWNS(RES_JOB) | FRONT_OWNS(RES_FILE_SERVER))

struct batchai_front batchai_front(struct storage *st, const struct log *log, bool strict)
{
    return (struct batchai_front){.front = {&ops, &batchai_front_words, BATCHAI_OWNS},
                                  .st = st,
                                  .log = log,
                                  .strict = strict};
}
