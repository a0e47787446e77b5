/* SPDX-License-Identifier: MIT
 *
 * A node, and the work in progress on it. runtime.c compares rows with memory.c and takes the next
 * step by watch.c (health), prepare.c, sweep.c, and leave.c and release.c (the end). All these use
 * connect.c (the link). connect.c reports to them through struct node_work and calls none of them
 * directly.
 */
#ifndef SCHEDULER_FLEET_NODE_NODE_PRIV_H
#define SCHEDULER_FLEET_NODE_NODE_PRIV_H

#include "scheduler/fleet/fleet_priv.h"
#include "scheduler/fleet/node/room.h"
#include "scheduler/fleet/script/script.h"

/* Longest text (bytes) of a health problem or of a reason to drain. */
#define NODE_REASON_MAX 1024

/* For front_text(). */
#define NODE_HANGS_REMEDY                                                                          \
    "check what its processes wait for (a dead mount, a driver) or reboot the machine, "           \
    "then resize the {pool} or undrain the machine"

/* How often a machine is asked at most for one reboot: the first request may be lost. */
#define REBOOTS_MAX 2

enum connection_state { CONNECTION_NONE, CONNECTION_OPENING, CONNECTION_READY, CONNECTION_CLOSING };

/* The state and history of the link: connect.c. */
struct node_contact {
    struct node_link *link; /* owned; NULL in CONNECTION_NONE */
    enum connection_state state;
    bool greeted;     /* CONNECTION_READY, and hello was compared with the row */
    int failures;     /* links lost in a row */
    int64_t hello_us; /* the last hello by the wall clock, to be shown; 0: none */
    /* monotonic: the last hello; the instant before which no link is opened */
    int64_t ready_us, retry_us;
    int64_t lost_us;   /* monotonic: since when there is no good link; 0: there is one */
    int64_t losing_us; /* time from lost_us to the last loss */
    /* machines: how often the reboot in the row was requested since the daemon's start; or
     * REBOOTS_MAX, once it is known to have happened */
    int reboots;
    bool refused;   /* machines: the last link failed for a reason that needs a person */
    bool let_in;    /* machines: the last link failed only after the login */
    char *why_down; /* last reason, for errors */
    char *why_told; /* the reason in the row's errors; NULL: the row has another failure */
};

/* The node's place in the queue of nodes that wait to connect. */
struct node_turn {
    bool connecting; /* counted in fleet.turns.connecting */
    bool waits;
    struct node_rt *prev, *next;
};

/* The facts of the last hello. */
struct node_seen {
    char *incarnation; /* as in rows; NULL: no hello yet */
    char *facts;       /* node_facts_text(); NULL: no hello yet */
    char *runtimes;    /* container runtimes */
    char *hostname;
    struct capacity has; /* by the site's configuration, otherwise by hello */
    bool fake_gpus;
    char *devices; /* GPUs, in the protocol's form; NULL: no hello yet */
    bool is_root;  /* the agent may mount, make accounts and run tasks as other users */
};

/* The row's state at the last reconcile. */
struct node_noted {
    bool unusable;
    bool heals;   /* unusable, but will be prepared again when it can be reached */
    bool reached; /* an incarnation is known: files or tasks of the daemon may be there */
    /* monotonic: when a client last wanted a file of the node while there was no link; 0: never */
    int64_t read_us;
};

/* The set-up task of a finished preparation. */
struct node_setup_done {
    char *id;     /* NULL: the node has forgotten it, or there was none */
    bool durable; /* its end is on disk, so the node may forget it */
};

/* Set-up tasks that run beside the node's runs. */
struct node_besides {
    struct node_beside *last; /* all in the list are halted, except possibly the first; owned */
    bool looked; /* the row was read after the node became idle and its link became ready */
};

/* The known state of the node's disk: room.c. */
struct node_room {
    char *closed;     /* why no run may start there; NULL: runs may start */
    bool known;       /* the node has answered over the present link */
    int64_t asked_us; /* when the last question was asked (monotonic) */
    bool wanted;      /* somebody waits for the next answer */
    bool fake;        /* the node has no disk */
    int64_t idle_us;  /* closed: since when it has no allocation (monotonic); 0: it has one */
};

/* The row of the next try of the node's set-up task. */
enum next_try { NEXT_TRY_DURABLE, NEXT_TRY_WRITTEN, NEXT_TRY_LOST };

struct node_prep;     /* prepare.c */
struct node_exit;     /* leave.c */
struct node_release;  /* release.c */
struct unknown_tasks; /* unknown_tasks.c */
struct node_watch;    /* watch.c */
struct node_answers;  /* usage.c */
struct node_sampled;  /* samples.c */

