/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's jobs and tasks; storage/storage.h says how all of these functions behave. Lists
 * come by name, without regard to case, and begin behind `after` (NULL: at the first).
 */
#ifndef STORAGE_BATCH_JOBS_H
#define STORAGE_BATCH_JOBS_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/job_rows.h"

struct filter;
struct storage;

/* --- jobs ------------------------------------------------------------------------------------ */

int st_batch_job_insert(struct storage *, const struct batch_job *j, const char *secrets,
                        int64_t *id, struct err *) MUST_CHECK;
int st_batch_job_get(struct storage *, struct arena *, int64_t account_id, const char *name,
                     struct batch_job *out, struct err *);
int st_batch_job_by_id(struct storage *, struct arena *, int64_t id, struct batch_job *out,
                       struct err *);
int st_batch_job_secrets(struct storage *, struct arena *, int64_t id, const char **secrets,
                         struct err *);
/* What a filter may name, by its number there. */
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
/* Those for which the filter holds; NULL: all. */
int st_batch_job_list(struct storage *, struct arena *, int64_t account_id,
                      const struct filter *filter, const char *after, const char *upto, int limit,
                      struct batch_job **rows, size_t *n, struct err *);
/* The name of the nth job behind `after`; 0: there are fewer. */
int st_batch_job_nth(struct storage *, struct arena *, int64_t account_id, const char *after,
                     int nth, const char **name, struct err *);
/* The same of those of a schedule, by number. */
int st_batch_job_list_schedule(struct storage *, struct arena *, int64_t schedule_id,
                               const struct filter *filter, int after, int upto, int limit,
                               struct batch_job **rows, size_t *n, struct err *);
int st_batch_job_nth_schedule(struct storage *, int64_t schedule_id, int after, int nth,
                              int *number, struct err *);
/* How many jobs of an account are not completed. */
int st_batch_job_unfinished(struct storage *, int64_t account_id, int64_t *n, struct err *);
/* Active jobs of a pool that have a task which may run and has no run, and wants no more nodes than
 * these: highest priority first, then oldest. */
int st_batch_job_turn(struct storage *, struct arena *, int64_t account_id, const char *pool_name,
                      int nodes, int limit, struct batch_job **rows, size_t *n, struct err *);
/* Those that are on their way to another state. */
int st_batch_job_moving(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);
/* Those with a time limit that have not ended. */
int st_batch_job_limited(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);
/* A user has changed it: document, secrets and what is decoded from them. */
int st_batch_job_update(struct storage *, const struct batch_job *j, const char *secrets,
                        struct err *) MUST_CHECK;
/* A guarded move; the only writer of the state. */
struct st_batch_job_move {
    int64_t id;
    enum batch_job_state from, to;
    int64_t now_us;
    bool by_user;               /* changes its ETag */
    enum batch_disable disable; /* 0: leave */
    const char *reason;         /* NULL: leave; likewise: */
    const char *failure;
    bool ends;
};
int st_batch_job_move(struct storage *, const struct st_batch_job_move *m, struct err *) MUST_CHECK;
/* Removes up to `limit` of the numbers among the names of its tasks. *left: there may be more. */
int st_batch_job_remove_numbers(struct storage *, int64_t id, int limit, bool *left,
                                struct err *) MUST_CHECK;
/* Its tasks and numbers are gone. */
int st_batch_job_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;
int st_batch_job_counts(struct storage *, struct arena *, int64_t id, struct batch_counts *out,
                        struct err *);
/* Of all jobs of a schedule; of an account. */
int st_batch_schedule_counts(struct storage *, struct arena *, int64_t schedule_id,
                             struct batch_counts *out, struct err *);
int st_batch_account_counts(struct storage *, struct arena *, int64_t account_id,
                            struct batch_counts *out, struct err *);

/* --- tasks ----------------------------------------------------------------------------------- */

int st_batch_task_insert(struct storage *, const struct batch_task *t, const char *secrets,
                         int64_t *id, struct err *) MUST_CHECK;
