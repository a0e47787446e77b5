/* SPDX-License-Identifier: MIT
 *
 * What the files of scheduler/ share. One thread, one loop.
 *
 * Everything that happens becomes a wake-up of an id: a cluster, a job, a node. sched_turn() pops
 * ids and reconciles them: reads the rows, compares with what is in memory, takes the next step.
 * Nothing reconciles from inside a callback; callbacks note what they saw and wake. In memory there
 * is only what the database cannot know: links (struct node_rt) and steps in flight (struct
 * job_run). Both are made from rows, so a start after kill -9 is no special case.
 *
 * Decisions are written first; effects on nodes hang on sched_after_durable(), which carries an id
 * and no pointer, because by then the object may be gone.
 */
#ifndef SCHEDULER_SCHED_PRIV_H
#define SCHEDULER_SCHED_PRIV_H

#include <stdbool.h>
#include <uv.h>

#include "lib/arena.h"
#include "model/failure.h"
#include "nodeagent-proto/login.h"
#include "nodeagent-proto/node.h"
#include "scheduler/idmap.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

/* WAKE_DELETIONS and WAKE_OPERATIONS stand for all of them, with whatever id: each is one pass. */
enum wake_kind {
    WAKE_CLUSTER,
    WAKE_JOB,
    WAKE_NODE,
    WAKE_FILE_SERVER,
    WAKE_LOOK,
    WAKE_DELETIONS,
    WAKE_OPERATIONS,
    WAKE_KINDS
};

/* How long until a write that failed (disk full) is tried again. */
#define WRITE_AGAIN_US 1000000

/* One pending deadline per (kind, id); when it comes, the id is woken. */
struct deadline {
    enum wake_kind kind;
    int64_t id, at_us;
};

struct node_rt;
struct job_run;

/* A machine of the inventory: machines.c. Made at the start for every one, and for those that a
 * node row still names although the inventory does not. drained, reason and the claim repeat the
 * rows; after a rollback they are read again. */
struct machine {
    int64_t id; /* of its row */
    char *name;
    const struct site_machine *site; /* borrowed; NULL: not in the inventory any more */
    bool drained;
    char *reason;       /* why drained */
    int64_t node_id;    /* who has claimed it; 0: free */
    int64_t cluster_id; /* that node's; 0: free */
    int64_t contact_us; /* last contact; 0: never */
    char *facts;        /* node_facts_text(), or NULL */
    char *trouble;      /* why it could not be reached or used when last tried; NULL: none */
};

