/* SPDX-License-Identifier: MIT
 *
 * Jobs and tasks of Azure Batch as typed rows, and their states. The numbers of the enums are in
 * databases: never renumber, only append. As in model/resource.h, texts are borrowed, instants are
 * microseconds since 1970 with 0 for "not yet", and `doc` is canonical JSON.
 */
#ifndef MODEL_BATCH_JOB_ROWS_H
#define MODEL_BATCH_JOB_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/enums.h"
#include "model/resource.h"
#include "model/usage.h"

enum batch_job_state {
    BATCH_JOB_ACTIVE = 1,
    BATCH_JOB_DISABLING = 2,
    BATCH_JOB_DISABLED = 3,
    BATCH_JOB_ENABLING = 4,
    BATCH_JOB_TERMINATING = 5,
    BATCH_JOB_COMPLETED = 6,
    BATCH_JOB_DELETING = 7
};
enum batch_task_state {
    BATCH_TASK_ACTIVE = 1,
    BATCH_TASK_PREPARING = 2, /* the job's preparation task runs on its node */
    BATCH_TASK_RUNNING = 3,
    BATCH_TASK_COMPLETED = 4
};
enum batch_result { BATCH_RESULT_NONE = 0, BATCH_SUCCESS = 1, BATCH_FAILURE = 2 };
/* What happens to the running tasks of a job when a user disables the job. */
enum batch_disable {
    BATCH_DISABLE_REQUEUE = 1,
    BATCH_DISABLE_TERMINATE = 2,
    BATCH_DISABLE_WAIT = 3
};
enum batch_on_all { BATCH_ALL_NO_ACTION = 1, BATCH_ALL_TERMINATE = 2 };
enum batch_on_failure { BATCH_FAILURE_NO_ACTION = 1, BATCH_FAILURE_EXIT_OPTIONS = 2 };
/* What happens to a task after its run has been ended. */
enum batch_fate {
    BATCH_FATE_OWN = 0,       /* the task ends with the run, with the run's result */
    BATCH_FATE_REQUEUE = 1,   /* the task becomes active again and waits for a node */
    BATCH_FATE_TERMINATE = 2, /* the task becomes completed, because a user terminated it */
    BATCH_FATE_DELETE = 3,    /* the task is removed */
    BATCH_FATE_AGAIN = 4      /* the task becomes completed, because a user terminated it, and then
                                 active again, because a user has reactivated it since */
};
/* The state of a task's files on its node. */
enum batch_files {
    BATCH_FILES_NONE = 0, /* it never ran */
    BATCH_FILES_THERE = 1,
    BATCH_FILES_CLEANED = 2 /* removed, because their retention time was over */
};

extern const struct enum_name batch_job_state_names[], batch_task_state_names[],
    batch_result_names[], batch_disable_names[], batch_on_all_names[], batch_on_failure_names[];

/* Tasks that a job runs on each of its nodes: the preparation task before the job's first task on
 * the node, the release task after the end of the job. */
enum batch_chore_kind { BATCH_PREPARATION = 1, BATCH_RELEASE = 2 };
enum batch_chore_state { BATCH_CHORE_RUNNING = 1, BATCH_CHORE_COMPLETED = 2 };

/* No limit on parallel tasks. */
#define BATCH_UNLIMITED (-1)
#define BATCH_ID_MAX    64

/* The lifetime of an automatic pool; 0: none. */
enum batch_auto_life { BATCH_AUTO_OF_JOB = 1, BATCH_AUTO_OF_SCHEDULE = 2 };

/* Properties of a job's manager task, as bits. */
enum batch_manager {
    BATCH_MANAGES = 1,
    BATCH_MANAGER_ENDS_JOB = 2,  /* the job ends when this task ends */
    BATCH_MANAGER_ALONE = 4,     /* no other task runs on its node */
    BATCH_MANAGER_OWN_CLASS = 8, /* it does not run on low-priority nodes */
    BATCH_MANAGER_ALL = 15
};