struct node_rt {
    struct fleet *fleet;
    int64_t id; /* < 0: a node root without a row, to be removed */
    int64_t pool_id;
    const struct front *front; /* of its pool; of an orphaned root, any front */
    struct machine *machine;   /* borrowed; NULL: a local node */
    char *name, *root;
    char *address; /* a local node's */
    struct node_contact contact;
    struct node_turn turn;
    struct node_seen seen;
    struct node_noted noted;
    bool no_unknown; /* all tasks on the node have rows: unknown_tasks.c */
    bool wiped;      /* the last preparation has failed, but has wiped the node */
    bool swept;      /* no directory of a forgotten run is left: sweep.c */
    /* Unused archives are removed after some idle time (sweep.c): the start of the idle time, as in
     * the row, and the instant of the removal (monotonic; 0: done) */
    int64_t archives_idle_us, archives_due_us;
    struct node_room room;
    struct node_setup_done setup;
    enum next_try next_try; /* setup.c; NEXT_TRY_DURABLE also if there is no such try */
    /* the account that the node is known to have; NULL: none, for example after a new link. See
     * node_rt_account_works() */
    char *account;
    struct node_tenant *tenants; /* borrowed */
    uint64_t changed;            /* of a local node: see fleet_changes() */
    /* the runs of GPUs as last sent to the machine over this link (gpu_runs.c); NULL: not yet
     * sent */
    char *gpu_runs;
    int64_t idle_row_us, idle_since_us; /* node.idle_us at the last call of fleet_node_idle_since(),
                                           and its result */
    /* Work in progress; the node owns it. */
    struct node_prep *prep; /* only while the row is in state preparing and the link is ready */
    struct unknown_tasks *unknown; /* only on the first link */
    struct node_besides beside;    /* only while the link is ready */
    struct node_exit *exit;       /* only while the row is in state leaving and has no allocation */
    struct node_release *release; /* only for a machine, in state leaving and without allocations */
    struct node_watch *watch;     /* NULL before the machine was first watched */
    struct node_answers *answers; /* NULL until a client asks for the load of the machine */
    struct node_sampled *sampled; /* NULL: samples were never asked for */
    struct login_server *login;   /* of a local node, after the first request for a login */
    char *login_user;             /* the user whom `login` lets in */
    struct node_loss *loss; /* the node was given up, and this write is not known to be on disk */
};

/* The beginning of the ids of tasks that the node runs for itself. It contains no row ids, because
 * a restored backup would repeat them. `epoch`: the epoch of the decision to run the tasks (NULL:
 * the present epoch). */
const char *node_task_prefix(const struct node_rt *rt, struct arena *a, const char *epoch,
                             const char *what);

static inline const struct front_words *words_of_node(const struct node_rt *rt)
{
    return rt->front->words;
}

/* Loads the settings of the pool's nodes: front_ops.load_pool, but a deleted pool is an error. */
int node_load_pool(const struct node_rt *rt, struct arena *a, struct node_setup_spec *out,
                   struct err *e) MUST_CHECK;

/* Replaces an owned text; NULL: no text. */
void node_set_text(char **field, const char *text);

/* Work in progress on a node, from the view of its link: a constant of the file that does the work.
 * Functions may be NULL. Each function first checks whether its work is in progress on the node. */
struct node_work {
    void (*halt)(struct node_rt *rt); /* the link is about to close */
    /* the link is closing: pending requests have been answered */
    void (*link_down)(struct node_rt *rt);
    void (*link_closed)(struct node_rt *rt); /* the link is closed; this is the only function that
                                                may free the node */
    void (*task_ended)(struct node_rt *rt, const struct task_status *st);
    void (*free)(struct node_rt *rt); /* the node is removed */
};
extern const struct node_work node_watch_work, node_prepare_work, node_unknown_work,
    node_beside_work, node_leave_work, node_release_work;

/* For fleet_changes(): changes.c. */
void node_shown_changed(struct node_rt *rt);

/* --- runtime.c ------------------------------------------------------------------------- */

/* All kinds of work, in the order of their calls; ends with a NULL. */
extern const struct node_work *const node_works[];
void node_reconcile(void *ctx, int64_t id);
/* For wakes_handle_refused(): makes the node unusable for this reason. */
void node_refused(void *ctx, int64_t id, const struct err *why);
/* Whether a client wanted to read files of the node a moment ago. */
bool node_rt_is_read(const struct node_rt *rt);

/* --- machine/admin.c ------------------------------------------------------------------- */

/* Opens no link for a while, if the machine's reboot was decided before the daemon's start. */
void node_reboot_resume(struct node_rt *rt, const struct node *row);
/* Whether the first request for a reboot was not sent yet: it needs the link, and is sent when the
 * decision is on disk. */
bool node_reboot_waits(const struct node_rt *rt, const struct node *row);
/* Asks the machine of a linked node again for its reboot, if this has not happened. True: asked;
 * false: no request is needed. */
