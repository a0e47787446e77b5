/* SPDX-License-Identifier: MIT
 *
 * What no request gives: states and ends of jobs and tasks, and keys of accounts. A job or task
 * that a seed says is running has no processes: it stays so until somebody ends it.
 */
#include <sodium.h>
#include <string.h>

#include "api/seed/steps.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/batch/job_rows.h"
#include "storage/batch_jobs.h"
#include "storage/storage.h"

/* --- what stands there -------------------------------------------------------------------------
 */

/* An ended thing's. */
struct told_state {
    const char *name, *start, *end;
    int64_t start_us, end_us;
    json_t *exit_code, *errors; /* borrowed; NULL: none */
    const char *guid;
};

static int read_time(const char *text, const char *what, int64_t fallback, int64_t *out,
                     struct err *e)
{
    *out = fallback;
    if (!text || timefmt_parse_offset(text, out) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, what,
                   "%s is '%.60s'; it must be an instant such as 2026-11-23T09:00:00Z.", what,
                   text);
}

/* `errors`: what they are called there, and "state" is the name of the state's member. */
static int read_state(const json_t *o, const char *state, const char *errors, int64_t now_us,
                      struct told_state *out, struct err *e)
{
    json_error_t why;
    *out = (struct told_state){.name = NULL};
    if (json_unpack_ex((json_t *)o, &why, JSON_STRICT, "{s:s, s?s, s?s, s?o, s?o, s?s}", state,
                       &out->name, "startTime", &out->start, "endTime", &out->end, "exitCode",
                       &out->exit_code, errors, &out->errors, "guid", &out->guid) < 0)
        return err_set(e, ERR_INVALID_PROPERTY, "state",
                       "state takes %s, startTime, endTime, exitCode, %s and guid: %s.", state,
                       errors, why.text);
    if (out->exit_code && !json_is_integer(out->exit_code))
        return err_set(e, ERR_INVALID_PROPERTY, "state.exitCode", "exitCode is a whole number.");
    if (out->guid && !guid_valid(out->guid))
        return err_set(e, ERR_INVALID_PROPERTY, "state.guid", "guid is '%.60s', and no GUID.",
                       out->guid);
    if (read_time(out->start, "state.startTime", now_us, &out->start_us, e) < 0 ||
        read_time(out->end, "state.endTime", out->start_us, &out->end_us, e) < 0)
        return -1;
    return out->end_us >= out->start_us
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, "state.endTime", "endTime is before startTime.");
}

static int unknown(const char *what, const char *given, const char *right, struct err *e)
{
    return err_set(e, ERR_INVALID_PROPERTY, what, "%s is '%.60s'; it must be %s.", what, given,
                   right);
}

static const char *json_of(struct arena *a, const json_t *v)
{
    if (!v)
        return NULL;
    char *text = jsontext(v);
    const char *kept = arena_strdup(a, text);
    free(text);
    return kept;
}

/* --- Batch AI ----------------------------------------------------------------------------------
 */

static int end_runs(struct storage *st, struct arena *a, int64_t job_id, const struct told_state *t,
                    bool over, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_run_ids_of(st, a, RES_JOB, job_id, &ids, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct st_run_move m = {.id = ids[i],
                                      .from = RUN_WAITING,
                                      .to = RUN_OVER,
                                      .start_us = t->start_us,
                                      .end_us = over ? t->end_us : 0,
                                      .attempt = 1,
                                      .failure = -1};
        if (st_run_move(st, &m, e) < 0)
            return -1;
    }
    return 0;
}

/* By way of what comes before it, so that events tell of each. */
static int move_job(struct storage *st, struct arena *a, const struct job *j,
                    const struct told_state *t, enum exec_state to, struct err *e)
{
    bool over = to == EXEC_SUCCEEDED || to == EXEC_FAILED;
    const struct st_job_move start = {.id = j->id,
                                      .from = EXEC_QUEUED,
                                      .to = EXEC_RUNNING,
                                      .now_us = t->start_us,
                                      .start_us = t->start_us,
                                      .reason = "seeded"};
    const struct st_job_move end = {.id = j->id,
                                    .from = EXEC_RUNNING,
                                    .to = to,
                                    .now_us = t->end_us,
                                    .end_us = over ? t->end_us : 0,
                                    .has_exit_code = t->exit_code != NULL,
                                    .exit_code = (int)json_integer_value(t->exit_code),
                                    .errors = json_of(a, t->errors),
                                    .reason = "seeded"};
    if (to == EXEC_QUEUED)
        return 0;
    if (end_runs(st, a, j->id, t, over, e) < 0 || st_job_move(st, &start, e) < 0)
        return -1;
    return to == EXEC_RUNNING ? 0 : st_job_move(st, &end, e);
}