int st_batch_task_get(struct storage *, struct arena *, int64_t job_id, const char *name,
                      struct batch_task *out, struct err *);
int st_batch_task_by_id(struct storage *, struct arena *, int64_t id, struct batch_task *out,
                        struct err *);
int st_batch_task_secrets(struct storage *, struct arena *, int64_t id, const char **secrets,
                          struct err *);
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
/* Those behind `after` up to `upto` (NULL: up to the last). */
int st_batch_task_list(struct storage *, struct arena *, int64_t job_id,
                       const struct filter *filter, const char *after, const char *upto, int limit,
                       struct batch_task **rows, size_t *n, struct err *);
/* The name of the nth task behind `after`; 0: there are fewer. */
int st_batch_task_nth(struct storage *, struct arena *, int64_t job_id, const char *after, int nth,
                      const char **name, struct err *);
/* The tasks that ran last on a node, the latest first; and the parts of tasks on several nodes. */
int st_batch_task_of_node(struct storage *, struct arena *, const char *node_name, int limit,
                          struct batch_task **rows, size_t *n, struct err *);
int st_batch_subtask_of_node(struct storage *, struct arena *, const char *node_name, int limit,
                             struct batch_subtask **rows, size_t *n, struct err *);
/* How many have ended on it; a getter. */
int st_batch_node_total(struct storage *, struct arena *, const char *node_name,
                        struct batch_node_total *out, struct err *);
/* A user has changed its constraints. */
int st_batch_task_update(struct storage *, int64_t id, const char *doc, int64_t now_us,
                         struct err *) MUST_CHECK;
/* A guarded move; the only writer of the state. */
struct st_batch_task_move {
    int64_t id;
    enum batch_task_state from, to;
    int64_t now_us;
    bool by_user;
    bool starts;           /* start_us = now */
    const char *pool_name; /* NULL: leave; likewise: */
    const char *node_name;
    bool retried, requeued; /* counts it */
    /* With BATCH_TASK_COMPLETED: */
    bool has_exit_code;
    int exit_code;
    enum batch_result result;
    const char *failure;
    bool satisfies;
    int64_t files_until_us; /* 0: no change */
    const char *container_error;
};
int st_batch_task_move(struct storage *, const struct st_batch_task_move *m,
                       struct err *) MUST_CHECK;
/* Its container has started. */
int st_batch_task_contain(struct storage *, int64_t id, const char *container_id,
                          struct err *) MUST_CHECK;
/* Tasks of a job that may run and have no run, and want no more nodes than these; and those that
 * have one: oldest first. */
int st_batch_task_ready(struct storage *, struct arena *, int64_t job_id, int nodes, int limit,
                        struct batch_task **rows, size_t *n, struct err *);
int st_batch_task_fed(struct storage *, struct arena *, int64_t job_id, int limit,
                      struct batch_task **rows, size_t *n, struct err *);
int st_batch_task_count_fed(struct storage *, int64_t job_id, int64_t *n, struct err *);
/* How many runs of a pool wait that have this priority or a higher one. */
int st_run_count_waiting(struct storage *, int64_t pool_id, int priority, int64_t *n, struct err *);
/* Runs of tasks that are over and were not removed. */
int st_batch_task_over(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);
/* It has a run, or has none any more. */
int st_batch_task_feed(struct storage *, int64_t id, bool fed, struct err *) MUST_CHECK;
int st_batch_task_set_fate(struct storage *, int64_t id, enum batch_fate fate,
                           struct err *) MUST_CHECK;
int st_batch_task_set_files(struct storage *, int64_t id, enum batch_files files,
                            struct err *) MUST_CHECK;
int st_batch_task_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;
/* Removes up to `limit` tasks of a job that have no run. *left: whether there may be more. */
int st_batch_task_remove_some(struct storage *, int64_t job_id, int limit, bool *left,
                              struct err *) MUST_CHECK;
