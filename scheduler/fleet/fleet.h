/* SPDX-License-Identifier: MIT
 *
 * Machines and nodes. The fleet has the machines of the inventory and their claims; the nodes of
 * pools (local nodes and machines) with their links, preparation, watching, release and mounts; and
 * file servers. The row is the desired state of a node; the fleet compares the row with the state
 * that the link reports, takes the next step and writes it to the row.
 *
 * The user of a node (a run) attaches to it: scheduler/fleet/node/node.h. The fleet does not depend
 * on its users; it reports to them through struct fleet_events. Owns the links; borrows wakes,
 * storage, loop, log and site.
 */
#ifndef SCHEDULER_FLEET_FLEET_H
#define SCHEDULER_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/log.h"
#include "model/resource.h"
#include "model/sample/sample.h"
#include "model/spec.h"
#include "scheduler/front/front.h"
#include "scheduler/site/site.h"
#include "scheduler/wake/wake.h"

struct fleet;
struct node_rt;
struct history;
struct machines_reading;

/* The fleet's reports to its users. Called from the loop, also inside a transaction, so a callback
 * may only record the event and wake what handles it. */
struct fleet_events {
    /* The nodes of a pool have changed, or new facts about them are known. */
    void (*pool_changed)(void *ctx, int64_t pool_id);
    /* More nodes are available than before. `rolled_back`: because a write was rolled back, most
     * likely by a full disk, so wait a moment before allocating again. */
    void (*capacity_freed)(void *ctx, bool rolled_back);
    /* The fleet gave up a node of this run, in this transaction. */
    void (*run_hit)(void *ctx, int64_t run_id);
    /* An obstacle to the deletion of a resource is gone. */
    void (*deletion_goes_on)(void *ctx);
};

struct fleet_config {
    struct loop *loop;
    struct wakes *wakes;
    struct storage *storage;
    struct files *files;          /* borrowed, like all members except strings */
    struct transfers *transfers;  /* NULL: foreign URLs are not available */
    struct loop_lane *login_lane; /* writes the files for logins on local nodes */
    const struct log *log;
    struct node_provider *local, *machines; /* machines: NULL without a site */
    struct node_provider *scripted;         /* the provider of fake local nodes; NULL: none */
    const char *scripted_sizes; /* a vmSize that matches this pattern gets fake nodes; borrowed */
    int sample_every_s;         /* seconds between two samples of a node; 0: no samples */
    struct history *samples;    /* their history; NULL: none is kept */
    const char *nodes_dir;      /* the parent directory of local node roots */
    /* the parent directory of the folders of shares: see fleet_share_path() */
    const char *storage_dir;
    int local_nodes;                   /* limit for the number of local nodes */
    const char *const *local_vm_sizes; /* upper-case, NULL-terminated; NULL or empty: any size */
    /* serves shares to machines that have no mount rule for them; NULL: no server */
    struct share_server *shares;
    const char *shares_address; /* the address at which machines reach `shares`; "": the daemon's
                                 * address on the link to the machine */
    int mount_timeout_s;        /* time limit of a mount command; 0: 60 */
    int kill_timeout_s; /* a node becomes unusable if a task has not ended this long after SIGKILL;
                           0: 60 */
    const struct site *site;           /* NULL: the embedded default, local nodes only */
    const struct fronts *fronts;       /* for the settings of a pool's nodes; borrowed */
    const struct fleet_events *events; /* static */
    void *events_ctx;
};

/* Wakes nodes by the ids of their rows. */
WAKE_KIND(woken_node, "node", WAKE_NODES);

/* Strings are copied. */
struct fleet *fleet_create(const struct fleet_config *c);
/* Reads machines and nodes, wakes them all, and finds node roots without a row. */
int fleet_start(struct fleet *fl, struct err *e) MUST_CHECK;
/* Closes all links and ends the work of file servers. Each link keeps a reference to the wakes
 * until it is closed. Afterwards fleet_forget_nodes() can free detached nodes. */