int seed_job_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                  struct err *e)
{
    struct told_state t;
    struct job j;
    struct storage *st = seed->arm.storage;
    const json_t *given = json_object_get(s->given, "state");
    const struct scope scope = {.subscription = s->subscription,
                                .group = seed_step_in(s, SEED_GROUP)->name,
                                .workspace = seed_step_in(s, SEED_WORKSPACE)->name,
                                .experiment = s->above->name};
    if (!given)
        return 0;
    if (read_state(given, "executionState", "errors", r->now_us, &t, e) < 0)
        return -1;
    int to = enum_from_name(exec_state_names, t.name);
    if (to == 0)
        return unknown("state.executionState", t.name,
                       "queued, running, terminating, succeeded or failed", e);
    int rc = st_job_find(st, &r->arena, &scope, s->name, &j, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The job is not there.");
    if (t.guid && st_job_set_guid(st, j.id, t.guid, e) < 0)
        return -1;
    return move_job(st, &r->arena, &j, &t, (enum exec_state)to, e);
}

/* --- keys --------------------------------------------------------------------------------------
 */

/* `set` replaces one. */
static int set_keys(const struct seed *seed, struct request *r, const json_t *keys, int64_t id,
                    int (*set)(struct storage *st, int64_t id, int which, const unsigned char *key,
                               int64_t now_us, struct err *e),
                    struct err *e)
{
    unsigned char key[ACCOUNT_KEY_BYTES];
    for (int i = 0; i < 2; i++) {
        const char *text = json_string_value(json_array_get(keys, (size_t)i));
        size_t n = 0;
        if (!text || json_array_size(keys) != 2 ||
            sodium_base642bin(key, sizeof key, text, strlen(text), NULL, &n, NULL,
                              sodium_base64_VARIANT_ORIGINAL) != 0 ||
            n != sizeof key)
            return err_set(e, ERR_INVALID_PROPERTY, "keys",
                           "keys is a list of two texts, each %d bytes as base64.",
                           ACCOUNT_KEY_BYTES);
        if (set(seed->arm.storage, id, i, key, r->now_us, e) < 0)
            return -1;
    }
    sodium_memzero(key, sizeof key);
    return 0;
}

static int set_storage_key(struct storage *st, int64_t id, int which, const unsigned char *key,
                           int64_t now_us, struct err *e)
{
    return st_account_set_key(st, id, which, key, now_us, e);
}

static int set_batch_key(struct storage *st, int64_t id, int which, const unsigned char *key,
                         int64_t now_us, struct err *e)
{
    (void)now_us;
    return st_batch_account_set_key(st, id, which, key, e);
}

int seed_account_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                      struct err *e)
{
    struct storage_account acct;
    const json_t *keys = json_object_get(s->given, "keys");
    if (!keys)
        return 0;
    int rc = st_account_by_name(seed->arm.storage, &r->arena, s->name, &acct, e);
    return rc <= 0 ? -1 : set_keys(seed, r, keys, acct.id, set_storage_key, e);
}

int seed_batch_account_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                            struct err *e)
{
    struct batch_account b;
    const json_t *keys = json_object_get(s->given, "keys");
    if (!keys)
        return 0;
    int rc = st_batch_account_by_name(seed->arm.storage, &r->arena, s->name, &b, e);
    return rc <= 0 ? -1 : set_keys(seed, r, keys, b.id, set_batch_key, e);
}

/* --- Azure Batch -------------------------------------------------------------------------------
 */

static int find_batch_job(const struct seed *seed, struct request *r, const struct seed_step *s,
                          struct batch_job *j, struct err *e)
{
    struct batch_account b;
    struct storage *st = seed->arm.storage;
    const char *account = seed_step_in(s, SEED_BATCH_ACCOUNT)->name;
    int rc = st_batch_account_by_name(st, &r->arena, account, &b, e);
    if (rc > 0)
        rc = st_batch_job_get(st, &r->arena, b.id, seed_step_in(s, SEED_BATCH_JOB)->name, j, e);
    if (rc == 0)
        err_set(e, ERR_INTERNAL, NULL, "The job is not there.");
    return rc > 0 ? 0 : -1;
}

