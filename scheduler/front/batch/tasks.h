/* SPDX-License-Identifier: MIT
 *
 * Jobs and tasks of Azure Batch: users' operations on them, and their states.
 *
 * A task is one row. It gets a run of the core only when it may run (its job is active, its
 * dependencies have ended) and few others are before it (dispatcher.c), so that waiting tasks cost
 * the core nothing. The run is removed after its end. Changes of a job are written first;
 * job_reconcile() carries out the consequences for its tasks: it reads the rows again and may be
 * repeated.
 */
#ifndef SCHEDULER_FRONT_BATCH_TASKS_H
#define SCHEDULER_FRONT_BATCH_TASKS_H

#include "model/batch/exits.h"
#include "model/batch/spec.h"
#include "model/failure.h"
#include "storage/batch_jobs.h"
#include "storage/storage.h"

struct batch_front;

/* --- jobs ------------------------------------------------------------------------------------ */

/* Writes a new job with its manager task and, unless pool_name is set, its auto pool; j->id becomes
 * its id. doc and instants of `j` are filled in. batch_job_changed() must follow. Fails in the
 * cases of batch_account_accepts(), too. */
int batch_job_add(struct batch_front *f, struct arena *a, struct batch_job *j, const char *secrets,
                  struct err *e) MUST_CHECK;
/* Fills in the columns of a job's row that come from its document (j->doc). */
int batch_job_columns(struct arena *a, struct batch_job *j, struct err *e) MUST_CHECK;
/* A user has changed the job: writes its row, and gives its priority to its waiting tasks.
 * batch_job_changed() must follow. */
int batch_job_update(struct batch_front *f, const struct batch_job *j, const char *secrets,
                     struct err *e) MUST_CHECK;
/* Called when a job was written so that its tasks may start, or must end: reconciles the job when
 * the write is on disk. */
void batch_job_changed(struct batch_front *f, int64_t job_id);
/* Called when tasks were added. The consequences are written in this turn of the loop, so that one
 * sync covers all writes until a task begins. */
void batch_job_has_more(struct batch_front *f, int64_t job_id);
/* Begin the operation; the job's state was read, and permits the operation. `reason` NULL: none
 * given. batch_job_disable(): for a job in state disabling, changes the treatment of its tasks; a
 * disabled job stays as it is. */
int batch_job_disable(struct batch_front *f, const struct batch_job *j, enum batch_disable how,
                      int64_t now_us, struct err *e) MUST_CHECK;
int batch_job_enable(struct batch_front *f, const struct batch_job *j, int64_t now_us,
                     struct err *e) MUST_CHECK;
int batch_job_terminate(struct batch_front *f, const struct batch_job *j, const char *reason,
                        bool by_user, int64_t now_us, struct err *e) MUST_CHECK;
int batch_job_delete(struct batch_front *f, const struct batch_job *j, int64_t now_us,
                     struct err *e) MUST_CHECK;

/* --- tasks ----------------------------------------------------------------------------------- */

/* The names and ranges of numbers of a task's dependencies. */
struct batch_range {
    int64_t low, high;
};
struct batch_waits {
    const char *const *names;
    size_t n_names;
    const struct batch_range *ranges;
    size_t n_ranges;
};
/* Writes a new task; t->id becomes its id. batch_job_has_more() must follow. */
int batch_task_add(struct storage *st, struct batch_task *t, const char *secrets,
                   const struct batch_waits *w, struct err *e) MUST_CHECK;
/* Writes t->doc, a task's document with new constraints. They hold for a task that runs, too. */
int batch_task_change(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                      struct err *e) MUST_CHECK;
/* Ends a task that is not completed yet, for a user. */
int batch_task_terminate(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                         struct err *e) MUST_CHECK;
/* Deletes the task with its files: at once, or when its processes have ended. */
int batch_task_delete(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                      struct err *e) MUST_CHECK;
/* Whether the task was terminated and its processes have not ended yet. */
bool batch_task_is_ending(const struct batch_task *t);
/* Runs a failed, completed task again; an ending task runs again after its end. */
int batch_task_reactivate(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                          struct err *e) MUST_CHECK;

/* Whether administrators' tasks are root, if the node's agent is root. */
bool batch_admins_are_root(const struct batch_front *f);
/* Whether processes in containers may have uids of the nodes' own users (containers.user:
 * image). */
bool batch_images_bring_users(const struct batch_front *f);
/* The running task with this token (AZ_BATCH_AUTHENTICATION_TOKEN). 1: found; 0: none; -1:
 * error. */
int batch_task_of_token(struct storage *st, struct arena *a, const char *token,
                        struct batch_task *out, struct err *e);

/* The texts of a failure for clients; the message may be NULL. */
struct batch_failure_words {
    const char *code, *message;
};
struct batch_failure_words batch_failure_words(enum failure_code code);
/* How a task with this failure code has ended. False: no failure has this code. */
bool batch_end_of_code(const char *code, enum batch_end *how);

/* The last node of the task. 1: found; 0: none; -1: error. */
int batch_task_node(struct storage *st, struct arena *a, const struct batch_task *t,
                    struct node *out, struct err *e) MUST_CHECK;
/* The directory of a task below its node's Batch root: "workitems/JOB/job-1/TASK". In the arena. */
const char *batch_task_dir(struct arena *a, const struct batch_task *t);
/* The directory of a job, like that of a task. */
const char *batch_job_dir(struct arena *a, const char *job, int number);
/* The beginning of a node's affinityId; the node's name follows. */
#define BATCH_AFFINITY "TVM:"
/* The Batch root, below the node's root. */
#define BATCH_ROOT "batch"

#endif