void fleet_close_links(struct fleet *fl);
void fleet_forget_nodes(struct fleet *fl);
void fleet_free(struct fleet *fl);

/* Links to nodes since the start. */
struct fleet_counts {
    uint64_t opened; /* links that were begun */
    uint64_t ready;  /* links whose agents have answered hello */
    uint64_t lost;   /* links that broke without being closed by the daemon */
};
const struct fleet_counts *fleet_counts(const struct fleet *fl);

const struct site *fleet_site(const struct fleet *fl);
/* Replaces the site, with its inventory, while runs are in progress. A machine that is no longer in
 * the inventory is used until its node has left its pool; the node leaves as soon as it has no run.
 * Nodes that exist keep their directories. Borrows `site`, like all earlier sites, until the fleet
 * is freed. -1: it failed, and nothing has changed. */
int fleet_use_site(struct fleet *fl, const struct site *site, struct err *e) MUST_CHECK;
/* Whether the configuration allows local nodes. */
bool fleet_has_local(const struct fleet *fl);
struct files *fleet_files(const struct fleet *fl);
struct transfers *fleet_transfers(const struct fleet *fl);
/* The monotonic instant since which a node is idle and has no allocation: computed once from the
 * row, and at most `longest_us` ago. 0: the node is not idle. */
int64_t fleet_node_idle_since(struct fleet *fl, const struct node *row, int64_t longest_us);

/* --- the machines, for the people who run them ------------------------------------------------ */

/* A machine of the inventory, or a local node. Texts are in the arena; NULL: not known or not
 * applicable. */
struct machine_view {
    int64_t machine_id, node_id; /* machine_id 0: a local node; node_id 0: no node */
    const char *name;            /* the machine's name; for a local node, the node's */
    const char *state; /* "unknown" (never reached), "free", "unreachable", or its node's state */
    bool is_local, drained;
    const char *reason;             /* why drained, unreachable or unusable */
    const char *trouble;            /* the problem at the last try to reach or use it; NULL: none */
    const char *node, *pool, *runs; /* runs: "A, B" */
    const char *const *vm_sizes;    /* NULL-terminated; empty: any */
    enum vm_priority priority;
    int64_t contact_us;         /* last contact; 0: never */
    struct capacity has, taken; /* slots 0: not known; taken: the part that runs use */
    bool has_facts;
    struct node_facts facts;
    const struct node_sample *sample; /* the last sample; NULL: no sample in the last minute */
    struct gpu_view *gpus;            /* in the order of their numbers */
    int n_gpus;
};

/* A GPU of a machine. */
struct gpu_view {
    int index;
    enum gpu_state state;
    bool outside;                  /* processes that belong to no run use it */
    const struct gpu_sample *last; /* from the machine's sample; NULL: the sample lacks this GPU */
};

/* Lists every machine, in the order of the inventory, then local nodes. */
int fleet_machines(struct fleet *fl, struct arena *a, struct machine_view **out, size_t *n,
                   struct err *e) MUST_CHECK;
/* Like fleet_machines(), in pieces of some milliseconds, with turns of the loop between them. 1:
 * call fleet_machines_more() again; 0: the list is complete. A machine that is added or removed
 * meanwhile may be in the list or not. The list is in the arena.
 *
 * A brief list takes a tenth of the time. It has only the names, states, pools and GPUs (state and
 * `outside`); of free machines, the GPUs as far as they are known. */
enum machines_depth { MACHINES_WHOLE, MACHINES_BRIEF };
struct machines_reading *fleet_machines_begin(struct fleet *fl, struct arena *a,
                                              enum machines_depth depth);
int fleet_machines_more(struct machines_reading *v, struct err *e) MUST_CHECK;
struct machine_view *fleet_machines_list(const struct machines_reading *v, size_t *n);
/* Reads the missing members of a row of a brief list. 1: done; 0: its node or machine does not
 * exist any more; -1: failed. */
int fleet_machine_complete(struct fleet *fl, struct arena *a, struct machine_view *m,
                           struct err *e) MUST_CHECK;
