/* SPDX-License-Identifier: MIT
 *
 * One node, and the work in hand on it. runtime.c compares rows with memory.c and takes the next
 * step by watch.c (health), prepare.c, sweep.c, and leave.c and release.c (the end); these use
 * connect.c (the link), which tells them of the link by struct node_work and calls none of them.
 */
#ifndef SCHEDULER_FLEET_NODE_NODE_PRIV_H
#define SCHEDULER_FLEET_NODE_NODE_PRIV_H

#include "scheduler/fleet/fleet_priv.h"
#include "scheduler/fleet/node/room.h"
#include "scheduler/fleet/script/script.h"

/* Longest text of a health trouble or of a reason to drain. */
#define NODE_REASON_MAX 1024

/* For front_text(). */
#define NODE_HANGS_REMEDY                                                                          \
    "see what its processes wait for (a mount that is dead, a driver) or restart the machine, "    \
    "then resize the {pool} or undrain the machine"

enum connection_state { CONNECTION_NONE, CONNECTION_OPENING, CONNECTION_READY, CONNECTION_CLOSING };

/* The link and its history: connect.c. */
struct node_contact {
    struct node_link *link; /* owned; NULL in CONNECTION_NONE */
    enum connection_state state;
    bool greeted;               /* CONNECTION_READY, and hello was compared with the row */
    int failures;               /* links lost in a row */
    int64_t hello_us;           /* the last hello by the wall clock, for people to read; 0: none */
    int64_t ready_us, retry_us; /* the last hello; the instant before which no link is opened */
    int64_t lost_us;            /* the instant since which there is no good link; 0: there is one */
    int64_t losing_us;          /* how long after that the last loss came */
    bool refused;   /* machines: the last link failed for a reason that a person must put right */
    bool let_in;    /* machines: the last link failed only after it had logged in */
    char *why_down; /* last reason, for errors */
    char *why_told; /* the reason in the row's errors; NULL: the row has another failure */
};

/* Its place in the queue of nodes that wait to connect. */
struct node_turn {
    bool connecting; /* counted in fleet.turns.connecting */
    bool waits;
    struct node_rt *prev, *next;
};

/* What the last hello said. */
struct node_seen {
    char *incarnation; /* as rows keep it; NULL: there was none yet */
    char *facts;       /* node_facts_text(); NULL likewise */
    char *runtimes;    /* of containers */
    char *hostname;
    struct capacity has; /* as the site says, and else as it said */
    bool fake_gpus;
    char *devices; /* GPUs, as the protocol has them; NULL likewise */
    bool is_root;  /* the agent may mount, make accounts and run tasks as others */
};

/* What the row said when it was last looked at. */
struct node_noted {
    bool unusable;
    bool heals;      /* unusable, but will be prepared again by itself once it can be reached */
    bool reached;    /* an incarnation is known: something of ours may be there */
    int64_t read_us; /* when somebody last wanted a file of it over a link that was not there
                        (monotonic); 0: never */
};

/* The set-up task of a preparation, once it is over. */
struct node_setup_done {
    char *id;     /* NULL: the node has forgotten it, or there was none */
    bool durable; /* its end is on disk, so the node may forget it */
};

/* Set-up tasks beside the node's runs. */
struct node_besides {
    struct node_beside *last; /* all but this one are halted, and perhaps it as well; owned */
    bool looked;              /* the row was looked at since the node is idle and has its link */
};

/* What is known of its disk: room.c. */
struct node_room {
    char *closed;     /* why nothing new begins there; NULL: something may */
    bool known;       /* the node has answered over the present link: */
    int64_t asked_us; /* a question of this instant (monotonic) */
    bool wanted;      /* somebody waits for the next answer */
    bool fake;        /* the node has no disk */
    int64_t idle_us;  /* closed: since when it holds nothing; 0: it holds something */
};

struct node_prep;    /* prepare.c */
struct node_exit;    /* leave.c */
struct node_release; /* release.c */
struct node_strays;  /* unknown_tasks.c */
struct node_watch;   /* watch.c */
struct node_answers; /* usage.c */

struct node_rt {
    struct fleet *fleet;
    int64_t id; /* < 0: a node root without a row, to be cleaned */
    int64_t pool_id;
    const struct front *front; /* its pool's; of an orphaned root, any */
    struct machine *machine;   /* borrowed; NULL: a local node */
    char *name, *root;
    char *address; /* a local node's */
    struct node_contact contact;
    struct node_turn turn;
    struct node_seen seen;
    struct node_noted noted;
    bool no_strays; /* all tasks there are known to rows: unknown_tasks.c */
    bool swept;     /* no directories of forgotten runs are left: sweep.c */
    /* The idle time after which archives that nothing uses are removed: since when, as in its row,
     * and when (monotonic; 0: that was done): sweep.c */
    int64_t archives_idle_us, archives_due_us;
    struct node_room room;
    struct node_setup_done setup;
    char *account; /* known to be there; NULL: none, as after each link. node_rt_account_works() */
    struct node_tenant *tenants;        /* borrowed */
    int64_t idle_row_us, idle_since_us; /* node.idle_us as last seen; fleet_node_idle_since() */
    /* Work in hand; all owned. */
    struct node_prep *prep;       /* only while the row is preparing and the link ready */
    struct node_strays *strays;   /* only on its first link */
    struct node_besides beside;   /* only while the link is ready */
    struct node_exit *exit;       /* only while the row is leaving and holds no run */
    struct node_release *release; /* the same, of a machine */
    struct node_watch *watch;     /* NULL before the machine was first watched */
    struct node_answers *answers; /* NULL before anybody wanted to know what its machine does */
    struct login_server *login;   /* a local node's, once somebody asked for it */
    struct node_loss *loss; /* it was given up, and the write of that is not known to be on disk */
};

