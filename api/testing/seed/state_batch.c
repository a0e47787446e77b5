/* SPDX-License-Identifier: MIT
 *
 * States of Azure Batch that no request can set: keys of accounts, states and ends of schedules,
 * jobs and tasks.
 */
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/testing/seed/steps.h"
#include "model/batch/job_rows.h"
#include "model/schema_rows.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batch/tasks.h"
#include "storage/batch_jobs.h"
#include "storage/batch_schedules.h"
#include "storage/seeding.h"
#include "storage/storage.h"

static int set_batch_key(struct storage *st, int64_t id, int which, const unsigned char *key,
                         int64_t now_us, struct err *e)
{
    (void)now_us;
    return st_batch_account_set_key(st, id, which, key, e);
}
int seed_batch_account_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                            struct err *e)
{
    struct batch_account b;
    const json_t *keys = json_object_get(s->given, "keys");
    if (!keys)
        return 0;
    int rc = st_batch_account_by_name(seed->arm.storage, &r->arena, s->name, &b, e);
    return rc <= 0 ? -1 : seed_keys_set(seed, r, keys, b.id, set_batch_key, e);
}

/* --- jobs ------------------------------------------------------------------------------------- */

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
        err_set(e, ERR_INTERNAL, NULL, "The job does not exist any more.");
    return rc > 0 ? 0 : -1;
}

/* Refuses running tasks in a completed job. Active tasks may stay active: they waited when the job
 * was terminated. */
static int check_tasks(struct storage *st, struct arena *a, int64_t job_id, struct err *e)
{
    struct batch_counts c;
    if (st_batch_job_counts(st, a, job_id, &c, e) < 0)
        return -1;
    if (c.running == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "state.state",
                   "The job is to be completed, but %lld of its tasks are running; they must be "
                   "completed or active.",
                   (long long)c.running);
}

/* Only a job of a schedule has a : in its name. */
bool seed_job_of_schedule(const struct seed_step *s)
{
    return s->kind == &seed_kinds[SEED_BATCH_JOB] && strchr(s->name, ':');
}

/* The name with which a schedule's job is created: a hash, because the real name may be longer than
 * a POST accepts. */
const char *seed_job_alias(struct arena *a, const char *name)
{
    unsigned char hash[crypto_generichash_BYTES_MIN];
    char text[2 * sizeof hash + 1];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)name, strlen(name), NULL, 0);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    return arena_concat(a, "seeded-", text);
}

/* Splits "SCHEDULE:job-3" into the schedule's name and the number. */
static int read_job_name(const struct seed_step *s, struct arena *a, const char **schedule,
                         int *number, struct err *e)
{
    const char *colon = strchr(s->name, ':'), *digits = colon + strlen(":job-");
    *schedule = arena_strndup(a, s->name, (size_t)(colon - s->name));
    if (strncmp(colon, ":job-", strlen(":job-")) == 0 && strlen(digits) < 10 &&
        strspn(digits, "0123456789") == strlen(digits) && *digits > '0') {
        *number = (int)strtol(digits, NULL, 10);
        return 0;
    }
    return err_set(e, ERR_INVALID_PROPERTY, NULL,
                   "A job with a colon in its name is one of a schedule, and called "
                   "SCHEDULE:job-NUMBER.");
}

/* Creating the job has also created a pool for it, but all jobs of a schedule share one pool. */
static int share_pool(const struct seed *seed, const struct batch_job *j,
                      const struct batch_schedule *of, struct st_batch_adoption *x, struct err *e)
{
    if (j->auto_life != BATCH_AUTO_OF_SCHEDULE || !*j->pool_name)
        return 0;
    if (!of->auto_pool)
        return st_batch_schedule_set_pool(seed->arm.storage, of->id, j->pool_name, e);
    x->pool_name = of->auto_pool;
    return auto_pool_end(seed->batch, j->account_id, j->pool_name, e);
}

static int check_life(const struct seed_step *s, struct err *e)
{
    const json_t *info = json_object_get(s->given, "poolInfo");
    const json_t *own = json_object_get(info, "autoPoolSpecification");
    const char *life = json_string_value(json_object_get(own, "poolLifetimeOption"));
    if (!life || strcasecmp(life, "jobschedule") != 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "poolInfo",
                   "Only a job of a schedule, called SCHEDULE:job-NUMBER, may have a pool with the "
                   "lifetime jobschedule.");
}