struct sched {
    struct sched_config cfg; /* strings are ours */
    struct storage *st;      /* borrowed, as are loop and log */
    const struct log *log;
    struct id_map wakes[WAKE_KINDS];
    bool wake_deletions;
    struct deadline *deadlines;
    size_t n_deadlines, cap_deadlines;
    uv_timer_t timer;         /* fires at the earliest deadline */
    struct id_map nodes;      /* struct node_rt *, owned; negative ids: orphaned node roots */
    struct id_map runs;       /* struct job_run *, owned, by job id */
    struct id_map allocating; /* a set: jobs whose allocation is not on disk yet */
    struct id_map servers;    /* struct server_work *, owned, by file server */
    int64_t last_orphan;
    struct id_map looks; /* struct look * that were not answered yet: looks.c */
    int64_t last_look;
    bool looks_ended;
    struct machine *machines; /* owned, in the order of the inventory */
    size_t n_machines;
    struct id_map machine_ids; /* the same, by the ids of their rows */
    int connecting; /* links of machines between open and ready, for site.connect_limit */
    struct node_rt *first_turn, *last_turn; /* those that wait to connect, the oldest first */
    uint64_t random;                        /* state of the generator behind sched_jitter() */
    struct id_map short_clusters;           /* a set: they wait for capacity that others give up */
    int64_t started_us;
    int refs; /* durable callbacks, links, pool work and the timer under way; see sched_stop() */
    bool stopping;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* --- wake.c: wake-ups, deadlines, references ------------------------------------------------ */
void wake(struct sched *s, enum wake_kind kind, int64_t id);
/* Replaces the deadline of (kind, id); at_us 0 removes it. */
void wake_at(struct sched *s, enum wake_kind kind, int64_t id, int64_t at_us);
/* Like wake_at(), but a deadline that comes earlier stays. */
void wake_by(struct sched *s, enum wake_kind kind, int64_t id, int64_t at_us);
/* Arms the timer for the earliest deadline, or for at once if anything is still woken. */
void wake_arm(struct sched *s);
void wake_on_timer(uv_timer_t *t);
bool wake_pending(const struct sched *s);
/* Wakes the clusters that wait for capacity. */
void wake_short_clusters(struct sched *s);
int64_t sched_now(const struct sched *s);
/* 80 to 120 % of `us`: what many do in the same rhythm is spread out. */
int64_t sched_jitter(struct sched *s, int64_t us);

/* Runs `fn` once what was written so far is on disk (`why` NULL) or was rolled back. Not run while
 * stopping: the next start finds in the rows what is to be done. */
typedef void (*sched_effect)(struct sched *s, int64_t id, const struct err *why);
void sched_after_durable(struct sched *s, int64_t id, sched_effect fn);
/* Effects that wake an id, after a rollback a moment later: they look at the rows again. */
void effect_wake_node(struct sched *s, int64_t id, const struct err *why);
void effect_wake_job(struct sched *s, int64_t id, const struct err *why);
void sched_ref(struct sched *s);
void sched_unref(struct sched *s); /* may free s */

/* --- cluster_reconcile.c -------------------------------------------------------------------- */
void cluster_reconcile(struct sched *s, int64_t id);

/* --- node_runtime.c: one node, and what is being done to it --------------------------------- */
enum link_state { LINK_NONE, LINK_OPENING, LINK_READY, LINK_CLOSING };

struct script;
struct node_prep;    /* node_prepare.c */
struct node_exit;    /* node_leave.c */
struct node_release; /* node_release.c */
struct node_watch;   /* node_watch.c */

struct node_rt {
    struct sched *s;
    int64_t id; /* < 0: a node root without a row, to be cleaned */
    int64_t cluster_id;
    struct machine *machine; /* borrowed; NULL: a local node */
    char *name, *root;
    struct node_link *link; /* owned; NULL in LINK_NONE */
    enum link_state link_state;
    int failures;               /* links lost in a row */
    int64_t ready_us, retry_us; /* last hello; not to be opened before */
    int64_t lost_us;            /* machines: since when there is no good link; 0: there is one */
    bool refused;      /* machines: the last link failed for what a person must put right */
    bool let_in;       /* machines: the last link failed only after it had logged in */
    char *why_down;    /* last reason, for errors */
    char *why_told;    /* the reason that the row's errors give; NULL: another failure */
    char *incarnation; /* node_incarnation(), as the last hello said */
    int gpus;
    bool is_root;           /* the agent may mount, make accounts and run tasks as others */
    char *runtimes;         /* node_facts.runtimes */
    char *facts;            /* node_facts_text() of the last hello; NULL: none yet */
    bool swept;             /* no directories of forgotten jobs: node_sweep.c */
    bool greeted;           /* link ready and hello compared with the row */
    bool unusable;          /* the row's state when last looked */
    bool heal;              /* unusable, but prepared again by itself once it can be reached */
    bool reached;           /* the row knows an incarnation: something of ours may be there */
    struct job_run *run;    /* borrowed: the run that has a slot on this node; NULL: none */
    int slot;               /* its index there */
    struct node_prep *prep; /* owned; only while the row is preparing and the link ready */
    struct login *login;    /* owned; a local node's, once somebody asked for it */
    struct node_exit *exit; /* owned; only while the row is leaving and holds no job */
    struct node_release *release; /* owned; the same, of a machine */
    struct node_watch *watch;     /* owned; NULL before the machine was first watched */
    bool connecting;              /* counted in sched.connecting */
    bool waits_turn;
    struct node_rt *prev_turn, *next_turn;
};

struct node_rt *node_rt_find(const struct sched *s, int64_t id);
/* Finds or makes the runtime of a row; opens nothing. */
struct node_rt *node_rt_get(struct sched *s, const struct node *row);
struct node_rt *node_rt_new_orphan(struct sched *s, const char *name);
void node_reconcile(struct sched *s, int64_t id);
/* The node answers, but cannot do what every node can: counts as a lost link. What it held goes on
 * over the next one; not to be called from inside a reply. */
void node_rt_distrust(struct node_rt *rt, const char *why);
/* Closes the link if there is one; the node is woken when it is closed. */
void node_rt_close(struct node_rt *rt);
/* Forgets a node whose link is closed. */
void node_rt_free(struct node_rt *rt);
/* Writes that a node failed (unusable, or leaving anyway) and wakes who needs to know. */
void node_fail(struct node_rt *rt, const struct failure *f);
/* `task` was killed at *since_us (0: found to be now; kept there) and has not ended. True: for
 * longer than it may take; *why says so. False: looked at again by a wake-up of (kind, id). */
bool node_kill_is_overdue(struct node_rt *rt, const char *task, int64_t *since_us,
                          enum wake_kind kind, int64_t id, struct arena *a, struct failure *why);
/* Something on it cannot be ended: closes the link, takes the node from its run, and fails it. */
void node_give_up(struct node_rt *rt, const struct failure *why);
/* At which it is reached from other nodes: the machine's, or loopback. `rt` may be NULL. */
const char *node_rt_address(const struct node_rt *rt);
/* The account that jobs run as there; NULL: the agent's own. */
const char *node_rt_job_user(const struct node_rt *rt);
/* Requests can be sent. */
bool node_rt_usable(const struct node_rt *rt);

/* --- machines.c ------------------------------------------------------------------------------ */
/* Reads and completes the rows; call once, before nodes are looked at. */
int machines_load(struct sched *s, struct arena *a, struct err *e) MUST_CHECK;
void machines_free(struct sched *s);
struct machine *machine_find(const struct sched *s, int64_t id);
/* A free machine for a node of this size and priority, the most promising first; NULL: none. */
struct machine *machine_pick(struct sched *s, const char *vm_size, enum vm_priority priority);
bool machine_serves(const struct machine *m, const char *vm_size, enum vm_priority priority);
/* How many machines could ever serve it, and how many of them are free now. */
void machines_count(const struct sched *s, const char *vm_size, enum vm_priority priority,
                    int *serving, int *free_now);
/* How many that serve it are free and had no trouble when last tried. */
int machines_good(const struct sched *s, const char *vm_size, enum vm_priority priority);
/* Notes who has a machine, beside the node row that says so, or that the node's row is gone. */
void machine_claim(struct machine *m, int64_t node_id, int64_t cluster_id);
void machine_release(struct sched *s, int64_t node_id);
/* Reads again what the rows say of drained machines and claims: something was rolled back. */
void machines_reread(struct sched *s);
void effect_reread_machines(struct sched *s, int64_t id,
                            const struct err *why); /* if rolled back */
/* Writes down the last contact (facts) or the trouble of one. With facts NULL the machine just
 * answered, which is kept in memory only; so is trouble, which any contact ends. */
void machine_contact(struct sched *s, struct machine *m, const struct node_facts *facts);
void machine_trouble(struct machine *m, const char *why);

/* --- node_login.c ---------------------------------------------------------------------------- */
void node_login_close(struct node_rt *rt);

/* --- machine_words.c: what is said of machines ------------------------------------------------ */
/* Why `missing` of the `target` nodes of a cluster cannot be had. Arena-owned. */
const char *machines_shortage(struct sched *s, struct arena *a, const struct cluster *c, int target,
                              int missing);

/* --- node_prepare.c ------------------------------------------------------------------------- */
/* The next step; the link is ready. */
void node_prepare(struct node_rt *rt, const struct node *row);
/* No further step; the preparation is freed with its link. */
void node_prepare_cancel(struct node_rt *rt);
/* Writes down a failure that was noted; false if there is none. */
bool node_prepare_report(struct node_rt *rt);
bool node_prepare_over(const struct node_rt *rt); /* failed or cancelled, not freed yet */
void node_prepare_abandon(struct node_rt *rt);    /* frees it; the link is closed */
void node_prepare_task_ended(struct node_rt *rt, const struct task_status *st);

/* --- node_leave.c --------------------------------------------------------------------------- */
/* The next step of: kill what runs there, close the link, remove the root, remove the row. */
void node_leave(struct node_rt *rt);
/* The link went down in the middle. */
void node_leave_link_down(struct node_rt *rt);
void node_exit_free(struct node_rt *rt);
/* Looks for node roots that no row knows. */
void node_find_orphans(struct sched *s);

/* --- node_release.c ------------------------------------------------------------------------- */
/* Steps that take away from a machine what preparations put there; nothing runs there any more.
 * Texts live in `a`. */
void node_release_steps(struct node_rt *rt, struct arena *a, struct script *sc);

/* --- job_run.c ------------------------------------------------------------------------------ */
void job_reconcile(struct sched *s, int64_t id);
void job_node_ready(struct node_rt *rt); /* a link came up under a run's slot */
void job_node_down(struct node_rt *rt);  /* and went away */
void job_node_gone(struct node_rt *rt);  /* the node was given up */
void job_task_ended(struct node_rt *rt, const struct task_status *st);
void job_run_free(struct job_run *run);
/* Ends a job that holds no nodes: queued -> failed. Wakes its cluster. */
int job_fail_queued(struct sched *s, const struct job *j, const struct failure *f,
                    struct err *e) MUST_CHECK;

/* --- deletion.c ----------------------------------------------------------------------------- */
void deletions_reconcile(struct sched *s);

#endif
