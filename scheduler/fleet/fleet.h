/* SPDX-License-Identifier: MIT
 *
 * Machines and nodes: the machines of the inventory and their claims; the nodes of pools (local
 * ones and machines) with their links, preparation, watching, release and mounts; and file servers.
 * A node is what its row says; the fleet compares that with what its link says, takes the next step
 * and writes it down.
 *
 * Who works on a node (a run) attaches to it: scheduler/fleet/node/node.h. The fleet knows nobody
 * above it; it tells others through struct fleet_events.
 *
 * Owns the links; borrows wakes, storage, loop, log and site.
 */
#ifndef SCHEDULER_FLEET_FLEET_H
#define SCHEDULER_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/log.h"
#include "model/resource.h"
#include "model/spec.h"
#include "scheduler/front/front.h"
#include "scheduler/site/site.h"
#include "scheduler/wake/wake.h"

struct fleet;
struct node_rt;

/* What the fleet tells those above it. Called from the loop, also inside a transaction, so only
 * note it and wake somebody. */
struct fleet_events {
    /* The nodes of a pool have changed, or what is known of them has. */
    void (*pool_changed)(void *ctx, int64_t pool_id);
    /* More nodes are available than before. `rolled_back`: because a write was taken back, most
     * likely by a full disk, so wait a moment before looking. */
    void (*capacity_freed)(void *ctx, bool rolled_back);
    /* A node of this run was given up, in this transaction. */
    void (*run_hit)(void *ctx, int64_t run_id);
    /* Something that kept a resource from being deleted is gone. */
    void (*deletion_goes_on)(void *ctx);
};

struct fleet_config {
    struct loop *loop;
    struct wakes *wakes;
    struct storage *storage;
    struct files *files;          /* borrowed, like everything here except strings */
    struct transfers *transfers;  /* NULL: URLs of others cannot be had */
    struct loop_lane *login_lane; /* writes what logins on local nodes need */
    const struct log *log;
    struct node_provider *local, *machines; /* machines: NULL without a site */
    struct node_provider *scripted;         /* of local nodes that run no processes, NULL: none */
    const char *scripted_sizes;             /* whose vmSize fits this pattern; borrowed */
    const char *nodes_dir;                  /* local node roots are made below it */
    const char *storage_dir;           /* shares are folders below it: see fleet_share_path() */
    int local_nodes;                   /* limit for the number of local nodes */
    const char *const *local_vm_sizes; /* upper-case, NULL-terminated; NULL or empty: any */
    int mount_timeout_s;               /* for one mount command; 0: 60 */
    int kill_timeout_s; /* a node is unusable when a task is not gone this long after SIGKILL; 0: 60
                         */
    const struct site *site;           /* NULL: the embedded default, local nodes only */
    const struct fronts *fronts;       /* say what the nodes of a pool need; borrowed */
    const struct fleet_events *events; /* of static life */
    void *events_ctx;
};

/* Nodes by the ids of their rows. */
WAKE_KIND(woken_node, "node", WAKE_NODES);

/* Strings are copied. */
struct fleet *fleet_create(const struct fleet_config *c);
/* Reads machines and nodes, wakes all of them, and looks for node roots that no row knows. */
int fleet_start(struct fleet *fl, struct err *e) MUST_CHECK;
/* Closes all links and ends the work of file servers. Each link keeps a reference to the wakes
 * until it is closed. Afterwards detached nodes can be forgotten: fleet_forget_nodes(). */
void fleet_close_links(struct fleet *fl);
void fleet_forget_nodes(struct fleet *fl);
void fleet_free(struct fleet *fl);

/* Links to nodes since the start. */
struct fleet_counts {
    uint64_t opened; /* asked for */
    uint64_t ready;  /* on how many of them the agent said hello */
    uint64_t lost;   /* lost without being closed by us */
};
const struct fleet_counts *fleet_counts(const struct fleet *fl);

const struct site *fleet_site(const struct fleet *fl);
/* Whether there may be local nodes. */
bool fleet_has_local(const struct fleet *fl);
struct files *fleet_files(const struct fleet *fl);
struct transfers *fleet_transfers(const struct fleet *fl);
/* The monotonic instant since which a node is idle and holds nothing: computed once from the row,
 * and at most `longest_us` ago. 0: it is not idle. */
int64_t fleet_node_idle_since(struct fleet *fl, const struct node *row, int64_t longest_us);

/* --- the machines, as people who run them see them ------------------------------------------- */

/* A machine of the inventory, or a local node. Arena-owned texts; NULL: not known or not
 * applicable. */
struct machine_view {
    const char *name;  /* of the machine; for a local node, the node's */
    const char *state; /* "unknown" (never reached), "free", "unreachable", or its node's state */
    bool is_local, drained;
    const char *reason;             /* why drained, unreachable or unusable */
    const char *trouble;            /* what was wrong when it was last tried; NULL: nothing */
    const char *node, *pool, *runs; /* runs: "A, B" */
    const char *const *vm_sizes;    /* NULL-terminated; empty: any */
    enum vm_priority priority;
    int64_t contact_us;         /* last contact; 0: never */
    struct capacity has, taken; /* slots 0: not known; what runs hold of it */
    bool has_facts;
    struct node_facts facts;
};