/* Renames a job that belongs to a schedule from its alias to its real name. */
int seed_batch_job_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                        struct err *e)
{
    struct batch_account b;
    struct batch_schedule of = {.id = 0};
    struct st_batch_adoption x = {.name = s->name};
    struct batch_job j = {.id = 0};
    const char *schedule;
    struct storage *st = seed->arm.storage;
    if (!seed_job_of_schedule(s))
        return check_life(s, e);
    if (read_job_name(s, &r->arena, &schedule, &x.number, e) < 0)
        return -1;
    int rc = st_batch_account_by_name(st, &r->arena, s->above->name, &b, e);
    if (rc > 0)
        rc = st_batch_job_get(st, &r->arena, b.id, seed_job_alias(&r->arena, s->name), &j, e);
    if (rc > 0)
        rc = st_batch_schedule_get(st, &r->arena, b.id, schedule, &of, e);
    if (rc == 0)
        return err_set(e, ERR_INVALID_PROPERTY, NULL, "There is no job schedule '%.64s'.",
                       schedule);
    x.id = j.id;
    x.schedule_id = of.id;
    return rc < 0 || share_pool(seed, &j, &of, &x, e) < 0 ? -1 : st_batch_job_adopt(st, &x, e);
}

/* Reads the member "state" of the step's state; this member is the only row of `schema`. */
static int read_state(struct request *r, const struct seed_step *s, const struct schema *schema,
                      void *into, struct err *e)
{
    json_auto_t *state = json_pack("{s:O}", "state", seed_state_of(r, s));
    return schema_read(schema, state, &r->arena, into, e);
}

struct told_job {
    enum batch_job_state to;
    int64_t end_us;
    const char *reason;
};

static const struct enum_name job_states[] = {{BATCH_JOB_ACTIVE, "active"},
                                              {BATCH_JOB_DISABLED, "disabled"},
                                              {BATCH_JOB_COMPLETED, "completed"},
                                              {0, NULL}};
static const struct field job_state_rows[] = {
    ENUM("state", REQUIRED, job_states, INTO(told_job, to)),
    TIME("endTime", INTO(told_job, end_us)),
    TEXT("terminateReason", INTO(told_job, reason)),
};
static SCHEMA(job_state, job_state_rows, "JobState", FILLS(told_job));
static const struct field job_rows[] = {OBJECT("state", REQUIRED, job_state, INTO_SAME)};
static SCHEMA(job_body, job_rows, "Job", FILLS(told_job));

/* Removes the pool that the POST created for a job that has ended. If the job was to keep its pool,
 * the seed has the pool among the account's pools. */
static int end_pool(const struct seed *seed, const struct batch_job *j, struct err *e)
{
    bool own = j->auto_life == BATCH_AUTO_OF_JOB && *j->pool_name;
    return own ? auto_pool_end(seed->batch, j->account_id, j->pool_name, e) : 0;
}

int seed_batch_job_last(const struct seed *seed, struct request *r, const struct seed_step *s,
                        struct err *e)
{
    struct batch_job j;
    struct told_job t = {.end_us = r->now_us};
    struct storage *st = seed->arm.storage;
    if (!json_object_get(s->given, "state"))
        return 0;
    if (read_state(r, s, &job_body, &t, e) < 0)
        return -1;
    if (t.to == BATCH_JOB_ACTIVE)
        return 0;
    if (find_batch_job(seed, r, s, &j, e) < 0)
        return -1;
    const struct st_batch_job_move m = {.id = j.id,
                                        .from = BATCH_JOB_ACTIVE,
                                        .to = t.to,
                                        .now_us = t.end_us,
                                        .ends = t.to == BATCH_JOB_COMPLETED,
                                        .reason = t.reason};
    if (m.ends && (check_tasks(st, &r->arena, j.id, e) < 0 || end_pool(seed, &j, e) < 0))
        return -1;
    return st_batch_job_move(st, &m, e);
}

/* A task and its state in the seed. */
struct seeded_task {
    struct batch_task row;
    const char *pool; /* of its job */
    enum batch_task_state to;
    /* of a completed task: whether it succeeded; whether it satisfies the tasks that depend on
     * it */
    bool good, satisfies;
};