struct batch_job {
    int64_t id, account_id;
    const char *name;
    const char *doc, *created_by;
    enum batch_job_state state, was; /* was: the previous state; 0: none */
    int64_t state_us, was_us;        /* when the present and the previous state began */
    int64_t created_us;
    int64_t updated_us; /* the last write of a user: for its ETag */
    int64_t start_us, end_us;
    int64_t limit_us;      /* its time limit; 0: none */
    const char *pool_name; /* the pool of its tasks; "": no pool yet */
    int priority;          /* -1000 to 1000 */
    int max_parallel;      /* the most tasks that may run at once, or BATCH_UNLIMITED */
    bool depends;          /* its tasks may depend on each other */
    bool prepares;         /* it has a preparation task */
    enum batch_auto_life auto_life;
    enum batch_on_all on_all;
    enum batch_on_failure on_failure;
    enum batch_disable disable; /* 0 unless the job is being disabled */
    const char *reason;         /* why it was terminated; NULL: it was not */
    const char *failure;        /* its schedulingError as JSON text; NULL: none */
    int64_t schedule_id;        /* the schedule that made it; 0: none */
    int number; /* its number among the jobs of its schedule, from 1; without a schedule 1 */
};

/* The number of a job's tasks in each state; triggers update it. */
struct batch_counts {
    int64_t active, running, succeeded, failed;
    int64_t active_slots, running_slots, succeeded_slots, failed_slots;
    /* Sums over ended tasks: run time, wait time, and retries. */
    int64_t wall_us, wait_us, retries;
    struct usage_measured used; /* without memory */
};

/* A job that may not use some nodes of its pool. */
struct batch_barred {
    int64_t id;
    int priority;
    bool has_left;  /* the pool has nodes in service that the job may use */
    bool ready;     /* has a task that may get a run */
    int64_t queued; /* the number of tasks whose run waits for nodes */
};

/* How many tasks have ended on a node. */
struct batch_node_total {
    int64_t ended, succeeded;
};

struct batch_task {
    int64_t id, job_id;
    const char *name;
    const char *doc;
    enum batch_task_state state, was;
    int64_t state_us, was_us, created_us, updated_us;
    int slots;     /* how many slots it takes on each of its nodes */
    int instances; /* how many nodes it needs */
    int64_t start_us, end_us;
    bool has_exit_code;
    int exit_code;
    enum batch_result result;
    int retries, requeues; /* how often it was tried again after a failure, and for other reasons */
    int64_t retry_us, requeue_us; /* the instants of the last retry and of the last requeue */
    const char *failure;          /* its failureInfo as JSON text; NULL: it has not failed */
    struct container_seen container;
    const char *pool_name; /* its last pool; NULL: it never ran */
    const char *node_name;
    bool fed;       /* the core has a run for it */
    int waits;      /* the number of its open dependencies */
    bool satisfies; /* its completion satisfies dependent tasks */
    enum batch_fate fate;
    enum batch_files files;
    int64_t files_until_us; /* when its files are removed; 0: when the task is removed */
    int64_t emptied;        /* the value of nd->emptied when the task got its node */
    unsigned manager;       /* enum batch_manager; 0: not a manager task */
    /* Copied from the row of its job: */
    const char *job_name;
    int job_number;
    int64_t account_id;
};
/* True: the node has lost the task's files since the task got the node. */
static inline bool batch_files_lost(const struct batch_task *t, const struct node *nd)
{
    return t->emptied != nd->emptied;
}

/* A preparation or release task of a job on one node. */
struct batch_chore {
    int64_t id, job_id;
    enum batch_chore_kind kind;
    const char *pool_name, *node_name;
    int64_t node_id; /* 0: the node is gone */
    int64_t up_us;   /* nd->state_us when the task began: since when the node had been ready; 0: the
                        node was wiped since */
    enum batch_chore_state state;
    int64_t start_us, end_us;
    bool has_exit_code;
    int exit_code;
    enum batch_result result;
    int retries;
    int64_t retry_us;
    const char *failure; /* its failureInfo as JSON text; NULL: it has not failed */
    struct container_seen container;
    /* Copied from the row of its job: */
    const char *job_name;
    int job_number;
};

/* The part of a task with several nodes that runs on one of its further nodes. The first node runs
 * the task itself. */
struct batch_subtask {
    int64_t id, task_id;
    int number; /* the number of its node among the task's nodes, from 1; the first node is 0 */
    const char *node_name;
    int64_t emptied; /* as in struct batch_task */
    enum batch_task_state state, was;
    int64_t state_us, was_us, start_us, end_us;
    bool has_exit_code;
    int exit_code;
    enum batch_result result;
    const char *failure; /* its failureInfo, as in struct batch_task */
    struct container_seen container;
};

#endif
