/* SPDX-License-Identifier: MIT
 *
 * Jobs that are arrays: one job, many runs. The job runs from the start of its first run to the end
 * of its last. It has succeeded if all runs have; otherwise it has the exit code and the error of
 * the first failed run.
 */
#include <assert.h>

#include "model/states.h"
#include "scheduler/front/batchai/front_priv.h"

static int job_of(struct storage *st, struct arena *a, const struct run *r, struct job *out,
                  struct err *e)
{
    int rc = st_job_by_id(st, a, r->owner_id, out, e);
    if (rc == 0)
        return err_set(e, ERR_JOB_NOT_FOUND, NULL, "the run's job is gone");
    return rc < 0 ? -1 : 0;
}

int front_tell_job(struct storage *st, const struct job *j, int64_t now_us, const char *reason,
                   struct err *e)
{
    const struct event ev = {.at_us = now_us,
                             .kind = RES_JOB,
                             .resource_id = j->id,
                             .from = (int)j->exec_state,
                             .to = (int)j->exec_state,
                             .reason = reason};
    return st_event_add(st, &ev, e);
}

static int move(struct storage *st, const struct job *j, enum job_event ev, struct st_job_move *m,
                struct err *e)
{
    m->id = j->id;
    m->from = j->exec_state;
    m->to = job_next(j->exec_state, ev);
    if (m->to != 0)
        return st_job_move(st, m, e);
    return err_set(e, ERR_STORAGE, NULL,
                   "The database is damaged: the state of job %s (%s) contradicts the states of "
                   "its runs; restore it from a backup.",
                   j->name, enum_to_name(exec_state_names, (int)j->exec_state));
}

int array_started(struct storage *st, const struct run *r, int64_t now_us, struct err *e)
{
    struct st_job_move m = {.now_us = now_us, .start_us = now_us};
    struct job j = {0};
    struct arena a;
    arena_init(&a);
    int rc = job_of(st, &a, r, &j, e);
    if (rc == 0 && j.exec_state == EXEC_QUEUED)
        rc = move(st, &j, JOB_EV_ALLOCATED, &m, e);
    arena_free(&a);
    return rc;
}

int array_stopping(struct storage *st, const struct run *r, int64_t now_us, struct err *e)
{
    struct st_job_move m = {.now_us = now_us};
    struct job j = {0};
    struct arena a;
    arena_init(&a);
    int rc = job_of(st, &a, r, &j, e);
    if (rc == 0 && j.exec_state != EXEC_TERMINATING)
        rc = move(st, &j, JOB_EV_TERMINATE, &m, e);
    arena_free(&a);
    return rc;
}

int array_requeued(struct storage *st, const struct run *r, const char *why, int64_t now_us,
                   struct err *e)
{
    struct job j = {0};
    struct arena a;
    arena_init(&a);
    int rc = job_of(st, &a, r, &j, e);
    if (rc == 0)
        rc = front_tell_job(st, &j, now_us, arena_printf(&a, "index %d: %s", r->number, why), e);
    arena_free(&a);
    return rc;
}

/* Some runs of the array have no end yet, and were not counted. */
#define LEFT_SOME (-1)

struct one_end {
    const struct front *f;
    struct arena a;
    const struct run *r;
    const struct run_end *end;
    struct job j;
};

/* Records the failure as the job's, if it is the first one. */
static int note_failure(struct storage *st, struct one_end *k, struct err *e)
{
    const struct run_end *end = k->end;
    bool made_up = !end->has_exit_code && !front_is_strict(k->f, k->r);
    struct failure why = *end->why;
    if (k->j.errors)
        return 0;
    why.message = arena_printf(&k->a, "Index %d: %s", k->r->number, why.message);
    const struct st_job_failure note = {.id = k->j.id,
                                        .has_exit_code = end->has_exit_code || made_up,
                                        .exit_code =
                                            made_up ? failure_exit_code(end->why) : end->exit_code,
                                        .errors = failure_append(&k->a, NULL, &why)};
    k->j.errors = note.errors;
    return st_job_note_failure(st, &note, e);
}