/* For clients who poll which rows of the list of machines have changed: drained, in trouble,
 * reached, or with other states of GPUs. Changes that are reported as events of nodes are not
 * included. */
uint64_t fleet_changes(const struct fleet *fl); /* grows with each change */
/* The names of machines and local nodes that have changed since fleet_changes() was `since`, at
 * most `max`. Returns how many there are, SIZE_MAX: all may have changed. Borrowed until the next
 * turn of the loop. */
size_t fleet_changed_since(const struct fleet *fl, uint64_t since, const char **names, size_t max);
/* The machines that belong to no pool, by their state, with their GPUs as far as they are known. */
enum machine_rest {
    MACHINE_FREE,
    MACHINE_DRAINED,
    MACHINE_UNREACHABLE,
    MACHINE_UNKNOWN, /* never reached */
    MACHINE_RESTS
};
struct machine_tally {
    int machines, gpus;
};
void fleet_count_unclaimed(const struct fleet *fl, struct machine_tally out[MACHINE_RESTS]);
/* Drains a machine, or undrains it, by name. On a drained machine, runs in progress continue and no
 * run starts. No pool claims a drained machine; its idle node stays in its pool but is not used.
 * Undraining also tries an unusable node again. ERR_MACHINE_NOT_FOUND; ERR_NOT_SUPPORTED for a
 * local node. */
int fleet_machine_drain(struct fleet *fl, const char *name, const char *reason,
                        struct err *e) MUST_CHECK;
int fleet_machine_undrain(struct fleet *fl, const char *name, struct err *e) MUST_CHECK;
/* Reboots the machine; its node is prepared again afterwards. ERR_CONFLICT while a run runs there;
 * ERR_NOT_SUPPORTED without root; ERR_UNAVAILABLE without a link to the machine, for example
 * because it is free. */
int fleet_machine_reboot(struct fleet *fl, const char *name, struct err *e) MUST_CHECK;

/* Counts the machines that can serve nodes of this size and priority, and how many of them are free
 * now; 0 and 0 without machines. A machine that its health command has drained can be free. */
void machines_count(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                    int *serving, int *free_now);
/* Whether a node of such a pool can have `need`, as far as is known. False only if every machine
 * that serves the pool (or, without machines, a local node) was reached and none has that much.
 * *most: the largest of each amount among them. */
bool fleet_part_fits(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                     const struct capacity *need, struct capacity *most);
/* Counts free machines that serve the pool, are not drained and had no problem at the last try. */
int machines_good(const struct fleet *fl, const char *vm_size, enum vm_priority priority);
/* The position in a series of picks. It is zeroed at the beginning. Any change of machines, other
 * than claims of the picked machines, makes the position invalid. */
struct machine_pick {
    int promise;
    size_t next;
};
/* Picks the most promising free machine for a node whose row is about to be written. Returns its
 * id; 0: none is free. *name is borrowed. */
int64_t machines_pick(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                      struct machine_pick *pick, const char **name);
/* Records that a dedicated pool is short of machines of this size; NULL: it is not short any more.
 * As long as it is short, no machine that it could use is lent. Returns true if its shortage ends
 * now, so that other pools may get machines. */
bool machines_want(struct fleet *fl, int64_t pool_id, const char *vm_size);
/* Finds the nodes, on machines that serve dedicated pools of this size, that may be lent: in the
 * order of the inventory. */
void machines_lent(const struct fleet *fl, struct arena *a, const char *vm_size, int64_t **nodes,
                   size_t *n);
/* Records the holder of a machine in memory. The written node row names the same holder. */
void machines_claimed(struct fleet *fl, int64_t machine_id, int64_t node_id, int64_t pool_id);
/* The state of a node's machine. */
struct machine_use {
    const char *name, *reason; /* reason: why drained, or NULL */
    bool drained, in_inventory, troubled;
    bool leaves; /* the inventory has dropped it: its node leaves as soon as it is free */
    /* it is drained by its health command, and no run could start since the node claimed it */
    bool unproved;
};
/* False: the machine does not exist. */
bool machines_use(const struct fleet *fl, int64_t machine_id, struct machine_use *out);
/* Why no run may start on a node although its row permits it: its disk is full, or cannot be
 * written. NULL: runs may start. Borrowed until the next turn of the loop. */