/* Tasks whose files' time is up; the first instant at which there are some (0: never). */
int st_batch_task_files_due(struct storage *, struct arena *, int64_t now_us, int limit,
                            struct batch_task **rows, size_t *n, struct err *);
int st_batch_task_files_next(struct storage *, int64_t *at_us, struct err *);

/* --- their parts on several nodes ------------------------------------------------------------ */

int st_batch_subtask_begin(struct storage *, const struct batch_subtask *s,
                           struct err *) MUST_CHECK;
/* One that has not ended ends (task_id, number, and what is known of its end); 0: all of the task.
 */
int st_batch_subtask_end(struct storage *, const struct batch_subtask *s, struct err *) MUST_CHECK;
/* Its container has started. */
int st_batch_subtask_contain(struct storage *, int64_t task_id, int number,
                             const char *container_id, struct err *) MUST_CHECK;
int st_batch_subtask_clear(struct storage *, int64_t task_id, struct err *) MUST_CHECK;
/* By number, behind `after`. */
int st_batch_subtask_list(struct storage *, struct arena *, int64_t task_id, int after, int limit,
                          struct batch_subtask **rows, size_t *n, struct err *);

/* --- what tasks wait for --------------------------------------------------------------------- */

/* The task waits for another one, unless that is completed already as it wants. */
int st_batch_wait_add(struct storage *, const struct batch_task *t, const char *name,
                      struct err *) MUST_CHECK;
/* For all whose names are the numbers from low to high. */
int st_batch_wait_add_range(struct storage *, const struct batch_task *t, int64_t low, int64_t high,
                            struct err *) MUST_CHECK;
/* What a task waits for: `name`, or `left` more of the numbers from low to high (name NULL). */
struct batch_wait {
    const char *name;
    int64_t low, high, left;
};
int st_batch_wait_of(struct storage *, struct arena *, int64_t task_id, int limit,
                     struct batch_wait **rows, size_t *n, struct err *);
/* Counts what the task waits for, after all of it was added. */
int st_batch_wait_count(struct storage *, int64_t task_id, struct err *) MUST_CHECK;
/* The task is completed as those who depend on it want. `number`: its name, if that is one; else
 * -1. */
int st_batch_wait_settle(struct storage *, const struct batch_task *t, int64_t number,
                         struct err *) MUST_CHECK;

/* --- what is to be removed from nodes -------------------------------------------------------- */

struct batch_litter {
    int64_t id, node_id;
    const char *path; /* below the node's Batch root */
    int64_t due_us;   /* not before; 0: at once */
};
int st_batch_litter_add(struct storage *, int64_t node_id, const char *path, int64_t due_us,
                        struct err *) MUST_CHECK;
/* What was not due yet stays for good. */
int st_batch_litter_keep(struct storage *, int64_t node_id, const char *path,
                         struct err *) MUST_CHECK;
/* From each node of a pool. */
int st_batch_litter_add_all(struct storage *, int64_t pool_id, const char *path,
                            struct err *) MUST_CHECK;
/* Of what is due. */
int st_batch_litter_of_node(struct storage *, struct arena *, int64_t node_id, int64_t now_us,
                            int limit, struct batch_litter **rows, size_t *n, struct err *);
/* The nodes that have some of that. */
int st_batch_litter_nodes(struct storage *, struct arena *, int64_t now_us, int64_t **ids,
                          size_t *n, struct err *);
/* When the next is due after now; *at_us stays if there is none. */
int st_batch_litter_next(struct storage *, int64_t now_us, int64_t *at_us, struct err *) MUST_CHECK;
/* An instant until which something of tasks is kept on a node, perhaps more for longer: *at_us is 0
 * if nothing is kept after now, INT64_MAX if something is for ever. It looks at the latest task
 * that it finds, as a node may have the files of very many. */
int st_batch_kept_until(struct storage *, int64_t node_id, const char *node_name, int64_t now_us,
                        int64_t *at_us, struct err *) MUST_CHECK;
int st_batch_litter_gone(struct storage *, int64_t id, struct err *) MUST_CHECK;

#endif
