/* SPDX-License-Identifier: MIT
 *
 * Jobs and tasks of Azure Batch: what users may do with them, and what becomes of them.
 *
 * A task is one row. It gets a run of the core only when it may run (its job is active, what it
 * waits for has come) and its turn is near (dispatcher.c), so that tasks which wait cost the core
 * nothing. Its run goes when it has ended. Changes of a job are written first; what follows for its
 * tasks is done by job_reconcile(), which looks at the rows again and may be repeated.
 */
#ifndef SCHEDULER_FRONT_BATCH_TASKS_H
#define SCHEDULER_FRONT_BATCH_TASKS_H

#include "model/batch/spec.h"
#include "model/failure.h"
#include "storage/batch_jobs.h"
#include "storage/storage.h"

struct batch_front;

/* --- jobs ------------------------------------------------------------------------------------ */

/* Writes a new job, whose doc and instants are filled in, with its manager task and, unless its
 * pool_name says which it is to have, the pool that it wants made for it; j->id becomes its id.
 * batch_job_changed() follows. */
int batch_job_add(struct batch_front *f, struct arena *a, struct batch_job *j, const char *secrets,
                  struct err *e) MUST_CHECK;
/* Fills in what a job's row has of its document (j->doc). */
int batch_job_columns(struct arena *a, struct batch_job *j, struct err *e) MUST_CHECK;
/* Something of the job was written that may let its tasks run, or end them: looks at it once that
 * is on disk. */
void batch_job_changed(struct batch_front *f, int64_t job_id);
/* Tasks were added. What follows from that is written in the same turn, so that one sync covers all
 * that is written until a task begins. */
void batch_job_has_more(struct batch_front *f, int64_t job_id);
/* Begin what they say; the job's state has been read, and is one that allows it. `reason` NULL:
 * none was given. */
int batch_job_disable(struct batch_front *f, const struct batch_job *j, enum batch_disable how,
                      int64_t now_us, struct err *e) MUST_CHECK;
int batch_job_enable(struct batch_front *f, const struct batch_job *j, int64_t now_us,
                     struct err *e) MUST_CHECK;
int batch_job_terminate(struct batch_front *f, const struct batch_job *j, const char *reason,
                        bool by_user, int64_t now_us, struct err *e) MUST_CHECK;
int batch_job_delete(struct batch_front *f, const struct batch_job *j, int64_t now_us,
                     struct err *e) MUST_CHECK;

/* --- tasks ----------------------------------------------------------------------------------- */

/* The names and ranges of numbers that a task waits for. */
struct batch_range {
    int64_t low, high;
};
struct batch_waits {
    const char *const *names;
    size_t n_names;
    const struct batch_range *ranges;
    size_t n_ranges;
};
/* Writes a new task; t->id becomes its id. batch_job_has_more() follows. */
int batch_task_add(struct storage *st, struct batch_task *t, const char *secrets,
                   const struct batch_waits *w, struct err *e) MUST_CHECK;
/* A user ends it; it is not completed. */
int batch_task_terminate(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                         struct err *e) MUST_CHECK;
/* It goes, with its files: at once, or when its processes have ended. */
int batch_task_delete(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                      struct err *e) MUST_CHECK;
/* Whether somebody has ended it and its processes have not ended yet. */
bool batch_task_is_ending(const struct batch_task *t);
/* One that is completed, and failed, runs again; one that is ending does once it has ended. */
int batch_task_reactivate(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                          struct err *e) MUST_CHECK;

/* Whether administrators' tasks are root, where the node's agent is. */
bool batch_admins_are_root(const struct batch_front *f);
/* Whether processes in containers may be the nodes' own users (containers.user: image). */
bool batch_images_bring_users(const struct batch_front *f);
/* The task that has this token (AZ_BATCH_AUTHENTICATION_TOKEN), while it runs: a getter. */
int batch_task_of_token(struct storage *st, struct arena *a, const char *token,
                        struct batch_task *out, struct err *e);

/* What clients read of a failure; the message may be NULL. */
struct batch_failure_words {
    const char *code, *message;
};
struct batch_failure_words batch_failure_words(enum failure_code code);

/* The node that it ran on last: a getter. */
int batch_task_node(struct storage *st, struct arena *a, const struct batch_task *t,
                    struct node *out, struct err *e) MUST_CHECK;
/* The directory of a task below its node's Batch root: "workitems/JOB/job-1/TASK". Arena. */
const char *batch_task_dir(struct arena *a, const struct batch_task *t);
/* That of a job, likewise. */
const char *batch_job_dir(struct arena *a, const char *job, int number);
/* Begins the affinityId of a node; its name follows. */
#define BATCH_AFFINITY "TVM:"
/* The Batch root, below the node's root. */
#define BATCH_ROOT "batch"

#endif
