/* SPDX-License-Identifier: MIT
 *
 * What the database holds, as the checks look at it: only what they compare, read in four
 * statements, as they are read after each step. How clients and the scheduler read the same rows is
 * compared with it now and then.
 */
#ifndef TEST_SIM_VIEW_H
#define TEST_SIM_VIEW_H

#include "model/batch/job_rows.h"
#include "test/sim/sim.h"

struct view {
    struct sim *m;
    struct cluster *clusters; /* counts: of the nodes below */
    size_t n_clusters;
    struct job *jobs; /* of all groups */
    struct run *runs; /* of each; id 0: it has none */
    size_t n_jobs;
    struct node *nodes;
    size_t n_nodes;
    struct file_server *servers;
    size_t n_servers;
    struct batch_job *works; /* of Azure Batch */
    size_t n_works;
    struct batch_task *tasks; /* name, job_id, states and counts */
    struct run *task_runs;    /* of each; id 0: it has none */
    size_t n_tasks;
    int64_t *chores; /* runs of what jobs do on nodes before and after their tasks */
    size_t n_chores;
    struct allocation *held; /* the live ones */
    size_t n_held;
    unsigned drained;           /* machines, by their number in the inventory */
    int64_t machines[MACHINES]; /* ids of their rows; 0: it has none */
};

/* false: it could not be read, which was noted. */
bool sim_view_read(struct sim *m, struct view *v);
/* NULL: it is gone. */
struct node *sim_view_node(const struct view *v, int64_t id);
/* The number of a node's machine; -1: it is local. */
int sim_view_machine(const struct view *v, const struct node *n);
/* Its machine is drained, or in no inventory. */
bool sim_withheld(const struct view *v, const struct node *n);
/* The same, or its disk has no room, as the daemon has heard. */
bool sim_gets_nothing(const struct view *v, const struct node *n);

/* Whether the cluster shrinks, waits for its jobs to end, and gives this node nothing more to do.
 */
bool sim_empties(const struct view *v, const struct cluster *c, const struct node *n);
/* Calls `each` with every row of a statement; false: it could not be read, which was noted. */
struct sqlite3_stmt;
bool sim_view_rows(struct view *v, const char *sql,
                   void (*each)(struct view *v, struct sqlite3_stmt *s));
/* The same; ?1 of the statement is `after`. */
bool sim_view_rows_after(struct view *v, const char *sql, int64_t after,
                         void (*each)(struct view *v, struct sqlite3_stmt *s));
/* A statement whose rows are complaints: the history fails with each. */
bool sim_view_none(struct view *v, const char *sql);
/* Notes where the storage reads otherwise. */
void sim_view_compare(struct view *v);

/* --- sim_presence.c --------------------------------------------------------------------------- */
void sim_presence_of_trees(struct sim *m);
/* Of all else. */
void sim_presence_check(struct view *v);

/* --- sim_tasks_check.c ------------------------------------------------------------------------ */
void sim_tasks_check(struct view *v);
/* Counts and dependencies are what the rows of tasks say. */
void sim_tasks_compare(struct view *v);
/* Whether all that can end has ended; in `why`, what has not. */
bool sim_tasks_at_rest(struct view *v, char *why, size_t size);
/* The command of a task begins. */
void sim_task_start(struct sim *m, struct thing *t, struct fake_node *n, const char *id);

/* --- sim_usage.c ------------------------------------------------------------------------------ */
/* The record of use. */
void sim_usage_check(struct view *v);

/* --- sim_arrays.c ----------------------------------------------------------------------------- */
/* A task of a run of an array began. */
void sim_array_start(struct sim *m, struct thing *t, struct fake_node *n, const char *id);
/* Whether the state of the job goes with that of one of its runs. */
bool sim_array_agrees(const struct job *j, const struct run *r);
void sim_array_check(struct view *v, const struct job *j, const struct thing *t);

#endif