static int judge_end(struct arena *a, struct seeded_task *task, const struct told_state *t,
                     struct err *e)
{
    struct batch_task_spec spec;
    enum batch_end how = BATCH_END_EXIT;
    int exit_code = (int)json_integer_value(t->exit_code);
    const char *code = json_string_value(json_object_get(t->errors, "code"));
    if (task->to != BATCH_TASK_COMPLETED)
        return 0;
    if (batch_task_decode(a, task->row.doc, NULL, &spec, e) < 0)
        return -1;
    if (code && !batch_end_of_code(code, &how))
        how = t->exit_code ? BATCH_END_EXIT : BATCH_END_OTHER;
    task->good = exit_code == 0 && !t->errors;
    task->satisfies = batch_exit_means(&spec.exits, how, exit_code).dependency == BATCH_SATISFY;
    return 0;
}

static int move_task(struct storage *st, struct arena *a, const struct seeded_task *task,
                     const struct told_state *t, struct err *e)
{
    bool ran = task->to == BATCH_TASK_RUNNING || t->start_us > 0;
    const struct st_batch_task_move start = {.id = task->row.id,
                                             .from = BATCH_TASK_ACTIVE,
                                             .to = BATCH_TASK_RUNNING,
                                             .now_us = t->start_us > 0 ? t->start_us : t->end_us,
                                             .starts = true,
                                             .pool_name = task->pool};
    const struct st_batch_task_move end = {.id = task->row.id,
                                           .from = ran ? BATCH_TASK_RUNNING : BATCH_TASK_ACTIVE,
                                           .to = BATCH_TASK_COMPLETED,
                                           .now_us = t->end_us,
                                           .has_exit_code = t->exit_code != NULL,
                                           .exit_code = (int)json_integer_value(t->exit_code),
                                           .result = task->good ? BATCH_SUCCESS : BATCH_FAILURE,
                                           .failure = seed_json(a, t->errors),
                                           .satisfies = task->satisfies};
    if (task->to == BATCH_TASK_ACTIVE)
        return 0;
    if (ran && st_batch_task_move(st, &start, e) < 0)
        return -1;
    if (task->to == BATCH_TASK_RUNNING)
        return 0;
    if (st_batch_task_move(st, &end, e) < 0)
        return -1;
    const struct st_batch_settling all = {batch_id_number(task->row.name), INT_MAX};
    bool left;
    return task->satisfies ? st_batch_wait_settle(st, &task->row, &all, &left, e) : 0;
}

/* Adds the files of a task as nodes report them, with the time of the task's end. */
static int add_files(struct storage *st, int64_t task_id, const json_t *files, int64_t now_us,
                     struct err *e)
{
    const char *path;
    json_t *v;
    if (seed_files_check(files, SEED_TASK_FILES, e) < 0)
        return -1;
    json_object_foreach((json_t *)files, path, v) {
        size_t n;
        char *bytes = seed_file_bytes(v, &n);
        const struct batch_seeded_file f = {
            .path = path, .mtime_us = now_us, .size = (int64_t)n, .bytes = bytes};
        int rc = st_batch_file_add(st, task_id, &f, e);
        free(bytes);
        if (rc < 0)
            return -1;
    }
    return st_batch_task_set_files(st, task_id, BATCH_FILES_THERE, e);
}

bool seed_is_manager(const struct seed_step *s)
{
    if (s->kind != &seed_kinds[SEED_BATCH_TASK])
        return false;
    const json_t *manager = json_object_get(s->above->given, "jobManagerTask");
    const char *name = json_string_value(json_object_get(manager, "id"));
    return name && strcasecmp(name, s->name) == 0;
}

static int check_manager(const struct seed_step *s, struct err *e)
{
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)s->given, name, v) {
        if (!seed_is_own(s->kind, name))
            return err_set(e, ERR_INVALID_PROPERTY, name,
                           "'%.60s' of the job's manager must be in jobManagerTask; here it may "
                           "have state and files.",
                           name);
    }
    return 0;
}

