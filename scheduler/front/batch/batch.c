/* SPDX-License-Identifier: MIT
 *
 * The table of the functions that the core calls, from all files of this directory, and the start
 * and end of the front. The front owns the tables in memory of struct batch_front; they can always
 * be rebuilt from rows.
 */
#include "model/kept_docs.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/multi_instance.h"
#include "scheduler/wake/paced.h"

static int load_pool(const struct front *f, const struct front_read *how, int64_t pool_id,
                     struct node_setup_spec *out, struct err *e)
{
    struct batch_pool p;
    const char *text = NULL;
    int rc = st_batch_pool_by_id(how->st, how->a, pool_id, &p, e);
    if (rc <= 0)
        return rc;
    if (how->secrets && st_batch_pool_secrets(how->st, how->a, p.id, &text, e) < 0)
        return -1;
    return node_setup_of(batch_self(f), how, &p, text, out, e) < 0 ? -1 : 1;
}

static const char *pool_name(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id, bool full)
{
    struct batch_pool p;
    struct err e;
    (void)f;
    if (st_batch_pool_by_id(st, a, pool_id, &p, &e) != 1)
        return "";
    return full ? arena_printf(a, "pool %s of Batch account %s", p.name, p.account) : p.name;
}

static const char *pool_path(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id)
{
    struct batch_pool p;
    struct err e;
    (void)f;
    if (st_batch_pool_by_id(st, a, pool_id, &p, &e) != 1)
        return "";
    return arena_printf(a, "%s/%s", p.account, p.name);
}

/* How long the real service took for the steps of the core (strict mode). */
static int64_t takes_us(const struct front *f, enum front_step step, int64_t pool_id,
                        const struct file_server *server)
{
    static const enum pace_step steps[FRONT_STEPS] = {
        [STEP_POOL_CREATION] = PACE_NONE,
        [STEP_ALLOCATION] = PACE_ALLOCATION,
        [STEP_AUTO_ALLOCATION] = PACE_AUTO_ALLOCATION,
        [STEP_AUTO_IDLE] = PACE_AUTO_IDLE,
        [STEP_NODE_CREATION] = PACE_NODE_CREATION,
        [STEP_NODE_START] = PACE_NODE_START,
        [STEP_NODE_SETUP] = PACE_NODE_SETUP,
        [STEP_NODE_LEAVING] = PACE_NODE_LEAVING,
        [STEP_RUN_START] = PACE_TASK_START,
        [STEP_RUN_STOP] = PACE_NONE,
        [STEP_FILE_SERVER_CREATION] = PACE_NONE,
    };
    (void)server;
    return wakes_pace_us(batch_self(f)->wakes, pool_id, steps[step]);
}

static void begin(struct front *base, struct sched *sched)
{
    struct batch_front *f = batch_self_rw(base);
    f->sched = sched;
    f->wakes = sched_wakes(sched);
    f->docs = kept_docs_new();
    pools_begin(f);
    autoscale_begin(f);
    pool_deletions_begin(f);
    node_users_begin(f);
    jobs_begin(f);
    account_deletions_begin(f);
}

static void end(struct front *f)
{
    id_map_free(&batch_self_rw(f)->unsettled);
    id_map_free(&batch_self_rw(f)->enabled);
    id_map_free(&batch_self_rw(f)->releasing);
    id_map_free(&batch_self_rw(f)->limited);
    id_map_free(&batch_self_rw(f)->removing);
    id_map_free(&batch_self_rw(f)->awaiting);
    id_map_free(&batch_self_rw(f)->users_coming);
    id_map_free(&batch_self_rw(f)->users_going);
    account_deletions_end(batch_self_rw(f));
    kept_docs_free(batch_self_rw(f)->docs);
    batch_self_rw(f)->docs = NULL;
}

static const struct front_ops ops = {
    .begin = begin,
    .end = end,
    .load_pool = load_pool,
    .load_users = load_node_users,
    .pool_name = pool_name,
    .pool_path = pool_path,
    .run_name = task_run_name,
    .load = task_run_load,
    .takes_us = takes_us,
    .is_held = task_run_is_held,
    .started = task_run_started,
    .prepared = task_run_prepared,
    .part_prepared = team_part_prepared,
    .contained = task_run_contained,
    .stopping = task_run_stopping,
    .ended = task_run_ended,
    .requeued = task_run_requeued,
    .may_forget = task_run_may_forget,
    .scaled = pool_scaled,
    .kept_for = cleanup_kept_for,
    .has_room = task_runs_wanted,
    .may_remove = pools_may_remove,
    .marked = account_marked,
};

struct batch_front batch_front(struct storage *st, const struct log *log)
{
    return (struct batch_front){.front = {&ops, &batch_front_words,
                                          FRONT_OWNS(RES_BATCH_POOL) | FRONT_OWNS(RES_BATCH_TASK) |
                                              FRONT_OWNS(RES_BATCH_CHORE)},
                                .st = st,
                                .log = log};
}
