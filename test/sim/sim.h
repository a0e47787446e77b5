/* SPDX-License-Identifier: MIT
 *
 * A history: the core of the daemon (scheduler, storage, model, link codec) in one process against
 * fake nodes, in virtual time, on a disk that loses what was not synced. sim_world.c gives it lives
 * and lets time pass, sim_steps.c makes requests and trouble, sim_check.c looks at what must hold.
 */
#ifndef TEST_SIM_SIM_H
#define TEST_SIM_SIM_H

#include "lib/guid.h"
#include "nodeagent-proto/link/fake.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "storage/folders/files.h"
#include "storage/storage.h"
#include "test/sim/sim_disk.h"
#include "test/sim/sim_loop.h"

#define SECOND      INT64_C(1000000)
#define LOCAL_NODES 12
#define JOB_NODES   3 /* the most that a job asks for */
#define TREES_MAX   3
#define CLUSTERS    4 /* the most that are there at once */
#define THINGS_MAX  192
#define MACHINES    6 /* of the inventory */
#define GPUS        4 /* of every node */

/* An inventory that the daemon has had in this life. */
struct sim_inventory {
    struct site site;
    struct site_machine machines[MACHINES];
    struct sim_inventory *older; /* owned */
};

/* One life of the daemon. */
struct life {
    struct sim *sim;
    struct loop *loop;
    struct node_provider *provider;
    struct sim_disk *disk;
    struct storage *st;
    struct files *files;
    struct batchai_front front;
    struct batch_front batch;
    struct sim_inventory *inventory; /* the present one; owned */
    unsigned missing;                /* machines that are not in it, by bit */
    struct sched *s;
    bool up, closed;
    bool crashed; /* what is told to it counts no more */
};

/* One run of a job that is an array. */
struct array_run {
    char guid[GUID_SIZE]; /* "": it has not begun yet */
    int begun;            /* the newest attempt whose command was started */
};
#define ARRAY_RUNS 4

/* What the history knows of a group (with its workspace and experiment), a cluster, a job, a file
 * server, or a job or task of Azure Batch. */
enum thing_kind { THING_TREE, THING_CLUSTER, THING_JOB, THING_SERVER, THING_WORK, THING_TASK };
/* What jobs and tasks of Azure Batch have beside. */
struct duty {
    char pool[48]; /* of a job */
    int at_once;   /* of a job: so many of its tasks may run; BATCH_UNLIMITED */
    bool depends;  /* its tasks may wait for each other */
    bool alone;    /* a manager that wants its node for itself */
    bool keeps;    /* the pool that was made for a job outlives it */
    bool prepares; /* nodes, before its tasks run there */
    int nodes;     /* of a task: it runs on so many; of a job: at most so many of its tasks' do */
    int slots, retries;   /* of a task: retries: how often it may be tried again */
    struct thing *needs;  /* it waits for this one; NULL: for none */
    int again;            /* how often it was reactivated, as far as is known */
    int starts;           /* of a task's commands: those that its row may know of */
    char guid[GUID_SIZE]; /* of the newest run of which a command began */
    int64_t completed_us; /* as its row says on disk; 0: it is not completed */
};

#define SIM_PROCESSES 16 /* of a job, at most */
struct thing {
    enum thing_kind kind;
    char name[24];
    int64_t id;                    /* of its row; may be another after a crash that lost it */
    int64_t workspace, experiment; /* THING_TREE */
    struct thing *tree;            /* where a cluster or job is; the job of a task of Azure Batch */
    struct thing *cluster;         /* of a job */
    struct thing *server;          /* that a cluster mounts; NULL: none */
    char guid[GUID_SIZE];          /* of a file server */
    bool exported;                 /* by its machine, whatever the daemon knows */
    bool to_export_again; /* its export was ended, and then a backup was put back that has it */
    bool on_machines;     /* a cluster */
    int nodes, priority;  /* of a job */
    bool part;            /* a job that wants a part of each node */
    int runs, at_once;    /* of a job that is an array; 0: it is none; all */
    struct array_run each[ARRAY_RUNS];
    struct thing *awaits; /* a job that this one waits for; NULL: none */
    enum after wanted;
    int starts;        /* of its command, in all */
    bool acknowledged; /* that it was made */
    bool unsure;       /* a crash may have taken it, and its id is another's: not looked at since */
    bool delete_asked;
    bool gone;
    enum exec_state ended; /* seen, and on disk; 0: not seen */
    int attempt;           /* the highest seen */
    bool was_queued;       /* when last looked at, as the next */
    int seen_attempt;
    int processes;                 /* of its toolkit; 0: one command */
    bool by_all;                   /* it has succeeded when all of them have */
    bool last_fails;               /* they have not */
    unsigned began[SIM_PROCESSES]; /* those of the newest attempt: hashes of their names */
    int n_began;
    int begun; /* the newest attempt whose command was started; where */
    const struct fake_node *last_node;
    int last_troubles; /* fake_troubles_over() there and then: a node that is down when the command
                          starts may be taken for lost */
    int64_t waits_since; /* at the head of its queue, with idle nodes enough; 0: it does not */
    struct duty duty;    /* of jobs and tasks of Azure Batch */
};

