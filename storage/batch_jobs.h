/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's jobs and tasks; storage/storage.h describes the common behaviour of these
 * functions. Lists are sorted by name, without regard to case, and begin after the name `after`
 * (NULL: at the first).
 */
#ifndef STORAGE_BATCH_JOBS_H
#define STORAGE_BATCH_JOBS_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/job_rows.h"
#include "storage/sql/batch_cleanup.h"
#include "storage/sql/batch_job.h"
#include "storage/sql/batch_subtask.h"
#include "storage/sql/batch_task.h"
#include "storage/sql/batch_wait.h"
#include "storage/sql/run.h"

struct filter;
struct storage;

/* --- jobs ------------------------------------------------------------------------------------ */

/* The properties that filters may name, by number. */
enum st_batch_job_property {
    BATCH_JOB_BY_ID,
    BATCH_JOB_BY_STATE,
    BATCH_JOB_BY_STATE_TIME,
    BATCH_JOB_BY_CREATED,
    BATCH_JOB_BY_MODIFIED,
    BATCH_JOB_BY_START,
    BATCH_JOB_BY_END,
    BATCH_JOB_BY_POOL,
    BATCH_JOB_PROPERTIES
};
/* A guarded move of a job's state (ERR_CONFLICT if it is not `from`); the only function that writes
 * the state. */
struct st_batch_job_move {
    int64_t id;
    enum batch_job_state from, to;
    int64_t now_us;
    bool by_user;               /* changes its ETag */
    enum batch_disable disable; /* 0: no change */
    const char *reason;         /* NULL: the reason stays as it is; so for `failure` */
    const char *failure;
    bool ends;
};
/* Removes up to `limit` intervals of numbers that are names of the job's completed tasks. *left:
 * there may be more. */
int st_batch_job_remove_numbers(struct storage *, int64_t id, int limit, bool *left,
                                struct err *) MUST_CHECK;

/* --- tasks ----------------------------------------------------------------------------------- */

enum st_batch_task_property {
    BATCH_TASK_BY_ID,
    BATCH_TASK_BY_STATE,
    BATCH_TASK_BY_STATE_TIME,
    BATCH_TASK_BY_CREATED,
    BATCH_TASK_BY_MODIFIED,
    BATCH_TASK_BY_START,
    BATCH_TASK_BY_END,
    BATCH_TASK_BY_EXIT_CODE,
    BATCH_TASK_BY_RESULT,
    BATCH_TASK_PROPERTIES
};
/* A guarded move of a task's state (ERR_CONFLICT if it is not `from`); the only function that
 * writes the state. */
struct st_batch_task_move {
    int64_t id;
    enum batch_task_state from, to;
    int64_t now_us;
    bool by_user;
    bool starts;           /* set start_us to now_us */
    const char *pool_name; /* NULL: the name stays as it is; so for node_name */
    const char *node_name;
    int64_t emptied;        /* of that node */
    bool retried, requeued; /* adds 1 to `retries`, to `requeues` */
    /* With BATCH_TASK_COMPLETED: */
    bool has_exit_code;
    int exit_code;
    enum batch_result result;
    const char *failure;
    bool satisfies;
    int64_t files_until_us; /* 0: no change */
    const char *container_error;
};
/* Removes up to `limit` tasks of a job that have no run. *left: there may be more. */
int st_batch_task_remove_some(struct storage *, int64_t job_id, int limit, bool *left,
                              struct err *) MUST_CHECK;

/* --- dependencies of tasks --- */

/* A dependency of a task: on the task `name`; or, if `name` is NULL, on the tasks with the numbers
 * low to high, of which `left` are not completed. */
struct batch_wait {
    const char *name;
    int64_t low, high, left;
};
struct st_batch_settling {
    int64_t number; /* the task's name as a number; -1: the name is no number */
    int limit;      /* the most names to settle, and the most ranges */
    bool again;     /* true: the number is completed already, and some of its ranges are left */
};
/* Call when the task is completed in a way that satisfies its dependents. *left: more tasks may
 * wait for it, by its name or with a range that is met. */
int st_batch_wait_settle(struct storage *, const struct batch_task *t,
                         const struct st_batch_settling *how, bool *left, struct err *) MUST_CHECK;
/* Call before a task that satisfies its dependents is removed or reactivated, with its name as a
 * number: ranges that are added later wait for the number again. Ranges that are open keep it. */
int st_batch_wait_leave(struct storage *, const struct batch_task *t, int64_t number,
                        struct err *) MUST_CHECK;

/* The tasks that a pool can run: the largest, and where. */
struct st_batch_fit {
    int nodes, slots; /* nodes of the pool; slots of a node */
    bool dedicated;   /* it has, or may get, dedicated nodes */
};

/* --- files to remove from nodes --- */

struct batch_cleanup {
    int64_t id, node_id;
    const char *path; /* below the node's Batch root */
    int64_t due_us;   /* not before; 0: at once */
};
/* A job that is about to remove its next tasks, at most `limit`: its directory must be removed from
 * nodes of its earlier pools that had some of these tasks. */
struct st_batch_moved {
    int64_t job_id, account_id;
    const char *pool_name; /* its present pool */
    const char *path;      /* of the job's directory */
    int limit;
};

#endif
