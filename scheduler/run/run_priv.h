/* SPDX-License-Identifier: MIT
 *
 * A run in memory: one attempt, from its allocation to the release of its nodes.
 *
 *   RUN_ACTIVE -> RUN_STOPPING -> RUN_KILLING -> RUN_SAVING -> RUN_ENDING -> RUN_ENDED
 *                                                                         -> RUN_CLEANING
 *
 *   ACTIVE    its nodes are prepared, its command runs
 *   STOPPING  SIGTERM was sent, the grace period runs
 *   KILLING   SIGKILL was sent, until each node confirms
 *   SAVING    its output is uploaded from its node
 *   ENDING    the end must be written
 *   ENDED     the end is written, and not yet on disk
 *   CLEANING  its remains are killed, unmounted and removed; then the nodes are released
 *
 * Phases only go to the right, and skip unneeded ones: a run whose command ended by itself goes
 * from ACTIVE to ENDING; a run that is requeued or deleted, from there to CLEANING. There is one
 * step to the left: a run that was to be requeued is terminated during its cleaning.
 *
 * make.c makes it; run.c takes the next step; report.c receives reports of its nodes; steps.c sends
 * the requests of start and cleaning, stop.c ends tasks; word.c knows which tasks were reported;
 * verdict.c makes outcomes; end.c writes the end.
 */
#ifndef SCHEDULER_RUN_RUN_PRIV_H
#define SCHEDULER_RUN_RUN_PRIV_H

#include "lib/idmap.h"
#include "scheduler/fleet/container/container.h"
#include "scheduler/fleet/mount/mounts.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/fleet/node/room.h"
#include "scheduler/fleet/script/script.h"
#include "scheduler/run/launch/env.h"
#include "scheduler/run/launch/launch.h"
#include "scheduler/run/runs.h"
#include "storage/storage.h"

struct runs {
    struct fleet *fleet; /* borrowed, as are the next four */
    struct wakes *wakes;
    struct storage *st;
    const struct log *log;
    const struct fronts *fronts;
    int kept_outputs;
    const struct runs_events *events;
    void *events_ctx;
    struct id_map map;                       /* struct live_run *, owned, by run id */
    struct id_map allocating;                /* a set: runs whose allocations are not on disk yet */
    struct run_wait_tally waits[FRONTS_MAX]; /* one for each front, in the order of fronts->all */
    struct terminal *terminals;              /* owned */
};

static inline const struct front *front_of_run(const struct runs *rs, const struct run *r)
{
    return front_of(rs->fronts, r->owner_kind);
}

/* Calls the callbacks of struct runs_events. */
static inline void runs_tell_over(const struct runs *rs, int64_t pool_id)
{
    rs->events->run_over(rs->events_ctx, pool_id);
}

static inline void runs_tell_deletion(const struct runs *rs)
{
    rs->events->deletion_goes_on(rs->events_ctx);
}

enum run_phase {
    RUN_ACTIVE,
    RUN_STOPPING,
    RUN_KILLING,
    RUN_SAVING,
    RUN_ENDING,
    RUN_ENDED,
    RUN_CLEANING
};

/* In rising order of force: until an outcome is written, a later outcome replaces an earlier
 * one. */
enum outcome_kind {
    OUT_NONE,
    OUT_SUCCEEDED,
    OUT_FAILED,
    OUT_REQUEUE,
    OUT_STOPPED, /* terminated by the user */
    OUT_REMOVE   /* deleted: no end is written, the row is removed */
};

struct run_outcome {
    enum outcome_kind kind;
    struct failure why; /* the reason of OUT_FAILED, OUT_STOPPED and OUT_REQUEUE */
    bool has_exit_code;
    int exit_code;
    bool retry;       /* OUT_REQUEUE: the run has failed, and its user wants a retry */
    int64_t grace_us; /* between SIGTERM and SIGKILL (us); 0: SIGKILL at once */
};

enum run_task_state {
    RT_NOT_SENT,
    /* The task may be running. After a restart of the daemon all tasks are in this state, until a
     * node reports that it does not run them. */
    RT_SENT,
    RT_OVER
};

