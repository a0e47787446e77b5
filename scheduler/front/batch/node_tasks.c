/* SPDX-License-Identifier: MIT
 *
 * The tasks of a job on each of its nodes: before its first task there (the preparation task) and
 * after its last (the release task). Each is a row, batch_chore, with a run that takes no part of
 * the node.
 *
 * If tasks wait for the preparation, and it fails on a node, the job's other tasks may not use this
 * node. A node that was rebooted after its preparation is prepared again if the job requests that;
 * a wiped node in any case.
 */
#include "lib/guid.h"
#include "scheduler/front/batch/front_priv.h"

/* How often (us) a job checks a node that is not ready for its release task, and for how long. */
#define LOOK_US        2000000
#define WAIT_FOR_IT_US (INT64_C(15) * 60 * 1000000)

struct chores {
    struct batch_front *f;
    struct arena *a;
    const struct batch_job *j;
    struct batch_job_spec spec;
    int64_t now_us;
};

static int load(struct chores *k, struct err *e)
{
    return batch_job_decode(k->a, k->j->doc, NULL, &k->spec, e);
}

/* Begins a chore. Its pool is the node's pool, because the job may have another pool by now. */
static int begin(struct chores *k, const struct node *nd, enum batch_chore_kind kind, struct err *e)
{
    char guid[GUID_SIZE];
    struct batch_pool pool;
    int rc = st_batch_pool_by_id(k->f->st, k->a, nd->pool_id, &pool, e);
    if (rc <= 0)
        return rc;
    const struct batch_task_spec *spec =
        kind == BATCH_RELEASE ? k->spec.release : k->spec.preparation;
    const struct batch_chore c = {.job_id = k->j->id,
                                  .kind = kind,
                                  .pool_name = pool.name,
                                  .node_name = nd->name,
                                  .node_id = nd->id,
                                  .up_us = nd->state_us,
                                  .state = BATCH_CHORE_RUNNING,
                                  .start_us = k->now_us};
    guid_new(guid);
    struct run r = {.pool_id = pool.id,
                    .owner_kind = RES_BATCH_CHORE,
                    .guid = guid,
                    .priority = k->j->priority,
                    .nodes = 1,
                    .max_wall_us = spec->limits.max_wall_us,
                    .state = RUN_WAITING,
                    .runs = 1};
    const char *dir =
        arena_concat(k->a, batch_job_dir(k->a, k->j->name, k->j->number), "/", spec->id);
    if (st_batch_cleanup_keep(k->f->st, nd->id, dir, e) < 0 ||
        st_batch_chore_begin(k->f->st, &c, &r.owner_id, e) < 0 ||
        st_run_insert(k->f->st, &r, &r.id, e) < 0)
        return -1;
    return runs_begin_aside(sched_runs(k->f->sched), &r, nd, e);
}

/* Whether an earlier preparation of the node is still valid. */
static bool still_counts(const struct batch_chore *c, const struct node *nd,
                         const struct batch_task_spec *spec)
{
    bool restarted = c->up_us != nd->state_us, wiped = c->up_us == 0;
    if (c->state == BATCH_CHORE_RUNNING)
        return !restarted;
    if (c->result == BATCH_SUCCESS)
        return !wiped && !(restarted && spec->again);
    return !restarted && !spec->awaited;
}

static int prepare(struct chores *k, int64_t node_id, bool *held, struct err *e)
{
    struct batch_chore c;
    struct node nd = {.id = 0};
    if (load(k, e) < 0)
        return -1;
    int rc = st_node_by_id(k->f->st, k->a, node_id, &nd, e);
    if (rc <= 0 || !k->spec.preparation)
        return rc < 0 ? -1 : 0;
    rc = st_batch_chore_get(k->f->st, k->a, k->j->id, nd.name, BATCH_PREPARATION, &c, e);
    if (rc < 0)
        return -1;
    bool there = rc == 1 && still_counts(&c, &nd, k->spec.preparation);
    *held = k->spec.preparation->awaited && (!there || c.state == BATCH_CHORE_RUNNING);
    return there ? 0 : begin(k, &nd, BATCH_PREPARATION, e);
}

int chore_prepare(struct batch_front *f, struct arena *a, const struct batch_job *j,
                  int64_t node_id, int64_t now_us, struct err *e)
{
    struct chores k = {.f = f, .a = a, .j = j, .now_us = now_us};
    bool held = false;
    int rc = prepare(&k, node_id, &held, e);
    return rc < 0 ? -1 : held;
}

/* --- the end of a job ------------------------------------------------------------------------- */

/* Ends the run of a chore. */
static int stop(struct chores *k, const struct batch_chore *c, struct err *e)
{
    struct run r;
    int rc = st_run_of(k->f->st, k->a, RES_BATCH_CHORE, c->id, 0, &r, e);
    if (rc == 1)
        rc = runs_terminate(sched_runs(k->f->sched), r.id, e);
    return rc < 0 ? -1 : 0;
}

enum readiness { NODE_READY, NODE_LATER, NODE_NEVER };

/* Whether the job has waited for nodes long enough. The start of the wait is converted to monotonic
 * time only once, because the wall clock may be set later. */
static bool is_overdue(const struct chores *k)
{
    struct batch_front *f = k->f;
    int64_t until = id_map_number(&f->releasing, k->j->id);
    if (until == 0) {
        until = wakes_mono_of(f->wakes, k->j->state_us, WAIT_FOR_IT_US) + WAIT_FOR_IT_US;
        id_map_put_number(&f->releasing, k->j->id, until);
    }
    return wakes_mono(f->wakes) > until;
}

