/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of Azure Batch's front: the operations of struct front_ops that are not in
 * batch.c.
 */
#ifndef SCHEDULER_FRONT_BATCH_FRONT_PRIV_H
#define SCHEDULER_FRONT_BATCH_FRONT_PRIV_H

#include <assert.h>

#include "lib/timefmt.h"
#include "model/batch/job_states.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batch/tasks.h"
#include "scheduler/run/runs.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/wake.h"
#include "storage/batch_chores.h"

struct batch_pool_containers;
struct batch_pool_spec;
struct batch_user;

static inline const struct batch_front *batch_self(const struct front *f)
{
    assert(f->words == &batch_front_words);
    return (const struct batch_front *)f;
}

static inline struct batch_front *batch_self_rw(struct front *f)
{
    assert(f->words == &batch_front_words);
    return (struct batch_front *)f;
}

/* Kinds of wakes, by the ids of rows: a pool whose resize may have ended; a pool with a formula; a
 * job; a pool whose tasks may get runs. */
WAKE_KIND(woken_size, "batch pool", WAKE_LAST);
WAKE_KIND(woken_formula, "batch formula", WAKE_LAST);
WAKE_KIND(woken_job, "batch job", WAKE_LAST);
WAKE_KIND(woken_tasks, "batch tasks", WAKE_LAST);

/* --- pools.c: their sizes -------------------------------------------------------------------- */
void pools_begin(struct batch_front *f);
/* Wakes pools whose size is not steady. */
void pools_go_on(struct batch_front *f);
int pool_scaled(const struct front *base, struct storage *st, const struct pool *core,
                const struct pool_scaled *s, int64_t now_us, struct err *e);

/* --- autoscale.c ----------------------------------------------------------------------------- */
void autoscale_begin(struct batch_front *f);
/* Wakes pools with formulas. */
void autoscale_go_on(struct batch_front *f);

/* --- task_files.c ----------------------------------------------------------------------------- */
/* Files to put onto a node, and variables whose values are paths below the node's root; both lists
 * have room for what is added. */
struct batch_inputs {
    const struct batch_front *front;
    struct arena *a;
    const struct batch_pool *pool; /* the node's pool */
    struct input_list *files;
    struct kv *rooted;
    size_t n_rooted;
    enum failure_code refused; /* a file or package that is not available, with its kind of failure;
                                  FAIL_NONE: all are available */
    const char *why_refused;
};
enum batch_package_for {
    BATCH_PACKAGES_OF_TASK,
    BATCH_PACKAGES_OF_POOL, /* for the pool's nodes */
    BATCH_PACKAGES_ON_POOL, /* the node has them already: only their variables are needed */
};
/* Adds packages and their variables. */
int batch_add_packages(struct batch_inputs *in, const struct batch_package_ref *list, size_t n,
                       enum batch_package_for whom, struct err *e) MUST_CHECK;
/* Adds resource files of a task of the pool's Batch account, below `dir` of the node's root. */
void batch_add_files(struct batch_inputs *in, const struct batch_resource_file *list, size_t n,
                     const char *dir);
/* Adds the uploads of a task's output files. */
void batch_add_outputs(const struct batch_front *f, struct arena *a, int64_t account_id,
                       const struct batch_output_file *list, size_t n, struct place_spec *place);

/* --- task_container.c ------------------------------------------------------------------------- */
/* Fills `out` with the image, its registry and its login: from the task's registry, or from the
 * pool's registry for this image. */
void container_of_image(struct arena *a, const struct batch_pool_containers *pool,
                        const char *image, const struct batch_container *own,
                        struct container_spec *out);
/* The container of a task that has one. A task with forbidden options gets an invalid place, so
 * that it fails. `any_option`: all options are allowed. Everything is in the arena. */
struct container_spec *batch_container(struct arena *a, const struct batch_pool *p,
                                       const struct batch_pool_spec *pool,
                                       const struct batch_container *asked, bool any_option,
                                       struct place_spec *place);