static int check_tasks(struct storage *st, struct arena *a, int64_t job_id, struct err *e)
{
    struct batch_counts c;
    if (st_batch_job_counts(st, a, job_id, &c, e) < 0)
        return -1;
    int64_t open = c.active + c.running;
    if (open == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "state.state",
                   "The job is to be completed, but %lld of its tasks are not.", (long long)open);
}

int seed_batch_job_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                        struct err *e)
{
    static const enum batch_job_state allowed[] = {BATCH_JOB_ACTIVE, BATCH_JOB_DISABLED,
                                                   BATCH_JOB_COMPLETED};
    struct batch_job j;
    const char *name = NULL, *reason = NULL, *end = NULL;
    struct st_batch_job_move m = {.from = BATCH_JOB_ACTIVE};
    struct storage *st = seed->arm.storage;
    const json_t *given = json_object_get(s->given, "state");
    json_error_t why;
    if (!given)
        return 0;
    if (json_unpack_ex((json_t *)given, &why, JSON_STRICT, "{s:s, s?s, s?s}", "state", &name,
                       "endTime", &end, "terminateReason", &reason) < 0)
        return err_set(e, ERR_INVALID_PROPERTY, "state",
                       "state takes state, endTime and terminateReason: %s.", why.text);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if ((int)allowed[i] == enum_from_name(batch_job_state_names, name))
            m.to = allowed[i];
    if (m.to == 0)
        return unknown("state.state", name, "active, disabled or completed", e);
    if (m.to == BATCH_JOB_ACTIVE)
        return 0;
    if (read_time(end, "state.endTime", r->now_us, &m.now_us, e) < 0 ||
        find_batch_job(seed, r, s, &j, e) < 0)
        return -1;
    m.id = j.id;
    m.ends = m.to == BATCH_JOB_COMPLETED;
    m.reason = reason;
    return (m.ends && check_tasks(st, &r->arena, j.id, e) < 0) || st_batch_job_move(st, &m, e) < 0
               ? -1
               : 0;
}

static int move_task(struct storage *st, struct arena *a, const struct batch_task *task,
                     const char *pool, const struct told_state *t, enum batch_task_state to,
                     struct err *e)
{
    int exit_code = (int)json_integer_value(t->exit_code);
    bool good = exit_code == 0 && !t->errors;
    const struct st_batch_task_move start = {.id = task->id,
                                             .from = BATCH_TASK_ACTIVE,
                                             .to = BATCH_TASK_RUNNING,
                                             .now_us = t->start_us,
                                             .starts = true,
                                             .pool_name = pool};
    const struct st_batch_task_move end = {.id = task->id,
                                           .from = BATCH_TASK_RUNNING,
                                           .to = BATCH_TASK_COMPLETED,
                                           .now_us = t->end_us,
                                           .has_exit_code = t->exit_code != NULL,
                                           .exit_code = exit_code,
                                           .result = good ? BATCH_SUCCESS : BATCH_FAILURE,
                                           .failure = json_of(a, t->errors),
                                           .satisfies = good};
    if (to == BATCH_TASK_ACTIVE)
        return 0;
    if (st_batch_task_move(st, &start, e) < 0)
        return -1;
    return to == BATCH_TASK_RUNNING ? 0 : st_batch_task_move(st, &end, e);
}

int seed_batch_task_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                         struct err *e)
{
    struct told_state t;
    struct batch_job j;
    struct batch_task task;
    struct storage *st = seed->arm.storage;
    const json_t *given = json_object_get(s->given, "state");
    if (!given)
        return 0;
    if (read_state(given, "state", "failureInfo", r->now_us, &t, e) < 0)
        return -1;
    int to = enum_from_name(batch_task_state_names, t.name);
    if (to == 0 || to == BATCH_TASK_PREPARING)
        return unknown("state.state", t.name, "active, running or completed", e);
    if (find_batch_job(seed, r, s, &j, e) < 0)
        return -1;
    int rc = st_batch_task_get(st, &r->arena, j.id, s->name, &task, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The task is not there.");
    return move_task(st, &r->arena, &task, j.pool_name, &t, (enum batch_task_state)to, e);
}