const char *fleet_node_closed(const struct fleet *fl, int64_t node_id);
/* Reads drained machines and claims from the rows again after a rollback. */
void machines_reread(struct fleet *fl);
/* The most fake nodes of a pool: they take memory only. */
#define SCRIPTED_NODES_MAX 10000
/* fleet_is_scripted(): whether the nodes of such a pool are fake. fleet_scripted_sizes(): the
 * pattern of sizes with fake nodes; NULL: no nodes are fake. */
bool fleet_is_scripted(const struct fleet *fl, const char *vm_size);
const char *fleet_scripted_sizes(const struct fleet *fl);
/* Whether `vm_size` is one of the sizes, without regard to case. */
bool fleet_is_size_of(const char *const *sizes, const char *vm_size);
/* The available sizes of nodes with this priority, for messages: "A, B"; "none" without sizes. In
 * the arena. */
const char *fleet_sizes(const struct fleet *fl, struct arena *a, enum vm_priority priority);
/* Why `missing` of the `target` nodes of a pool are not available. In the arena. */
const char *machines_shortage(struct fleet *fl, struct arena *a, const struct pool *p, int target,
                              int missing);

/* --- nodes ------------------------------------------------------------------------------------ */

/* Called inside the transaction that releases a node. If the fleet gave the node up, but the write
 * of this was rolled back (a full disk), writes it again, before other runs may get the node. */
int fleet_write_loss(struct fleet *fl, int64_t node_id, struct err *e) MUST_CHECK;
/* Wakes the runs that use a part of the node, as soon as all writes so far are on disk. */
int fleet_wake_runs(struct fleet *fl, struct arena *a, int64_t node_id, struct err *e) MUST_CHECK;

/* fleet_node_may_reboot(): whether the node is a machine whose agent can reboot it, and there is a
 * link to it. fleet_node_reboot() reboots it: the node becomes unusable and is prepared again
 * afterwards. */
bool fleet_node_may_reboot(const struct fleet *fl, int64_t node_id);
int fleet_node_reboot(struct fleet *fl, int64_t node_id, struct err *e) MUST_CHECK;

/* Where people log in on a node. */
struct node_login {
    const char *address; /* arena-owned */
    int port;
};
void fleet_node_login(struct fleet *fl, struct arena *a, const struct node *row,
                      struct node_login *out);

/* When all writes so far are on disk, removes the directories of runs on a node that its rows do
 * not keep. */
void fleet_sweep_when_durable(struct fleet *fl, int64_t node_id);

/* When all writes so far are on disk, makes the node forget an ended task. */
void fleet_forget_when_durable(struct fleet *fl, int64_t node_id, const char *task_id);

/* For the address of a local node: an address lets in one user, and the next request for it opens
 * one for the user of that time. fleet_node_users_changed() closes it, with its sessions, when all
 * writes so far are on disk; fleet_node_user_ended() closes it at once, if it lets in this user. */
void fleet_node_users_changed(struct fleet *fl, int64_t node_id);
void fleet_node_user_ended(struct fleet *fl, int64_t node_id, const char *name);

/* Takes a node away for a while, as a cloud does with low-priority nodes: its runs are requeued,
 * and the node is prepared again when it can be reached again. */
void fleet_node_preempt(struct fleet *fl, int64_t node_id);

/* Asks for the load of the node's machine, if there is a link to it. Each answer is valid for a
 * minute. */
void fleet_ask_usage(struct fleet *fl, int64_t node_id);
/* The load between the last two answers; false: not known. */
struct node_used {
    double seconds;
    struct node_usage in_between; /* counters: their growth; levels: their present value */
};
bool fleet_node_used(const struct fleet *fl, int64_t node_id, struct node_used *out);