/* Restricts the visible part of the node to the paths in the task's document, if it has any.
 * `preparation`: the directory of the job's preparation task below the node's root; NULL: none. */
void batch_container_narrow(struct arena *a, const struct batch_container *asked,
                            const char *preparation, struct place_spec *place,
                            struct container_spec *out);

/* --- container_options.c ---------------------------------------------------------------------- */
/* Reads containerRunOptions; a forbidden option makes the place invalid, so that the task fails.
 * `any`: the user is an administrator. */
void batch_container_options(struct arena *a, const char *text, bool any, struct place_spec *place,
                             struct container_spec *out);

/* --- task_place.c: nodes, directories, accounts and programs of tasks ------------------------- */
/* Makes the arguments (argv) that run a command line on the nodes of a pool, as in batch_argv(). */
size_t batch_program(const struct batch_front *f, struct arena *a, const struct batch_pool *p,
                     const char *line, const char ***argv);
/* Sets the task's account; an unknown user of the pool makes the task fail. */
void place_set_user(struct arena *a, const struct batch_user *u, const struct batch_pool_spec *pool,
                    struct place_spec *place);

/* The account of a pool's user on nodes without logins by name, and its directory below the node's
 * root. If a uid is given, the account is named by the uid. Pools that share a machine may give one
 * uid to users with different names; these users then share the account. */
struct batch_account_place {
    const char *account, *dir;
};
struct batch_account_place batch_account_place(struct arena *a, const char *name, int uid);

/* --- node_setup.c ---------------------------------------------------------------------------- */
/* The settings of a pool's nodes. If how->secrets is set, a node is about to be prepared.
 * `secrets`: the text of the pool's secrets, or NULL. */
int node_setup_of(const struct batch_front *f, const struct front_read *how,
                  const struct batch_pool *p, const char *secrets, struct node_setup_spec *out,
                  struct err *e) MUST_CHECK;
int load_node_users(const struct front *f, const struct front_read *how, int64_t node_id,
                    int64_t now_us, struct node_setup_spec *out, struct err *e);
/* node_users.c: ends users whose time is up, and adds and removes accounts on nodes. */
void node_users_begin(struct batch_front *f);
/* Directories on each node, below its root: for variables of start tasks and tasks. */
#define BATCH_HOME    "batch"
#define BATCH_ACCOUNT "batch" /* the account of all users of a node whose scope is the pool */
#define BATCH_STARTUP BATCH_HOME "/startup"
/* The account of a start task whose scope is the task; no other account has this prefix. */
#define BATCH_START_ACCOUNT "batch.startup"
/* Adds AZ_BATCH_NODE_ROOT_DIR and the others as variables whose values are paths below a node's
 * root. Returns how many; *out has room for `more` after them. */
size_t batch_node_dirs(struct arena *a, size_t more, struct kv **out);

/* --- pool_deletion.c ------------------------------------------------------------------------- */
void pool_deletions_begin(struct batch_front *f);
void pools_may_remove(struct front *f);

/* --- account_deletion.c ---------------------------------------------------------------------- */
/* Called when an account may have been marked for deletion, together with its pools. */
void account_marked(struct front *base);
void account_deletions_begin(struct batch_front *f);
void account_deletions_end(struct batch_front *f);

/* --- task_run.c: runs of tasks --------------------------------------------------------------- */
const char *task_run_name(const struct front *f, struct storage *st, struct arena *a,
                          const struct run *r);
int task_run_is_held(const struct front *f, struct storage *st, const struct run *r, bool *held,
                     struct err *e);
/* *held: the run must wait for the preparation of its node, or for the removal of files. `r` may be
 * the run of a chore, too. */
int task_run_waits(const struct batch_front *f, struct storage *st, struct arena *a,
                   const struct run *r, bool *held, struct err *e) MUST_CHECK;