/* Every machine, in the order of the inventory, then local nodes. */
int fleet_machines(struct fleet *fl, struct arena *a, struct machine_view **out, size_t *n,
                   struct err *e) MUST_CHECK;
/* Drains a machine, or undoes that, by name. On a drained machine running work goes on and nothing
 * new starts; it is not claimed again, and its idle node is not used, though the node stays in its
 * pool. Undraining also tries an unusable node again. ERR_MACHINE_NOT_FOUND; ERR_NOT_SUPPORTED
 * for a local node. */
int fleet_machine_drain(struct fleet *fl, const char *name, const char *reason,
                        struct err *e) MUST_CHECK;
int fleet_machine_undrain(struct fleet *fl, const char *name, struct err *e) MUST_CHECK;
/* Asks the machine to restart; its node is prepared anew when it is back. ERR_CONFLICT while a run
 * runs there; ERR_NOT_SUPPORTED without root; ERR_UNAVAILABLE when there is no link to it, for
 * example because it is free. */
int fleet_machine_reboot(struct fleet *fl, const char *name, struct err *e) MUST_CHECK;

/* Counts the machines that could ever serve nodes of this size and priority, and how many of them
 * are free now; 0 and 0 without machines. */
void machines_count(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                    int *serving, int *free_now);
/* Whether a node of such a pool can have `need`, as far as is known: true, unless every machine
 * that serves the pool (or, without any, a local node) was reached and none has that much. *most:
 * the largest of each amount among them. */
bool fleet_part_fits(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                     const struct capacity *need, struct capacity *most);
/* How many machines that serve the pool are free and had no trouble when last tried. */
int machines_good(const struct fleet *fl, const char *vm_size, enum vm_priority priority);
/* The position in a series of picks. Begins zeroed. The series is void as soon as anything happens
 * except that its picks are claimed. */
struct machine_pick {
    int promise;
    size_t next;
};
/* Picks the most promising free machine for a node that is about to be written; 0: there is none.
 * *name is borrowed. */
int64_t machines_pick(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                      struct machine_pick *pick, const char **name);
/* A dedicated pool is short of machines of this size; NULL: of none any more. Until then none is
 * lent that it could have. Returns whether it wanted some before, and wants none now: others may
 * have them. */
bool machines_want(struct fleet *fl, int64_t pool_id, const char *vm_size);
/* The nodes on machines that serve dedicated pools of this size and may be lent: by inventory. */
void machines_lent(const struct fleet *fl, struct arena *a, const char *vm_size, int64_t **nodes,
                   size_t *n);
/* Notes in memory who has a machine. The node row that was written says the same. */
void machines_claimed(struct fleet *fl, int64_t machine_id, int64_t node_id, int64_t pool_id);
/* What is known of a node's machine. */
struct machine_use {
    const char *name, *reason; /* reason: why drained, or NULL */
    bool drained, in_inventory, troubled;
};
/* False: there is no such machine. */
bool machines_use(const struct fleet *fl, int64_t machine_id, struct machine_use *out);
/* Why nothing new begins on a node although its row does not say so: its disk has no room, or
 * cannot be written to. NULL: something may. Borrowed until the next turn. */
const char *fleet_node_closed(const struct fleet *fl, int64_t node_id);
/* Reads drained machines and claims from the rows again, because something was rolled back. */
void machines_reread(struct fleet *fl);
/* How many nodes a pool of scripted nodes may have: they take memory only. */
#define SCRIPTED_NODES_MAX 10000
/* Whether the nodes of such a pool are scripted ones; the pattern of their sizes (NULL: there are
 * none). */
bool fleet_is_scripted(const struct fleet *fl, const char *vm_size);
const char *fleet_scripted_sizes(const struct fleet *fl);
/* Whether `vm_size` is one of the sizes, in any case. */
bool fleet_is_size_of(const char *const *sizes, const char *vm_size);
/* The sizes of nodes with this priority that can be had, for people: "A, B", or "none".
 * Arena-owned.
 */
const char *fleet_sizes(const struct fleet *fl, struct arena *a, enum vm_priority priority);
/* Why `missing` of the `target` nodes of a pool cannot be had. Arena-owned. */
const char *machines_shortage(struct fleet *fl, struct arena *a, const struct pool *p, int target,
                              int missing);

/* --- nodes ------------------------------------------------------------------------------------ */

/* Called inside the transaction that releases a node. If the node was given up but that write was
 * rolled back (a full disk), it is written again before others may have the node. */
int fleet_write_loss(struct fleet *fl, int64_t node_id, struct err *e) MUST_CHECK;
/* Wakes the runs that have a part of the node, once what was written so far is on disk. */
int fleet_wake_runs(struct fleet *fl, struct arena *a, int64_t node_id, struct err *e) MUST_CHECK;