int seed_batch_task_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                         struct err *e)
{
    struct told_state t = {.end_us = r->now_us};
    struct batch_job j;
    struct seeded_task task = {.to = BATCH_TASK_ACTIVE};
    struct storage *st = seed->arm.storage;
    const json_t *given = seed_state_of(r, s);
    const json_t *files = json_object_get(s->given, "files");
    int to = BATCH_TASK_ACTIVE;
    if (seed_is_manager(s) && check_manager(s, e) < 0)
        return -1;
    if (!given && !files)
        return 0;
    if (given && seed_state_read(given, "state", "failureInfo", r->now_us, &t, e) < 0)
        return -1;
    if (given)
        to = enum_from_name(batch_task_state_names, t.name);
    if (to == 0 || to == BATCH_TASK_PREPARING)
        return seed_unknown("state.state", t.name, "active, running or completed", e);
    if (files && to == BATCH_TASK_ACTIVE)
        return err_set(e, ERR_INVALID_PROPERTY, "files",
                       "A task that waits has no files; its state must be running or completed.");
    if (find_batch_job(seed, r, s, &j, e) < 0)
        return -1;
    int rc = st_batch_task_get(st, &r->arena, j.id, s->name, &task.row, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The task does not exist any more.");
    task.pool = j.pool_name;
    task.to = (enum batch_task_state)to;
    if (judge_end(&r->arena, &task, &t, e) < 0 || move_task(st, &r->arena, &task, &t, e) < 0)
        return -1;
    return files ? add_files(st, task.row.id, seed_files_of(r, s, files), t.end_us, e) : 0;
}

/* --- schedules -------------------------------------------------------------------------------- */

struct told_schedule {
    enum batch_schedule_state to;
    int number;
    int64_t next_us, end_us;
};

static const struct enum_name schedule_states[] = {{BATCH_SCHEDULE_ACTIVE, "active"},
                                                   {BATCH_SCHEDULE_DISABLED, "disabled"},
                                                   {BATCH_SCHEDULE_COMPLETED, "completed"},
                                                   {0, NULL}};
static const struct field schedule_state_rows[] = {
    ENUM("state", REQUIRED, schedule_states, INTO(told_schedule, to)),
    INT("jobs", .expected = "how many jobs the schedule has made", INTO(told_schedule, number)),
    TIME("nextRunTime", INTO(told_schedule, next_us)),
    TIME("endTime", INTO(told_schedule, end_us)),
};
static SCHEMA(schedule_state, schedule_state_rows, "ScheduleState", FILLS(told_schedule));
static const struct field schedule_rows[] = {OBJECT("state", REQUIRED, schedule_state, INTO_SAME)};
static SCHEMA(schedule_body, schedule_rows, "Schedule", FILLS(told_schedule));

/* When this is called, the jobs of the schedule exist, so the schedule creates no job before its
 * next due time. */
int seed_schedule_last(const struct seed *seed, struct request *r, const struct seed_step *s,
                       struct err *e)
{
    struct told_schedule t = {.end_us = r->now_us};
    struct batch_account b;
    struct batch_schedule x;
    struct storage *st = seed->arm.storage;
    if (!json_object_get(s->given, "state"))
        return 0;
    if (read_state(r, s, &schedule_body, &t, e) < 0)
        return -1;
    int rc = st_batch_account_by_name(st, &r->arena, s->above->name, &b, e);
    if (rc > 0)
        rc = st_batch_schedule_get(st, &r->arena, b.id, s->name, &x, e);
    if (rc <= 0)
        return rc < 0 ? -1
                      : err_set(e, ERR_INTERNAL, NULL, "The job schedule does not exist any more.");
    const struct st_schedule_move m = {.id = x.id,
                                       .from = BATCH_SCHEDULE_ACTIVE,
                                       .to = t.to,
                                       .now_us = t.end_us,
                                       .ends = t.to == BATCH_SCHEDULE_COMPLETED};
    if ((t.number > 0 || t.next_us > 0) &&
        st_batch_schedule_set_next(st, x.id, t.number, t.next_us, e) < 0)
        return -1;
    if (m.ends && x.auto_pool && auto_pool_end(seed->batch, b.id, x.auto_pool, e) < 0)
        return -1;
    return t.to == BATCH_SCHEDULE_ACTIVE ? 0 : st_batch_schedule_move(st, &m, e);
}