/* Loads the spec of a task's run, or of a chore's. */
int task_run_load(const struct front *f, const struct front_read *how, const struct run *r,
                  struct run_spec *out, struct err *e);
static inline bool is_chore(const struct run *r)
{
    return r->owner_kind == RES_BATCH_CHORE;
}
int task_run_started(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                     struct err *e);
int task_run_prepared(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e);
/* Called when the container of the run, or of one of its parts, has started. */
int task_run_contained(const struct front *f, struct storage *st, const struct run *r,
                       const struct run_container *c, struct err *e);
int task_run_stopping(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e);
int task_run_ended(const struct front *f, struct storage *st, const struct run *r,
                   const struct run_end *end, struct err *e);
int task_run_requeued(const struct front *f, struct storage *st, const struct run *r,
                      const char *why, int64_t now_us, struct err *e);
int task_run_may_forget(const struct front *f, struct storage *st, const struct run *r,
                        int64_t now_us, struct err *e);
/* --- task_end.c ------------------------------------------------------------------------------ */
/* Completes the task, with or without a run: its result, the actions of its exit conditions, and
 * the tasks that wait for it. */
int task_complete(const struct batch_front *f, struct storage *st, const struct batch_task *t,
                  const struct run_end *end, struct err *e) MUST_CHECK;

/* --- task_dependents.c ------------------------------------------------------------------------ */
void task_dependents_begin(struct batch_front *f);
/* Called when the task is completed as the tasks that wait for it require: releases some of them
 * now, the others later. */
int task_dependents_settle(const struct batch_front *f, struct storage *st,
                           const struct batch_task *t, struct err *e) MUST_CHECK;
/* Called when the task's row is removed, or the task is to run again: releases at once all tasks
 * that were to be released later. Tasks that are added later wait for the task's number again. */
int task_dependents_leave(struct storage *st, const struct batch_task *t, struct err *e) MUST_CHECK;

/* --- task_end.c ------------------------------------------------------------------------------ */
/* A failureInfo as JSON text; in the arena. */
const char *task_failure_info(struct arena *a, const struct failure *why);

/* --- auto_pool.c: pools that are made for jobs ---------------------------------------------------
 */
/* The result of making a pool: `name`; or `failure`, a schedulingError. In the arena. */
struct auto_pool_made {
    const char *name, *failure;
};
/* Makes the pool of a new job; the caller has filled in the job's row. */
int auto_pool_make(struct batch_front *f, struct arena *a, const struct batch_job *j,
                   const struct batch_job_spec *spec, const char *secrets,
                   struct auto_pool_made *out, struct err *e) MUST_CHECK;
/* Called when the job has ended: deletes its pool, if the pool was made for this job and is not to
 * be kept. */
int auto_pool_end_of_job(struct batch_front *f, const struct batch_job *j,
                         struct err *e) MUST_CHECK;

/* --- node_tasks.c: the work of a job on a node before its first task there and after its last - */
void chores_begin(struct batch_front *f);
/* Called when a task of the job will run on the node: prepares the node for the job, unless this
 * was done. 1: the task must wait for the preparation; 0: it may start. */
int chore_prepare(struct batch_front *f, struct arena *a, const struct batch_job *j,
                  int64_t node_id, int64_t now_us, struct err *e) MUST_CHECK;
/* Called when the job has no running task any more: begins the release tasks on its nodes. *left:
 * some release tasks have not ended. */
int chores_finish(struct batch_front *f, const struct batch_job *j, bool *left,
                  struct err *e) MUST_CHECK;
/* Whether the requests about a node let a release task begin there. Disabled scheduling does, and
 * so does a request to leave that waits for the node's tasks. */
bool chore_may_release(const struct node *nd);

/* --- node_task_run.c: their runs --- */
const char *chore_run_name(struct storage *st, struct arena *a, const struct run *r);
int chore_run_ended(const struct batch_front *f, struct storage *st, const struct run *r,
                    const struct run_end *end, struct err *e);
