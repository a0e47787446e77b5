/* SPDX-License-Identifier: MIT */
#include "front/batchai.h"

#include <assert.h>

#include "model/states.h"
#include "storage/storage.h"

static const struct batchai_front *self(const struct front *f)
{
    return (const struct batchai_front *)f;
}

/* --- what is to be done --------------------------------------------------------------------- */

static int load_pool(const struct front *f, struct storage *st, struct arena *a, int64_t pool_id,
                     bool secrets, struct node_setup_spec *out, struct err *e)
{
    struct cluster c;
    const char *text = NULL;
    int rc = st_cluster_by_id(st, a, pool_id, &c, e);
    (void)f;
    if (rc <= 0)
        return rc;
    if (secrets && st_cluster_secrets(st, a, c.id, &text, e) < 0)
        return -1;
    return node_setup_decode(a, &c, text, out, e) == 0 ? 1 : -1;
}

static int load(const struct front *f, struct storage *st, struct arena *a, const struct job *j,
                bool secrets, struct job_spec *out, struct err *e)
{
    const char *text = NULL;
    (void)f;
    if (secrets && st_job_secrets(st, a, j->id, &text, e) < 0)
        return -1;
    return job_spec_decode(a, j, text, out, e);
}

/* --- what became of it ---------------------------------------------------------------------- */

static int started(const struct front *f, struct storage *st, const struct job *j, int64_t now_us,
                   struct err *e)
{
    const struct st_job_move m = {.id = j->id,
                                  .from = EXEC_QUEUED,
                                  .to = job_next(EXEC_QUEUED, JOB_EV_ALLOCATED),
                                  .now_us = now_us,
                                  .start_us = now_us,
                                  .attempt = j->attempt + 1};
    (void)f;
    return st_job_move(st, &m, e);
}

static enum job_event event_of(const struct run_end *end)
{
    if (end->succeeded)
        return JOB_EV_SUCCEEDED;
    return end->stopped ? JOB_EV_STOPPED : JOB_EV_FAILED;
}

/* A job that failed has a code that says so, also where no process gave one: scripts ask for it. */
static int ended(const struct front *f, struct storage *st, const struct run_end *end,
                 struct err *e)
{
    struct arena a;
    bool made_up = !end->has_exit_code && !end->succeeded && !self(f)->strict;
    arena_init(&a);
    const struct st_job_move m = {.id = end->job_id,
                                  .from = end->from,
                                  .to = job_next(end->from, event_of(end)),
                                  .now_us = end->now_us,
                                  .start_us = end->was_queued ? end->now_us : 0,
                                  .end_us = end->now_us,
                                  .has_exit_code = end->has_exit_code || made_up,
                                  .exit_code =
                                      made_up ? failure_exit_code(end->why) : end->exit_code,
                                  .errors = end->why ? failure_append(&a, NULL, end->why) : NULL,
                                  .failure = end->why ? (int)end->why->code : 0};
    assert(m.to != 0);
    int rc = st_job_move(st, &m, e);
    if (rc == 0 && end->from == EXEC_TERMINATING)
        rc = st_op_finish(st, RES_JOB, end->job_id, false, NULL, NULL, end->now_us, e);
    arena_free(&a);
    return rc;
}

static int requeued(const struct front *f, struct storage *st, int64_t job_id, enum exec_state from,
                    int64_t now_us, struct err *e)
{
    const struct st_job_move m = {.id = job_id,
                                  .from = from,
                                  .to = job_next(from, JOB_EV_REQUEUE),
                                  .now_us = now_us,
                                  .start_us = -1};
    (void)f;
    assert(m.to != 0);
    return st_job_move(st, &m, e);
}

static int may_forget(const struct front *f, struct storage *st, int64_t job_id, int64_t now_us,
                      struct err *e)
{
    (void)f;
    return st_op_finish(st, RES_JOB, job_id, false, NULL, NULL, now_us, e);
}

static const struct front_ops ops = {
    .load_pool = load_pool,
    .load = load,
    .started = started,
    .ended = ended,
    .requeued = requeued,
    .may_forget = may_forget,
};

struct batchai_front batchai_front(bool strict)
{
    return (struct batchai_front){.front = {&ops}, .strict = strict};
}