bool node_reboot_again(struct node_rt *rt, const struct node *row);

/* --- memory.c -------------------------------------------------------------------------- */

struct node_rt *node_rt_new_orphan(struct fleet *fl, const char *name);
/* The inventory names a machine that it has not named since the start: its node gets its root, and
 * is woken. */
void node_rt_reachable(struct fleet *fl, const struct machine *m);
/* Frees a node whose link is closed and that has no tenants. */
void node_rt_free(struct node_rt *rt);

/* --- capacity.c ------------------------------------------------------------------------ */

/* Records the capacity of a node at hello. *facts is changed to the facts that are shown to users,
 * with texts in the arena. */
void node_capacity_seen(struct node_rt *rt, struct arena *a, struct node_facts *facts);
/* Writes the capacity for planning; false: not possible yet, the node will be woken. */
bool node_capacity_as_row(struct node_rt *rt, const struct node *row);

/* --- fail.c ---------------------------------------------------------------------------- */

/* Writes the failure of a node, which becomes unusable unless it is leaving, and wakes its runs and
 * its pool. */
int node_write_failure(struct node_rt *rt, struct arena *a, const struct failure *f,
                       struct err *e) MUST_CHECK;
/* Like node_write_failure(), but repeated until the failure is on disk; no run uses the node before
 * that. */
void node_lose(struct node_rt *rt, const struct failure *why);
/* Writes the loss again after a rollback; false: there is nothing to write. */
bool node_lose_again(struct node_rt *rt);
void node_loss_free(struct node_rt *rt);

/* --- tenant.c: tells tenants of the events of their node -------------------------------------- */

void node_tell_ready(struct node_rt *rt);
void node_tell_down(struct node_rt *rt);
/* Detaches all tenants. */
void node_tell_gone(struct node_rt *rt);
void node_tell_task_ended(struct node_rt *rt, const struct task_status *st);
void node_tell_remote(struct node_rt *rt, const struct remote_msg *m);

/* --- connect.c ------------------------------------------------------------------------- */

/* Asserts the invariants of a node between two calls of node_reconcile(). */
void node_check(const struct node_rt *rt);
/* Called without a link: opens one, if the pause since the last link has ended and it is this
 * node's turn; otherwise the node will be woken then. */
void node_connect_want(struct node_rt *rt);
/* The provider that opens the node's links. */
struct node_provider *node_provider_of(struct node_rt *rt);
/* Closes the link if there is one; the node is woken when it is closed. */
void node_rt_close(struct node_rt *rt);
/* Like node_rt_distrust(), for a node that is silent since that instant (monotonic). */
void node_distrust_since(struct node_rt *rt, const char *why, int64_t silent_us);
/* Whether the node failed for so long, or so often, that it must be given up. `preparing`: the node
 * has no run that could be lost. */
bool node_connect_hopeless(struct node_rt *rt, bool preparing);
/* Delays the next try of a local node that was given up. */
void node_connect_pause(struct node_rt *rt);
/* Makes the next try happen at once, as if the node had never failed. */
void node_connect_forgive(struct node_rt *rt);

/* The result of comparing incarnations: "<incarnation of the root>@<boot id>" in rows; older rows
 * have no boot id. */
enum node_likeness { NODE_SAME, NODE_REBOOTED, NODE_REPLACED };
enum node_likeness node_compare(const char *row, const char *now);

/* --- prepare.c ------------------------------------------------------------------------- */

/* Takes the next step of the preparation; the link must be ready. */
void node_prepare(struct node_rt *rt, const struct node *row);
/* Ends the preparation: it takes no further step, and is freed with its link. */
void node_prepare_cancel(struct node_rt *rt);
/* Writes a recorded failure; false if there is none. */
bool node_prepare_report(struct node_rt *rt);
bool node_prepare_over(const struct node_rt *rt); /* failed or cancelled, not freed yet */
/* Makes the node forget the set-up task, because nobody needs it any more. The link is ready and
 * the node idle. */
void node_prepare_forget(struct node_rt *rt);
/* Called when the end of the set-up task is on disk. */
void node_prepare_is_durable(struct node_rt *rt);

/* --- setup.c --------------------------------------------------------------------------- */

/* Sets *id to the prefix of the ids of the set-up task that runs beside the node's runs, or to NULL
 * if there is none. */
int node_setup_beside(const struct node_rt *rt, struct arena *a, const char **id,
                      struct err *e) MUST_CHECK;

/* --- start_task.c -------------------------------------------------------------------------- */

/* Continues a set-up task that runs beside the node's runs; the link is ready and the node idle. */
void node_beside(struct node_rt *rt, const struct node *row);
/* Halts this set-up task, because the node is not idle any more. */
void node_beside_halt(struct node_rt *rt);