bool chore_may_release(const struct node *nd)
{
    bool waits = nd->how == DEALLOC_WAIT_FOR_COMPLETION || nd->how == DEALLOC_WAIT_FOR_DATA;
    return nd->wish == WISH_NOTHING || (nd->wish == WISH_LEAVE && waits);
}

/* Whether the node can run a release task now, later or never. A node that does not answer may
 * return until the job has waited too long. */
static enum readiness readiness_of(const struct chores *k, const struct node *nd)
{
    bool lost = nd->state == NODE_UNUSABLE && !failure_heals(nd->failure);
    if (nd->state == NODE_IDLE && chore_may_release(nd))
        return NODE_READY;
    if (nd->state == NODE_LEAVING || lost || wish_leaves(nd->wish))
        return NODE_NEVER;
    return is_overdue(k) ? NODE_NEVER : NODE_LATER;
}

/* Whether the job needs a release task on the node of this preparation. */
static bool wants_release(const struct chores *k, const struct batch_chore *prep)
{
    if (!k->spec.release || prep->state != BATCH_CHORE_COMPLETED || prep->up_us == 0 ||
        prep->node_id == 0 || k->j->was == BATCH_JOB_COMPLETED)
        return false;
    return prep->result == BATCH_SUCCESS || (k->spec.preparation && !k->spec.preparation->awaited);
}

static int give_up(struct chores *k, const struct batch_chore *c, struct err *e)
{
    const struct failure why = {.code = FAIL_NODE_LOST,
                                .message = "The node was lost before the task had ended",
                                .node = c->node_name,
                                .exit_code = -1};
    const struct st_batch_chore_end end = {.id = c->id,
                                           .now_us = k->now_us,
                                           .result = BATCH_FAILURE,
                                           .failure = task_failure_info(k->a, &why)};
    return st_batch_chore_end(k->f->st, &end, e);
}

/* Handles a running chore: repeats it on its node, if its run was lost. */
static int go_on(struct chores *k, const struct batch_chore *c, bool *left, struct err *e)
{
    struct node nd;
    struct run r;
    int rc = st_run_of(k->f->st, k->a, RES_BATCH_CHORE, c->id, 0, &r, e);
    if (rc != 0) {
        *left = true;
        return rc < 0 ? -1 : 0;
    }
    rc = c->node_id ? st_node_by_id(k->f->st, k->a, c->node_id, &nd, e) : 0;
    if (rc < 0)
        return -1;
    enum readiness how = rc == 1 ? readiness_of(k, &nd) : NODE_NEVER;
    *left = *left || how != NODE_NEVER;
    if (how == NODE_NEVER)
        return give_up(k, c, e);
    if (how == NODE_READY)
        return begin(k, &nd, BATCH_RELEASE, e);
    wake_by(k->f->wakes, &woken_job, k->j->id, wakes_mono(k->f->wakes) + LOOK_US);
    return 0;
}

static int release(struct chores *k, const struct batch_chore *prep, bool *left, struct err *e)
{
    struct node nd;
    int rc = st_node_by_id(k->f->st, k->a, prep->node_id, &nd, e);
    if (rc <= 0)
        return rc;
    enum readiness how = readiness_of(k, &nd);
    *left = *left || how != NODE_NEVER;
    if (how == NODE_READY)
        return begin(k, &nd, BATCH_RELEASE, e);
    if (how == NODE_LATER)
        wake_by(k->f->wakes, &woken_job, k->j->id, wakes_mono(k->f->wakes) + LOOK_US);
    return 0;
}

/* Handles the end of the job on one node. `then`: the row of the release task on this node; NULL:
 * none. */
static int finish_node(struct chores *k, const struct batch_chore *prep,
                       const struct batch_chore *then, bool *left, struct err *e)
{
    if (prep->state == BATCH_CHORE_RUNNING) {
        *left = true;
        return stop(k, prep, e);
    }
    if (then)
        return then->state == BATCH_CHORE_RUNNING ? go_on(k, then, left, e) : 0;
    return wants_release(k, prep) ? release(k, prep, left, e) : 0;
}

/* Handles all nodes. Rows of one node are adjacent, the preparation first. */
static int finish(struct chores *k, bool *left, struct err *e)
{
    struct batch_chore *rows;
    size_t n;
    if (load(k, e) < 0 || st_batch_chore_list(k->f->st, k->a, k->j->id, "", &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        bool both = i + 1 < n && rows[i + 1].kind == BATCH_RELEASE;
        if (rows[i].kind == BATCH_PREPARATION &&
            finish_node(k, &rows[i], both ? &rows[i + 1] : NULL, left, e) < 0)
            return -1;
    }
    return 0;
}

int chores_finish(struct batch_front *f, const struct batch_job *j, bool *left, struct err *e)
{
    struct arena a;
    struct chores k = {.f = f, .a = &a, .j = j, .now_us = wakes_wall(f->wakes)};
    *left = false;
    if (!j->prepares)
        return 0;
    arena_init(&a);
    int rc = finish(&k, left, e);
    arena_free(&a);
    if (rc == 0 && !*left)
        id_map_remove(&f->releasing, j->id);
    return rc;
}

/* Wakes runs that were over when the daemon stopped: they are reconciled again, so that they are
 * forgotten. */
void chores_begin(struct batch_front *f)
{
    struct err e;
    if (wake_listed(f->wakes, &woken_run, st_batch_chore_over, &e) < 0)
        LOG_ERROR(f->log, "batch_node_task.not_listed", LF_STR("why", e.msg));
}