static int end_all(struct storage *st, struct one_end *k, struct err *e)
{
    struct run_end all = *k->end;
    bool terminated = k->j.exec_state == EXEC_TERMINATING;
    const struct failure f = {.code = FAIL_RUN_TERMINATED,
                              .message = front_text(k->f->words, &k->a, RUN_TERMINATED_TEXT),
                              .exit_code = -1};
    all.succeeded = !k->j.errors && !terminated;
    struct st_job_move m = {
        .now_us = all.now_us,
        .start_us = k->j.exec_state == EXEC_QUEUED ? all.now_us : 0,
        .end_us = all.now_us,
        .has_exit_code = all.succeeded,
        .errors = terminated && !k->j.errors ? failure_append(&k->a, NULL, &f) : NULL,
        .reason = all.succeeded ? "all indexes have succeeded" : "all indexes have ended"};
    enum job_event ev = all.succeeded ? JOB_EV_SUCCEEDED
                        : terminated  ? JOB_EV_STOPPED
                                      : JOB_EV_FAILED;
    int rc = move(st, &k->j, ev, &m, e);
    if (rc == 0)
        rc = dependents_settle(k->f, k->j.id, &all, e);
    if (rc == 0 && terminated)
        rc = st_op_finish(st, RES_JOB, k->j.id, false, NULL, NULL, all.now_us, e);
    return rc;
}

/* Lets the next run of the array enter its queue, and counts the runs without an end. Both
 * statements may go over all runs of the array. Runs that wait for their turn are its last ones, so
 * the last run tells whether there are any. An array that is terminated ends its waiting runs one
 * after the other, so they are not counted while the last run waits. */
static int go_on(struct storage *st, struct one_end *k, int64_t *left, struct err *e)
{
    const struct run *r = k->r;
    const struct failure *why = k->end->why;
    bool terminated = k->end->was_queued && why && why->code == FAIL_RUN_TERMINATED;
    struct run last;
    int rc = st_run_of(st, &k->a, RES_JOB, k->j.id, r->runs - 1, &last, e);
    bool waits = rc == 1 && last.state == RUN_WAITING;
    *left = LEFT_SOME;
    if (rc == 1 && last.held == HOLD_TURN)
        rc = st_run_next_turn(st, r, e);
    if (rc < 0 || (terminated && waits))
        return rc < 0 ? -1 : 0;
    return st_run_count_left(st, RES_JOB, k->j.id, left, e);
}

static int end_one(struct storage *st, struct one_end *k, struct err *e)
{
    int64_t left;
    if (job_of(st, &k->a, k->r, &k->j, e) < 0 || go_on(st, k, &left, e) < 0 ||
        (!k->end->succeeded && note_failure(st, k, e) < 0))
        return -1;
    /* The next run of the array may start now, before this run's nodes are cleaned. */
    sched_wake_pool(front_self(k->f)->sched, k->r->pool_id);
    if (left == 0)
        return end_all(st, k, e);
    if (k->end->succeeded || left == LEFT_SOME)
        return 0;
    return front_tell_job(st, &k->j, k->end->now_us,
                          arena_printf(&k->a, "index %d has failed (%s); %lld of %d are left",
                                       k->r->number, failure_name((int)k->end->why->code),
                                       (long long)left, k->r->runs),
                          e);
}

int array_ended(const struct front *f, struct storage *st, const struct run *r,
                const struct run_end *end, struct err *e)
{
    struct one_end k = {.f = f, .r = r, .end = end};
    arena_init(&k.a);
    int rc = end_one(st, &k, e);
    arena_free(&k.a);
    return rc;
}

void array_spec(struct arena *a, const struct run *r, struct run_spec *s)
{
    int numbers[WISH_ARRAY_MAX];
    size_t n = wish_array(s->wishes.array ? s->wishes.array : "", numbers);
    const struct {
        const char *name;
        int value;
    } vars[] = {{"BATCHAID_ARRAY_INDEX", r->number},
                {"BATCHAID_ARRAY_COUNT", r->runs},
                {"BATCHAID_ARRAY_MIN", n > 0 ? numbers[0] : r->number},
                {"BATCHAID_ARRAY_MAX", n > 0 ? numbers[n - 1] : r->number}};
    enum { N_VARS = sizeof vars / sizeof vars[0] };
    struct kv *env = arena_alloc(a, (s->n_env + N_VARS) * sizeof *env);
    for (size_t i = 0; i < s->n_env; i++)
        env[i] = s->env[i];
    for (size_t i = 0; i < N_VARS; i++)
        env[s->n_env + i] =
            (struct kv){.name = vars[i].name, .value = arena_printf(a, "%d", vars[i].value)};
    s->env = env;
    s->n_env += N_VARS;
    s->file_suffix = arena_printf(a, "-%d", r->number);
}