/* The beginning of the ids of tasks that run for the node itself. It contains no row ids, because a
 * backup that is put back repeats those. `epoch`: the one in which the tasks were decided on (NULL:
 * the present one). */
const char *node_task_prefix(const struct node_rt *rt, struct arena *a, const char *epoch,
                             const char *what);

static inline const struct front_words *words_of_node(const struct node_rt *rt)
{
    return rt->front->words;
}

/* What the nodes of its pool need: front_ops.load_pool, but a pool that is gone is an error. */
int node_load_pool(const struct node_rt *rt, struct arena *a, struct node_setup_spec *out,
                   struct err *e) MUST_CHECK;

/* Replaces an owned text; NULL: none. */
void node_set_text(char **field, const char *text);

/* Work in hand on a node, as its link sees it: a constant of the file that does the work. Functions
 * may be NULL. Each looks whether there is such work on the node. */
struct node_work {
    void (*halt)(struct node_rt *rt);      /* the link is about to close */
    void (*link_down)(struct node_rt *rt); /* it closes: open requests have been answered */
    void (*link_closed)(
        struct node_rt *rt); /* and is closed; the only one that may free the node */
    void (*task_ended)(struct node_rt *rt, const struct task_status *st);
    void (*free)(struct node_rt *rt); /* the node goes */
};
extern const struct node_work node_watch_work, node_prepare_work, node_strays_work,
    node_beside_work, node_leave_work, node_release_work;

/* --- runtime.c ------------------------------------------------------------------------- */

/* All of them, in the order in which they are told; ends with a NULL. */
extern const struct node_work *const node_works[];
void node_reconcile(void *ctx, int64_t id);
/* For wakes_handle_refused(): the node is unusable for that reason. */
void node_refused(void *ctx, int64_t id, const struct err *why);
/* Somebody has wanted its files a moment ago. */
bool node_rt_is_read(const struct node_rt *rt);

/* --- memory.c -------------------------------------------------------------------------- */

struct node_rt *node_rt_new_orphan(struct fleet *fl, const char *name);
/* Frees a node whose link is closed and that has no tenants. */
void node_rt_free(struct node_rt *rt);

/* --- capacity.c ------------------------------------------------------------------------ */

/* Notes what the node has, once it has said hello. *facts is changed to what people are shown, with
 * texts from the arena. */
void node_capacity_seen(struct node_rt *rt, struct arena *a, struct node_facts *facts);
/* Writes it for planning; false: not yet, the node is woken. */
bool node_capacity_as_row(struct node_rt *rt, const struct node *row);

/* --- fail.c ---------------------------------------------------------------------------- */

/* Writes that a node failed (unusable, or leaving anyway) and wakes who needs to know. */
int node_write_failure(struct node_rt *rt, struct arena *a, const struct failure *f,
                       struct err *e) MUST_CHECK;
/* Like node_write_failure(), but repeated until it is on disk: nobody uses the node before. */
void node_lose(struct node_rt *rt, const struct failure *why);
/* Writes the loss again if that was rolled back; false: there is nothing to write. */
bool node_lose_again(struct node_rt *rt);
void node_loss_free(struct node_rt *rt);

/* --- tenant.c: what happens there is told to who works there ------------------------------
 */

void node_tell_ready(struct node_rt *rt);
void node_tell_down(struct node_rt *rt);
/* Detaches all of them. */
void node_tell_gone(struct node_rt *rt);
void node_tell_task_ended(struct node_rt *rt, const struct task_status *st);
void node_tell_remote(struct node_rt *rt, const struct remote_msg *m);

/* --- connect.c ------------------------------------------------------------------------- */

/* What holds whenever a node's turn begins. */
void node_check(const struct node_rt *rt);
/* Called without a link: opens one if the pause since the last is over and it is this node's turn;
 * otherwise the node is woken when that is so. */
void node_connect_want(struct node_rt *rt);
/* Who opens its links. */
struct node_provider *node_provider_of(struct node_rt *rt);
/* Closes the link if there is one; the node is woken when it is closed. */
void node_rt_close(struct node_rt *rt);
/* Whether the node was tried long or often enough and is to be given up. `preparing`: nothing runs
 * there that could be lost. */