/* The newest event of a resource that was seen. */
struct link_of_chain {
    int kind, to;
    int64_t id;
};

struct view; /* sim_view.h */

/* How commands that mount a share end, anywhere. */
enum sim_share { SHARE_MOUNTS, SHARE_FAILS, SHARE_HANGS };

struct sim {
    uint64_t seed;
    struct sim_time t;
    struct log log;
    struct loop *nodes_loop;
    struct fake_nodes *fake;
    struct life *life;
    struct thing *things[THINGS_MAX];
    int n_things, n_made;
    struct sim_disk *backup; /* NULL: none was made */
    struct thing *in_backup; /* what the history knew then */
    int n_in_backup;
    int64_t latest_wall_us; /* that the daemon has seen */
    struct looked {         /* when sim_check() last looked */
        int64_t turns;      /* of this life: committed or lost; 0: not yet */
        bool pending, waits;
    } looked;
    struct events_seen { /* of this life */
        int64_t last, rollbacks;
        struct link_of_chain *chain;
        size_t n, cap;
    } events_seen;
    unsigned missing;  /* machines that the next inventory lacks, by bit */
    unsigned withheld; /* those that were drained or missing when last looked at */
    enum sim_share share;
    int step;
    bool was_full; /* once in this history */
    bool disk_full;
    bool exporter_trouble;     /* there was some: exports may be left behind */
    int64_t writes_fail_until; /* after a full disk, what failed is tried again a moment later */
    uint64_t trace;            /* hash of what happened */
    long events, crashes;
    char failure[600]; /* what did not hold; "" */
    struct arena a;    /* of one check or step */
};

/* --- sim_world.c ------------------------------------------------------------------------------ */
/* Makes the template database. Once. */
void sim_prepare(void);
void sim_begin(struct sim *m, uint64_t seed);
void sim_end(struct sim *m);
/* Runs what is due until `us` from now. */
void sim_pass(struct sim *m, int64_t us);
/* The daemon is killed, what is not on disk is lost, and it starts again. */
void sim_crash(struct sim *m);
/* It stops in order and starts again. */
void sim_restart(struct sim *m);
/* A copy of its database is made; the daemon stops, and starts with that copy in the place of what
 * it had: nodes have gone on. */