int chore_run_requeued(const struct batch_front *f, struct storage *st, const struct run *r,
                       int64_t now_us, struct err *e);
int chore_run_may_forget(const struct batch_front *f, struct storage *st, const struct run *r,
                         struct err *e);

/* --- tasks.c ---------------------------------------------------------------------------------- */
/* Ends the task's run, if it has one; `fate` is the treatment of the task afterwards. */
int task_stop(struct batch_front *f, const struct batch_task *t, enum batch_fate fate,
              struct err *e) MUST_CHECK;
/* Removes the row of a task without a run, and its files. */
int task_remove(struct storage *st, const struct batch_task *t, struct err *e) MUST_CHECK;

/* --- job_moves.c ------------------------------------------------------------------------------ */
/* Moves the job by an event; the caller fills in the rest of `m`. */
int job_move(struct storage *st, const struct batch_job *j, enum batch_job_event ev,
             struct st_batch_job_move m, struct err *e) MUST_CHECK;

/* Wakes jobs in a transitional state, jobs with a time limit, and jobs that end with their tasks.
 */
void jobs_go_on(struct batch_front *f);
void jobs_wake_limited(struct batch_front *f);
void jobs_wake_done(struct batch_front *f);

/* --- jobs.c ----------------------------------------------------------------------------------- */
void jobs_begin(struct batch_front *f);

/* --- schedules.c: the jobs that schedules make ------------------------------------------------ */
void schedules_begin(struct batch_front *f);

/* --- waiting_runs.c --------------------------------------------------------------------------- */
/* Removes the waiting runs of these tasks, which are only rows again. */
int waiting_runs_remove(struct storage *st, const int64_t *tasks, size_t n,
                        struct err *e) MUST_CHECK;
/* Called when a job's maxParallelTasks may be lower: removes the youngest of the job's waiting runs
 * until the job has no more runs than that, or no waiting run. *taken: some were removed, so the
 * caller must wake the pool. */
int waiting_runs_limit(struct storage *st, struct arena *a, const struct batch_job *j, bool *taken,
                       struct err *e) MUST_CHECK;

/* --- dispatcher.c
 * --------------------------------------------------------------------------------- */
void dispatcher_begin(struct batch_front *f);
/* Called when a job has tasks that may run: wakes the job's pool, if the pool exists. */
int dispatcher_wake(struct batch_front *f, const struct batch_job *j, struct err *e) MUST_CHECK;

/* --- cleanup.c ---------------------------------------------------------------------------------
 */
void cleanup_begin(struct batch_front *f);
/* Nodes of a task. */
struct task_nodes {
    const struct allocation *parts;
    size_t n;
};
/* Records that the files of a task must be removed, if there are any, but not on these nodes. */
int cleanup_of_task(struct storage *st, struct arena *a, const struct batch_task *t,
                    struct task_nodes except, struct err *e) MUST_CHECK;
/* When the files of a task that ends now will be removed; 0: never automatically. (task_end.c) */
int64_t batch_kept_until(const struct batch_task_spec *spec, int64_t now_us);
/* Called when removals were recorded: carries them out soon. */
void cleanup_wake(struct batch_front *f);
/* Called when a run waits, perhaps for a removal: the next removal of files wakes the run. */
void cleanup_await(struct batch_front *f, int64_t run_id);
/* Sets *left_us to the time that files of tasks, and of preparation and release tasks, still stay
 * on a node. */
int cleanup_kept_for(const struct front *base, struct storage *st, const struct node *nd,
                     int64_t *left_us, struct err *e);
/* Schedules the removal of a task's files for this instant. */
void files_wake(const struct batch_front *f, int64_t at_us);

/* Called when no run waits in the pool, and its nodes have free slots. */
void task_runs_wanted(const struct front *f, const struct pool *p);

#endif