struct run_task {
    const struct launch_process *process; /* its process in the plan */
    const char *id, *step;
    enum run_task_state state;
    bool good; /* RT_OVER only: it exited with 0 */
    /* RT_OVER only: its end was not judged, because the start on its node has failed */
    bool unjudged;
    /* RT_OVER only: how it ended, to be judged together with the run's other ends (word.c); NULL:
     * it is judged, or need not be */
    const struct task_status *end;
    bool counted; /* what it used is in the sum of its slot */
    bool asked;   /* RT_SENT only: the request was sent over the present link */
    /* RT_SENT only: the node has reported over the present link that it runs */
    bool runs;
    struct run_prep *part; /* a preparation's end that was not reported to the front yet; or NULL */
};

enum slot_state {
    SLOT_WAITING, /* the slot waits for the link to its node */
    SLOT_STARTED, /* requests for directories, mounts and preparation were sent */
    SLOT_CLEANING,
    SLOT_CLEAN,
    SLOT_GONE /* the node was given up: no more work there */
};

/* A node of the run. */
struct run_slot {
    struct live_run *run;
    struct node_tenant tenant; /* detached once SLOT_GONE */
    int64_t node_id;
    const char *node_name, *root;
    struct capacity takes;      /* what the run takes of the node */
    struct usage_measured used; /* what its ended tasks used */
    /* the part of `used` that no node reports again; it is in the row of the allocation */
    struct usage_measured kept;
    bool summed; /* `used` was read from the row, which has the usage of all tasks */
    /* average busy and idle time of each of its GPUs (us), from samples */
    int64_t busy_us, idle_us;
    /* the part of busy_us + idle_us that is in the row of the allocation */
    int64_t noted_us;
    const char *devices;     /* its GPUs; NULL: all */
    const char *task_prefix; /* prefix of the ids of its tasks; from the allocation */
    int rank;
    enum slot_state state;
    int pending;           /* requests without a reply, except the script's */
    int forgetting;        /* pending requests of slot_forget_task() */
    struct script *script; /* the steps of the start, then of the cleaning; NULL before */
    bool begun;            /* the slot's first line is in the run's log */
    bool has_inputs;       /* the node has the run's task, so the input files are there */
    bool saving;           /* `script` uploads the run's output */
    bool records_stay;     /* its node was cleaned, but has not forgotten the run's tasks */
    bool entered; /* a terminal was opened there: its socket for remote commands is kept open */
    /* a terminal was opened there, perhaps before a restart of the daemon: its socket is removed */
    bool visited;
    int64_t killing_us; /* since when the end of a killed task is awaited (monotonic); 0: no kill is
                           pending */
    int64_t kill_again_us; /* the node refused: when SIGKILL is sent again; 0: it did not refuse */
    int64_t kill_pause_us; /* pause between the last two SIGKILLs (us) */
    const char *kill_refused; /* reason of the node's last refusal over this link; NULL: none */
    bool has_error;
    struct failure error; /* a failed request; kept while the link holds */
    int64_t error_us;     /* when the error was recorded (monotonic); 0: no node was asked */
    bool nodes_fault;     /* the error concerns the node, not the run */
    /* errors of the node (nodes_fault) while its tasks may have been running */
    int refusals;
    struct launch_env env; /* in the run's arena */
    struct arena a;        /* data for requests over one link: the script, requests */
    struct mount_secret *secrets;
    const char *sudo_dir; /* the directory with the administrator's `sudo`; in the run's arena;
                             NULL: none */
    struct container container; /* runtime NULL: no container, or not yet */
    /* output of the container's start; NULL: it has not started, or the front has its id */
    const char *container_said;
    /* tasks of remote commands that were requested over one link and have not ended; owned */
    struct run_far_end *far_ends;
    int n_far_ends;
    int n_failed_far_ends; /* how many such tasks have failed over this link */
};