void sim_backup(struct sim *m);
void sim_restore(struct sim *m);
/* The first that is noted counts. */
void sim_fail(struct sim *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool sim_failed(const struct sim *m);
/* Adds to the trace, and to the log. */
void sim_trace(struct sim *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The daemon's call cannot fail but for a full disk; then nothing has happened. */
bool sim_ok(struct sim *m, int rc, const struct err *e, const char *what);
struct thing *sim_thing_new(struct sim *m, enum thing_kind kind, const char *prefix);
struct thing *sim_thing_by_name(const struct sim *m, const char *name);
/* Notes that it was made, once that is on disk. */
void sim_when_acknowledged(struct sim *m, struct thing *t);

/* --- sim_steps.c ------------------------------------------------------------------------------ */
void sim_add_tree(struct sim *m);
void sim_step(struct sim *m);
/* One of those that a client would use; NULL: there is none. And how many there are. */
struct thing *sim_pick(struct sim *m, enum thing_kind kind);
int sim_count(const struct sim *m, enum thing_kind kind);
void sim_ask_delete(struct sim *m, struct thing *t);
/* Puts right all that is wrong, and makes room for all that waits. */
void sim_heal(struct sim *m);
void sim_make_room(struct sim *m);
/* All clusters become empty. */
void sim_make_empty(struct sim *m);
/* What people do about nodes with a task that did not die: all are let go, and others made. */
void sim_renew(struct sim *m);

/* --- sim_docs.c ------------------------------------------------------------------------------- */
/* The document of a job whose name and nodes are set; it gets its processes. */
const char *sim_job_doc(struct sim *m, struct thing *t, int wall_s);

/* --- sim_check.c ------------------------------------------------------------------------------ */
void sim_check(struct sim *m);
/* After sim_heal(): whether all that can end has ended. Says what has not. */
bool sim_at_rest(struct sim *m, const char **what);
/* A task began on a node. */
void sim_check_start(struct sim *m, struct fake_node *n, const char *id, const char *command);
/* A node restarts because it was asked to. */
void sim_check_reboot(struct sim *m, struct fake_node *n);

/* --- sim_turns.c ------------------------------------------------------------------------------ */
/* Whoever is given nodes is looked at from now on. */
void sim_turns_begin(struct sim *m);
/* No dedicated cluster is short of machines that are lent. */
void sim_turns_check(struct view *v);

/* --- sim_events.c ----------------------------------------------------------------------------- */
/* Events in order: each goes on where the one before of its resource ended. */
void sim_events_check(struct view *v);
/* None is left of what is gone. */
void sim_events_check_pruned(struct view *v);
/* Another life: all are read anew. */
void sim_events_forget(struct sim *m);

/* --- sim_site.c: machines, shared nodes, shares ----------------------------------------------- */
#define MACHINE_ROOT "/root"
/* Machines of this size are in the inventory; local nodes may have it too, where there are none. */
#define MACHINE_SIZE "STANDARD_NC6"
#define LOCAL_SIZE   "STANDARD_D1"
/* Makes the inventory of a new life, or replaces that of the present life. */
void sim_inventory_new(struct life *l);
void sim_inventory_replace(struct sim *m);
void sim_inventory_free(struct life *l);
const char *sim_machine_name(int i);
/* -1: it is none of ours. */
int sim_machine_index(const char *name);
/* Whether the site wants backfill in this cluster: its patterns, and what they mean. */
extern const char *const sim_backfill[];
#define SIM_BACKFILL 2
bool sim_backfills(const char *cluster);
/* What tasks do; of a command that mounts, as the share is now. */
void sim_plan_task(void *ctx, const struct fake_node *node, const struct task_spec *spec,
                   struct fake_task *out);

/* --- sim_servers.c: file servers, all exported by one machine --------------------------------- */
extern const struct site_file_server_rule sim_server_rule;
void sim_add_server(struct sim *m);
void sim_delete_server(struct sim *m);
/* The document of a cluster whose nodes mount it. */
const char *sim_server_mount(struct sim *m, const struct thing *server);
/* Whether it is the agent that exports. */
bool sim_is_exporter(const struct fake_node *n);
bool sim_exporter_missing(const struct sim *m);
/* A command began anywhere: it may export, or mount what is exported. */
void sim_server_command(struct sim *m, const char *id, const char *command);
/* What is said to be served is exported. */
void sim_servers_check(struct view *v);
/* Whether all are made or gone; in `why`, what is not. Exports of those that are gone are ended. */
bool sim_servers_at_rest(struct view *v, char *why, size_t size);
/* People delete the clusters that mount what cannot be mounted any more. */
void sim_servers_heal(struct sim *m);

/* --- sim_pools.c: pools of Azure Batch -------------------------------------------------------- */
void sim_add_pool(struct sim *m);
void sim_change_pool(struct sim *m);
/* A pool that has its size has no more nodes than that. */
void sim_pools_check(struct sim *m);
/* One that is active; NULL: there is none. */
const struct batch_pool *sim_any_pool(struct sim *m);
/* After a time in which all resizes and formulas were carried out: whether they were. */
void sim_pools_settle(struct sim *m);
/* Gives each active pool so many nodes, and takes away its formula. */
void sim_pools_resize(struct sim *m, int nodes);
/* All become empty, and some go. */
void sim_pools_heal(struct sim *m);
/* Whether they are; in `why`, which is not. */
bool sim_pools_at_rest(struct sim *m, char *why, size_t size);

/* --- sim_tasks.c: jobs and tasks of Azure Batch ----------------------------------------------- */
void sim_add_work(struct sim *m);
void sim_add_tasks(struct sim *m);
void sim_add_rivals(struct sim *m);
void sim_change_work(struct sim *m);
void sim_change_task(struct sim *m);
/* Asks for the deletion of a job or a task of Azure Batch. */
void sim_delete_duty(struct sim *m, struct thing *t);
/* With nodes for all, every task ends; then some jobs are deleted. */
void sim_tasks_heal(struct sim *m);

/* --- sim_frames.c ----------------------------------------------------------------------------- */
/* Of one history. as_text: frames are JSON text, as on a real link. */
void sim_frames_begin(bool as_text);
void sim_frames_end(void);

/* --- sim_history.c ---------------------------------------------------------------------------- */
/* Runs one history; true: all held. */
bool sim_history(struct sim *m, uint64_t seed, int steps, bool frames_as_text);

#endif