/* A directory on a node, for code that lists or reads its files. */
struct output_dir {
    int64_t node_id;
    int rank;
    const char *node, *base; /* the node's name; the directory there */
    /* the run's directory, below <root>/RUNS_DIR; NULL: files are read with the agent's rights, but
     * only inside `base` */
    const char *run_dir;
    bool is_local; /* a local node: the daemon itself can read files on its shares */
};

/* Lists or reads `path` below the directory with the rights of the run's account: see
 * node_list_dir() and node_read_file(). The callback runs once, later; its arguments are valid
 * during the call. ERR_FILE_NOT_FOUND, ERR_INVALID_PATH, ERR_IO; ERR_UNAVAILABLE (at once or
 * later): the node cannot be reached now; ERR_NODE_LOST: the node is unusable and could not be
 * reached. */
struct node_bytes;
typedef void (*fleet_dir_cb)(void *ctx, const struct err *why, const struct node_dir_entry *list,
                             size_t n);
typedef void (*fleet_bytes_cb)(void *ctx, const struct err *why, const struct node_bytes *got);
int fleet_list_dir(struct fleet *fl, const struct output_dir *at, const char *path, fleet_dir_cb cb,
                   void *ctx, struct err *e) MUST_CHECK;
int fleet_read_file(struct fleet *fl, const struct output_dir *at, const char *path, int64_t offset,
                    size_t max, fleet_bytes_cb cb, void *ctx, struct err *e) MUST_CHECK;
/* Removes a file, or a directory with its content: see the request remove_tree. */
typedef void (*fleet_done_cb)(void *ctx, const struct err *why);
int fleet_remove(struct fleet *fl, const struct output_dir *at, const char *path, fleet_done_cb cb,
                 void *ctx, struct err *e) MUST_CHECK;
/* When the daemon stops: answers all pending reads now, and every later read at once, with
 * ERR_UNAVAILABLE. */
void fleet_end_reads(struct fleet *fl);

/* --- file servers ---------------------------------------------------------------------------- */

/* The host and directory behind a file server. */
struct file_server_backing {
    bool is_local;         /* `directory` is a folder of the daemon's storage */
    const char *host;      /* name or address; 127.0.0.1 for a local file server */
    const char *directory; /* the directory on that host */
    const char *options;   /* of mount(8), or NULL */
    const char *machine;   /* the machine of the inventory on which the fleet sets up the export;
                            * NULL: the directory is exported already */
};
/* Wakes a file server that a machine has to set up (struct file_server_backing); its row is in
 * state creating. */
void fleet_wake_file_server(struct fleet *fl, int64_t id);
/* Finds what is behind a file server. False: nothing. The texts are owned by the arena. */
bool fleet_file_server_backing(const struct fleet *fl, struct arena *a, const struct file_server *f,
                               struct file_server_backing *out);
/* For a file server that is marked as deleting: true if its row may be removed now. Otherwise the
 * clean-up has begun, and deletion_goes_on is called when it is done. */
bool file_server_cleared(struct fleet *fl, struct arena *a, int64_t id);
/* Called after the row of a file server was removed. */
void file_server_forget(struct fleet *fl, int64_t id);

/* The folder behind a file share or blob container (share_folder()). In the arena; the folder is
 * not made. */
const char *fleet_share_path(const char *storage_dir, struct arena *a,
                             const struct mount_volume *m);
/* Whether a rule of the site mounts the volume on machines; otherwise machines mount it from the
 * daemon. */
bool fleet_has_mount_rule(const struct fleet *fl, const struct mount_volume *m);
/* Appends to a file of such a share; makes the file and its parent directories if they are missing.
 * `written` is called once, later; with an error if the write failed. */
void fleet_append_to_share(struct fleet *fl, const struct mount_volume *m, const char *path,
                           const char *text, void (*written)(void *ctx, const struct err *why),
                           void *ctx);

#endif