struct live_run {
    struct runs *runs;
    const struct front *front; /* the front that owns the run */
    struct arena a;
    struct run row; /* the run's row at the last read */
    const char *name;
    const char *dir;  /* the directory of this attempt, below each node's <root>/RUNS_DIR */
    int64_t began_us; /* when its time began (monotonic); after a restart computed from the row */
    int64_t held_us;  /* since when it has its nodes, on the monotonic clock */
    bool deleting;    /* the run's row is to be removed */
    bool held;        /* RUN_ACTIVE: its front does not let it begin yet */
    bool awaits;      /* RUN_ACTIVE: mounts_await() delays a slot, and will wake the run */
    /* the daemon was restarted, and the nodes have not reported all tasks of the run since */
    bool resumed;
    struct run_spec spec;
    struct run_slot *slots;
    int n_slots;
    struct launch_plan plan;
    struct run_task *tasks; /* an array: one entry for each process of the plan */
    size_t n_tasks;
    enum run_phase phase;
    struct run_outcome out;
    /* RUN_ACTIVE: the first task whose command could not be started (NULL: none), why, and since
     * when this is known (monotonic). */
    const struct run_task *unstarted;
    struct failure unstarted_why;
    int64_t unstarted_us;
    bool has_lost; /* RUN_ACTIVE: a task vanished; the pool's rule has not been applied yet */
    struct failure lost;
    /* RUN_ACTIVE: since when its user has requested its end; 0: the user has not */
    int64_t asked_us;
    /* RUN_ACTIVE, if its user has requested its end: when that end begins; 0: at once */
    int64_t stop_us;
    int64_t kill_us; /* RUN_STOPPING: when SIGKILL follows */
    /* RUN_ACTIVE: since when the daemon knows that the time limit has passed, while the nodes have
     * not reported which tasks run; 0: it has not passed */
    int64_t late_us;
    bool noting_late; /* RUN_ACTIVE: the write that its time limit has passed is not on disk yet */
};

static inline const struct front_words *words_of(const struct live_run *run)
{
    return run->front->words;
}

/* --- phases.c -------------------------------------------------------------------------------- */
/* Whether the run's outcome is in its row. */
bool run_has_verdict(const struct run *r);
bool run_may_go(enum run_phase from, enum run_phase to);
bool slot_may_go(enum slot_state from, enum slot_state to);
/* The only functions that change phase and state after a run is made. */
void run_go(struct live_run *run, enum run_phase to);
void slot_go(struct run_slot *slot, enum slot_state to);
/* Asserts the invariants of a run between its turns. */
void run_check(const struct live_run *run);

/* --- tally.c -------------------------------------------------------------------------------- */
/* Adds the time that the run has waited to the counts, when its attempt begins. */
void runs_note_wait(struct runs *rs, const struct run *r);

/* --- make.c --------------------------------------------------------------------------------- */
/* The nodes of a run and the run's allocation on each of them; both are ordered by rank. */
struct run_held {
    struct node *nodes;
    struct allocation *parts;
    size_t n;
};
/* Reads the run's nodes and allocations. out->n is 0 if the run has no nodes. */
int run_find_held(struct runs *rs, struct arena *a, const struct run *r, struct run_held *out,
                  struct err *e) MUST_CHECK;
/* Makes a run that has nodes. */
struct live_run *run_make(struct runs *rs, const struct run *row, const struct run_held *h);
/* Reads the run's time limit and retries again. */
int run_read_limits(struct live_run *run, struct err *e) MUST_CHECK;
void live_run_free(struct live_run *run);

/* --- step.c ----------------------------------------------------------------------------------- */
/* The number of GPUs in the allocation's row, so that a resumed run has as many as before. Rows
 * from before nodes had a capacity lack the number; then it is the number of the node's GPUs. */
int slot_gpus(const struct run_slot *slot);
/* What the launcher must be told about the run; in the arena. */
struct launch_input run_launch_input(struct live_run *run);

/* --- report.c ------------------------------------------------------------------------------- */
extern const struct node_tenant_events run_tenant_events;

/* --- run.c ---------------------------------------------------------------------------------- */
void run_reconcile(void *ctx, int64_t id); /* for wakes_handle() */
/* For wakes_handle_refused(): the run fails with this reason. */
void run_refused(void *ctx, int64_t id, const struct err *why);

/* --- steps.c: requests to the nodes ----------------------------------------------------- */
/* The prefix of the ids of all tasks of this attempt on this node. In the arena. */
const char *slot_task_prefix(const struct run_slot *slot);
/* The account that owns the run's processes and files on the node; in the arena. */
const char *slot_account(const struct run_slot *slot, struct arena *a);
/* How tasks see the volumes of the run's pool: at their paths of the real service; empty if there
 * are no volumes. */
struct task_view slot_view(const struct run_slot *slot, struct arena *a);
/* Makes the slot's environment and script, and adds the step that takes slot_account() on the node.
 * False: the environment could not be made. */