/* --- unknown_tasks.c -------------------------------------------------------------------------- */

enum unknown_end {
    UNKNOWN_NONE,     /* all running tasks have rows */
    UNKNOWN_ENDING,   /* wait: the node is woken */
    UNKNOWN_STUCK,    /* a killed task does not end: *why */
    UNKNOWN_UNREACHED /* the node does not answer, or refuses a request: *why */
};
/* Ends tasks without a live allocation, on the first link after a start of the daemon. Texts of
 * *why live until node_unknown_free(). */
enum unknown_end node_unknown_end(struct node_rt *rt, struct failure *why);
void node_unknown_free(struct node_rt *rt);

/* --- sweep.c --------------------------------------------------------------------------- */

/* Removes the directories of runs that are neither kept nor a tenant's, once for each link, and
 * again after each change of the rows. The link must be ready. */
void node_sweep(struct node_rt *rt);
/* Removes archives that the node's pool does not use, after some idle time. */
void node_sweep_archives(struct node_rt *rt, const struct node *row);

/* --- forget.c -------------------------------------------------------------------------- */

/* Over a new link, asks again for what no earlier link has answered. */
void node_forget_again(const struct node_rt *rt);
void node_forgets_free(const struct node_rt *rt);

/* --- leave.c --------------------------------------------------------------------------- */

/* Takes the next step of leaving: kill running tasks, remove containers, close the link, remove the
 * root, remove the row. */
void node_leave(struct node_rt *rt);
/* Finds node roots without a row. */
void node_find_orphans(struct fleet *fl);

/* --- release.c ------------------------------------------------------------------------- */

/* Takes the next step of releasing a machine: kill running tasks, remove the daemon's files, close
 * the link. True: the release is done or abandoned; false: it continues. */
bool node_release(struct node_rt *rt);
/* Adds steps that remove the results of preparations from a machine; no process runs there any
 * more. Texts live in `a`. */
void node_release_steps(struct node_rt *rt, struct arena *a, struct script *sc);

/* --- login.c --------------------------------------------------------------------------- */

void node_login_close(struct node_rt *rt);

/* --- samples.c ------------------------------------------------------------------------- */

/* The link is ready. */
void node_samples_begin(struct node_rt *rt);
/* Called when the machine was drained or undrained: asks at once for samples with the new
 * setting. */
void node_sample_soon(struct node_rt *rt);

/* Fills the members of machine_view about samples; out->has must be set. `shows`: with the sample
 * itself. */
void node_view_sample(const struct node_rt *rt, struct arena *a, bool usable, bool shows,
                      struct machine_view *out);
void node_samples_free(struct node_rt *rt);

/* --- gpu_runs.c ------------------------------------------------------------------------------- */
static inline bool tenant_has_gpu(const struct node_tenant *t, int number)
{
    return !t->gpus || gpu_is_among(t->gpus, number);
}
/* Writes the machine's files for dcgm-exporter, if they are to change; the link is ready. */
void node_tell_gpu_runs(struct node_rt *rt);
/* Called for a new link: all files will be written again. */
void node_forget_gpu_runs(struct node_rt *rt);
void node_gpu_runs_changed(const struct node_rt *rt); /* a tenant has left */

/* --- usage.c --------------------------------------------------------------------------- */

void node_usage_free(struct node_rt *rt);

/* --- room.c ---------------------------------------------------------------------------- */

/* The node answered the question that was asked at `asked_us`; `h` NULL: with an error. */
void node_room_answered(struct node_rt *rt, int64_t asked_us, const struct node_health *h);
void node_room_link_down(struct node_rt *rt);
/* Why a closed node is unusable. */
struct failure node_room_failure(struct arena *a, const struct node_rt *rt);
/* Makes an idle node unusable if it is closed, has no allocation, and has answered since it became
 * idle. */
bool node_room_lose_idle(struct node_rt *rt, const struct node *row);
/* Whether a preparation may begin or continue. False: the state of the disk is still unknown, or
 * the node is closed and was made unusable. True for a node that is being wiped, because the wipe
 * may free the disk. */
bool node_room_before_preparing(struct node_rt *rt, const struct node *row);

/* --- watch.c --------------------------------------------------------------------------- */

/* Asks a node for its health if that is due, or if somebody waits for the answer; the link is
 * ready. If the agent has not answered the last question for too long, the link is closed. */
void node_watch_pulse(struct node_rt *rt, const struct node *row);
/* Runs a machine's health command when it is due; after node_watch_pulse(), on a prepared node. */
void node_watch(struct node_rt *rt);
/* Called when the node is being prepared or released, which kills a running health command: ignores
 * its result. */
void node_watch_stop(struct node_rt *rt);

#endif