/* Whether the node is a machine that its agent can restart, and there is a link to it; and restarts
 * it: the node becomes unusable and is prepared when the machine is back. */
bool fleet_node_may_reboot(const struct fleet *fl, int64_t node_id);
int fleet_node_reboot(struct fleet *fl, int64_t node_id, struct err *e) MUST_CHECK;

/* Where people log in on a node. */
struct node_login {
    const char *address; /* arena-owned */
    int port;
};
void fleet_node_login(struct fleet *fl, struct arena *a, const struct node *row,
                      struct node_login *out);

/* Once all writes so far are on disk, removes the directories of runs on a node that its rows do
 * not keep. */
void fleet_sweep_when_durable(struct fleet *fl, int64_t node_id);

/* The users of a node are others now, or one of them is gone: its name. */
void fleet_node_users_changed(struct fleet *fl, int64_t node_id, const char *gone);

/* Takes a node away for a while, as a cloud does with low-priority ones: what ran there is queued
 * again, and the node is prepared anew when it can be reached again. */
void fleet_node_preempt(struct fleet *fl, int64_t node_id);

/* Asks what the node's machine does, if there is a link to it. Each answer is good for a minute. */
void fleet_ask_usage(struct fleet *fl, int64_t node_id);
/* What it has done between the last two answers; false: that is not known. */
struct node_used {
    double seconds;
    struct node_usage in_between; /* counters: how much they have grown; levels: as they are */
};
bool fleet_node_used(const struct fleet *fl, int64_t node_id, struct node_used *out);

/* A directory on a node, for code that lists or reads its files. */
struct output_dir {
    int64_t node_id;
    int rank;
    const char *node, *base; /* the node's name; the directory there */
    const char *run_dir;     /* the run's own, below <root>/RUNS_DIR; NULL: the agent's rights are
                                used, which do not lead out of `base` */
    bool is_local;           /* a local node: the daemon can also see files on its shares */
};

/* Lists or reads `path` below the directory with the rights of the run's account: see
 * node_list_dir() and node_read_file(). The callback runs once, later; its arguments are valid
 * during the call. ERR_FILE_NOT_FOUND, ERR_INVALID_PATH, ERR_IO; ERR_UNAVAILABLE (at once or
 * later): the node cannot be reached now; ERR_NODE_LOST: it is unusable and was tried in vain. */
struct node_bytes;
typedef void (*fleet_dir_cb)(void *ctx, const struct err *why, const struct node_dir_entry *list,
                             size_t n);
typedef void (*fleet_bytes_cb)(void *ctx, const struct err *why, const struct node_bytes *got);
int fleet_list_dir(struct fleet *fl, const struct output_dir *at, const char *path, fleet_dir_cb cb,
                   void *ctx, struct err *e) MUST_CHECK;
int fleet_read_file(struct fleet *fl, const struct output_dir *at, const char *path, int64_t offset,
                    size_t max, fleet_bytes_cb cb, void *ctx, struct err *e) MUST_CHECK;
/* Removes a file, or a directory with all in it: see the request remove_tree. */
typedef void (*fleet_done_cb)(void *ctx, const struct err *why);
int fleet_remove(struct fleet *fl, const struct output_dir *at, const char *path, fleet_done_cb cb,
                 void *ctx, struct err *e) MUST_CHECK;
/* The daemon stops: answers all of them now, and every later one at once, with ERR_UNAVAILABLE. */
void fleet_end_reads(struct fleet *fl);

/* --- file servers ---------------------------------------------------------------------------- */

/* Who serves a file server. */
struct file_server_backing {
    bool is_local;         /* `directory` is a folder of the daemon's storage */
    const char *host;      /* name or address; 127.0.0.1 for a local one */
    const char *directory; /* the directory on that host */
    const char *options;   /* of mount(8), or NULL */
    const char *machine; /* the machine of the inventory that has to be made to export it; NULL: it
                            is exported already */
};
/* A file server is to be set up by a machine (struct file_server_backing); its row is creating. */
void fleet_wake_file_server(struct fleet *fl, int64_t id);
/* False: nobody. Arena-owned texts. */
bool fleet_file_server_backing(const struct fleet *fl, struct arena *a, const struct file_server *f,
                               struct file_server_backing *out);
/* For a file server that is marked as deleting: true once its row may be removed. Otherwise work
 * was begun, and deletion_goes_on is called when it is done. */
bool file_server_cleared(struct fleet *fl, struct arena *a, int64_t id);
/* The row was removed. */
void file_server_forget(struct fleet *fl, int64_t id);

/* The folder behind a file share or blob container (share_folder()). Arena-owned; the folder
 * is not made. */
const char *fleet_share_path(const char *storage_dir, struct arena *a,
                             const struct mount_volume *m);
/* Appends to a file of such a share; makes the file and the directories above it if they are
 * missing. `written` is called once, later; with an error if it was not written. */
void fleet_append_to_share(struct fleet *fl, const struct mount_volume *m, const char *path,
                           const char *text, void (*written)(void *ctx, const struct err *why),
                           void *ctx);

#endif