bool slot_ready(struct run_slot *slot);
void slot_run_script(struct run_slot *slot);
/* Call when there is a new link. All requests over the former link have been answered. */
void slot_forget_link(struct run_slot *slot);
void slot_start(struct run_slot *slot);
/* Handles the progress of the start: records its failure, or sends the preparation. */
void slot_advance(struct run_slot *slot);
/* Sends the preparation of a node that had to wait for its mounts. */
void slot_send_prep(struct run_slot *slot);
/* Call when every node is prepared: sends the processes of the run. It may be called again. */
void run_send_main(struct live_run *run);
bool run_prepared(const struct live_run *run);
void slot_clean(struct run_slot *slot);
/* Whether its node keeps the run's directory because it contains output: see outputs.h. */
bool slot_keeps(struct run_slot *slot);
bool slot_cleaned(const struct run_slot *slot);
/* Call when the slot's volumes are unmounted, or its node was given up. */
void slot_mounts_over(struct run_slot *slot);

/* Names of steps in the run's log: for front_text(). */
#define WRITE_LOG "write {log}.log"

/* --- shared_dir.c --------------------------------------------------------------------------- */
/* The site's directory that all machines see; NULL: none. */
const char *run_shared_root(const struct runs *rs);
/* Whether the nodes' common directory is in run_shared_root(). The slot's environment is not
 * needed. */
bool slot_shares_outside(const struct run_slot *slot);
/* Add steps. shared_dir_make(): make the directory. shared_dir_mount(): if the site has no common
 * directory, mount that of the first node when the way to the other nodes is open.
 * shared_dir_remove(): remove the files that the run's account on this node may remove; the last
 * node removes the rest. */
void shared_dir_make(struct run_slot *slot, const char *as);
void shared_dir_mount(struct run_slot *slot, const char *as);
void shared_dir_remove(struct run_slot *slot);

/* --- save.c ---------------------------------------------------------------------------------- */
/* Whether a run with this outcome must upload its output. */
bool run_saves(const struct live_run *run);
/* Takes the next step of RUN_SAVING. True: the upload is over, and run->out has the result; false:
 * it continues. */
bool run_save(struct live_run *run);

/* --- stop.c ------------------------------------------------------------------------------- */
/* Signals every task that may run, on every reachable node. */
void run_signal(struct live_run *run, int signo);
void slot_signal(struct run_slot *slot, int signo);
bool run_tasks_over(const struct live_run *run);
/* Gives up nodes on which a task does not die, and asks nodes again that refused to kill a task. */
void run_check_kills(struct live_run *run);

/* The most attempts of a run whose nodes fail again and again. */
#define ATTEMPTS_MAX 10

/* --- end.c ------------------------------------------------------------------------------- */
/* RUN_ENDING: writes the end of the run. RUN_ENDED follows; if the write fails, it is tried again
 * later. */
void run_write_end(struct live_run *run);
/* Releases the nodes (and requeues the run, if that is its outcome), and frees the run; if the
 * write fails, tries again later. */
void run_release(struct live_run *run);

/* Whether the node is there, but the task vanished from it. */
static inline bool task_is_lost(const struct task_status *st)
{
    return st->state == TASK_LOST || st->state == TASK_UNKNOWN;
}

/* --- word.c: what nodes have reported of the run's tasks -------------------------------------- */
/* Whether a run past its time limit still waits for its nodes' reports. */
bool run_awaits_word(struct live_run *run);
/* Keeps the end of a task of a resumed run for run_kept_end(). */
void run_keep_end(struct live_run *run, struct run_task *task, const struct task_status *st);
/* The task of a resumed run whose kept end decides; NULL: none decides, or not yet. */
struct run_task *run_kept_end(struct live_run *run);
/* Adds what an ended task used on the node. */
void slot_note_use(struct run_slot *slot, const struct task_status *st);
/* Does the same for a task that the node forgets before the run ends. A restart of the daemon would
 * lose this usage, so it is written to the allocation's row now. */
void slot_keep_use(struct run_slot *slot, const struct task_status *st);

/* --- verdict.c: the effect of an event on the run --------------------------------------------- */
void run_set_outcome(struct live_run *run, const struct run_outcome *out);
/* Judges a finished task; preparations are reported to the front in the run's next turn. */
void verdict_task(struct live_run *run, struct run_task *task, const struct task_status *st);
/* Judges the error of a slot: a request to its node failed. */
void verdict_slot_error(struct live_run *run, struct run_slot *slot);
/* Judges the task whose command could not be started (struct live_run's unstarted), if there is
 * one. */
void verdict_unstarted(struct live_run *run);
/* Checks whether the row or the nodes require the run's end; reads the database. */
int verdict_rows(struct live_run *run, struct arena *a, struct err *e) MUST_CHECK;

#endif