bool node_connect_hopeless(struct node_rt *rt, bool preparing);
/* Puts off the next try of a local node that was given up. */
void node_connect_pause(struct node_rt *rt);
/* Makes the next try come at once, as if the node had never failed. */
void node_connect_forgive(struct node_rt *rt);

/* Compares incarnations: "<incarnation of the root>@<boot id>" in rows; older rows have no boot id.
 */
enum node_likeness { NODE_SAME, NODE_REBOOTED, NODE_REPLACED };
enum node_likeness node_compare(const char *row, const char *now);

/* --- prepare.c ------------------------------------------------------------------------- */

/* Takes the next step of the preparation; the link is ready. */
void node_prepare(struct node_rt *rt, const struct node *row);
/* Takes no further step; the preparation is freed with its link. */
void node_prepare_cancel(struct node_rt *rt);
/* Writes down a noted failure; false if there is none. */
bool node_prepare_report(struct node_rt *rt);
bool node_prepare_over(const struct node_rt *rt); /* failed or cancelled, not freed yet */
/* Forgets the set-up task, which is not needed any more; the link is ready and the node idle. */
void node_prepare_forget(struct node_rt *rt);
/* The end of that task is on disk. */
void node_prepare_is_durable(struct node_rt *rt);

/* --- setup.c --------------------------------------------------------------------------- */

/* How the ids of the set-up task begin that goes on beside the node's runs; NULL: there is none. */
int node_setup_beside(const struct node_rt *rt, struct arena *a, const char **id,
                      struct err *e) MUST_CHECK;

/* --- start_task.c -------------------------------------------------------------------------- */

/* Goes on with a set-up task that runs beside the node's runs; the link is ready and the node idle.
 */
void node_beside(struct node_rt *rt, const struct node *row);
/* The node is not idle any more. */
void node_beside_halt(struct node_rt *rt);

/* --- unknown_tasks.c -------------------------------------------------------------------------- */

enum strays {
    STRAYS_NONE,   /* all that runs there is known */
    STRAYS_ENDING, /* wait: the node is woken */
    STRAYS_STUCK,  /* one does not die: *why */
    STRAYS_UNKNOWN /* the node does not answer, or does not do what was asked: *why */
};
/* Ends the tasks that no live allocation names, on the first link after a start of the daemon.
 * Texts of *why live until node_strays_free(). */
enum strays node_strays_end(struct node_rt *rt, struct failure *why);
void node_strays_free(struct node_rt *rt);

/* --- sweep.c --------------------------------------------------------------------------- */

/* Removes the directories of runs that are neither kept nor a tenant's, once after the link came up
 * and whenever the rows changed. The link is ready. */
void node_sweep(struct node_rt *rt);
/* Removes archives that its pool does not use, once nothing has run there for a while. */
void node_sweep_archives(struct node_rt *rt, const struct node *row);

/* --- leave.c --------------------------------------------------------------------------- */

/* Takes the next step of leaving: kill what runs there, remove its containers, close the link,
 * remove the root, remove the row. */
void node_leave(struct node_rt *rt);
/* Looks for node roots that no row knows. */
void node_find_orphans(struct fleet *fl);

/* --- release.c ------------------------------------------------------------------------- */

/* Takes the next step of giving a machine back: kill what runs there, remove what we made, close
 * the link. True when that is done or given up. */
bool node_release(struct node_rt *rt);
/* Adds steps that remove from a machine what preparations put there; nothing runs there any more.
 * Texts live in `a`. */
void node_release_steps(struct node_rt *rt, struct arena *a, struct script *sc);

/* --- login.c --------------------------------------------------------------------------- */

void node_login_close(struct node_rt *rt);

/* --- usage.c --------------------------------------------------------------------------- */

void node_usage_free(struct node_rt *rt);

/* --- room.c ---------------------------------------------------------------------------- */

/* The node answered a question of `asked_us`; NULL: it could not say. */
void node_room_answered(struct node_rt *rt, int64_t asked_us, const struct node_health *h);
void node_room_link_down(struct node_rt *rt);
/* Why a closed node is unusable. */
struct failure node_room_failure(struct arena *a, const struct node_rt *rt);
/* Makes an idle node unusable if it is closed, holds nothing, and has been asked since. */
bool node_room_lose_idle(struct node_rt *rt, const struct node *row);
/* Whether a preparation may begin or go on: false while that is not known, and if the node is
 * closed, which makes it unusable. */
bool node_room_before_preparing(struct node_rt *rt);

/* --- watch.c --------------------------------------------------------------------------- */

/* Asks a node for its health when it is time, or somebody waits for it; the link is ready. If the
 * agent has not answered the last question for too long, the link is closed. */
void node_watch_pulse(struct node_rt *rt, const struct node *row);
/* Runs a machine's health command when it is time; after node_watch_pulse(), on a node that is
 * prepared. */
void node_watch(struct node_rt *rt);
/* The node is prepared or given back, which kills a running health command: its result does not
 * matter any more. */
void node_watch_stop(struct node_rt *rt);

#endif
