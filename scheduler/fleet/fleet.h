/* SPDX-License-Identifier: MIT
 *
 * Machines and nodes: the machines of the inventory and who has claimed each, the nodes of pools
 * (local ones and machines), their links, preparation, watching and release, what is mounted on
 * them, file servers. A node is what its row says; the fleet compares that with what its link says,
 * takes the next step and writes it down.
 *
 * Who works on a node (a run) attaches to it: scheduler/fleet/node.h. The fleet knows nobody above
 * it: what others have to know it tells through struct fleet_events.
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
#include "scheduler/fleet/front.h"
#include "scheduler/fleet/site.h"
#include "scheduler/wake/wake.h"

struct fleet;
struct node_rt;

/* What the fleet tells. Called from the loop, also from inside a transaction: note it, wake. */
struct fleet_events {
    /* The nodes of a pool are not what they were, or what is known of them. */
    void (*pool_changed)(void *ctx, int64_t pool_id);
    /* Nodes can be had that could not be had before. `rolled_back`: as something that was written
     * is not there; not to be looked at at once, because a full disk would be the cause. */
    void (*capacity_freed)(void *ctx, bool rolled_back);
    /* What kept a resource from being deleted is gone. */
    void (*deletion_goes_on)(void *ctx);
};

struct fleet_config {
    struct loop *loop;
    struct wakes *wakes;
    struct storage *storage;
    struct files *files;          /* borrowed, as is all here but for strings */
    struct loop_lane *login_lane; /* writes what logins on local nodes need */
    const struct log *log;
    struct node_provider *local, *machines; /* machines: NULL without a site */
    const char *nodes_dir;                  /* local node roots are made below it */
    const char *storage_dir;           /* shares are folders below it: see fleet_share_path() */
    int local_nodes;                   /* how many local nodes there may be in all */
    const char *const *local_vm_sizes; /* upper-case, NULL-terminated; NULL or empty: any */
    int mount_timeout_s;               /* for one mount command; 0: 60 */
    int kill_timeout_s; /* for tasks to be gone after SIGKILL: then their node is unusable; 0: 60 */
    const struct site *site;           /* NULL: the embedded default, local nodes only */
    const struct front *front;         /* says what the nodes of a pool need; borrowed */
    const struct fleet_events *events; /* of static life */
    void *events_ctx;
};

/* Strings are copied. */
struct fleet *fleet_create(const struct fleet_config *c);
/* Reads machines and nodes, wakes all of them, and looks for node roots that no row knows. */
int fleet_start(struct fleet *fl, struct err *e) MUST_CHECK;
/* Closes all links and ends file servers' work; each keeps a reference to the wakes until it is
 * closed. Then detached nodes are forgotten: fleet_forget_nodes(). */
void fleet_close_links(struct fleet *fl);
void fleet_forget_nodes(struct fleet *fl);
void fleet_free(struct fleet *fl);

/* Links to nodes since the start. */
struct fleet_counts {
    uint64_t opened; /* asked for */
    uint64_t ready;  /* of these, how many the agent greeted on */
    uint64_t lost;   /* of all, not closed from here */
};
const struct fleet_counts *fleet_counts(const struct fleet *fl);

const struct site *fleet_site(const struct fleet *fl);
/* Since when a node is idle and does nothing, on the monotonic clock: reckoned once from the row,
 * and at most `longest_us` ago. 0: it is not. */
int64_t fleet_node_idle_since(struct fleet *fl, const struct node *row, int64_t longest_us);

/* --- the machines, as people who run them see them ------------------------------------------- */

/* A machine of the inventory, or a local node. Arena-owned texts; NULL where there is nothing. */
struct machine_view {
    const char *name;  /* the inventory's; the node's for a local one */
    const char *state; /* "unknown" (never reached), "free", "unreachable", or its node's state */
    bool is_local, drained;
    const char *reason;                /* why drained, unreachable or unusable */
    const char *node, *cluster, *jobs; /* jobs: "A, B" */
    const char *const *vm_sizes;       /* NULL-terminated; empty: any */
    enum vm_priority priority;
    int64_t contact_us; /* last contact; 0: never */
    bool has_facts;
    struct node_facts facts;
};

/* Every machine, in the order of the inventory, then local nodes. */
int fleet_machines(struct fleet *fl, struct arena *a, struct machine_view **out, size_t *n,
                   struct err *e) MUST_CHECK;
/* By name. Drained: what runs there goes on, nothing new starts; the machine is not claimed again
 * and its idle node is no longer used, though it stays in its cluster. Undraining also tries an
 * unusable node again. ERR_MACHINE_NOT_FOUND; ERR_NOT_SUPPORTED for a local node. */
int fleet_machine_drain(struct fleet *fl, const char *name, const char *reason,
                        struct err *e) MUST_CHECK;
int fleet_machine_undrain(struct fleet *fl, const char *name, struct err *e) MUST_CHECK;
/* Asks the machine to restart; its node is prepared anew when it is back. ERR_CONFLICT while a job
 * runs there; ERR_NOT_SUPPORTED without root; ERR_UNAVAILABLE when there is no link to it, as to a
 * free machine. */
int fleet_machine_reboot(struct fleet *fl, const char *name, struct err *e) MUST_CHECK;

/* How many machines could ever serve a pool's nodes of this size and priority, and how many of them
 * are free now; 0 and 0 where there are none. */
void machines_count(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                    int *serving, int *free_now);
/* How many that serve it are free and had no trouble when last tried. */
int machines_good(const struct fleet *fl, const char *vm_size, enum vm_priority priority);
/* How far a series of picks has come, which begins with zeros and is over when anything happens but
 * that its picks are claimed. */
struct machine_pick {
    int promise;
    size_t next;
};
/* The most promising free one, for a node that is to be written; 0: none. *name is borrowed. */
int64_t machines_pick(const struct fleet *fl, const char *vm_size, enum vm_priority priority,
                      struct machine_pick *pick, const char **name);
/* Notes who has a machine, beside the node row that was written and says so. */
void machines_claimed(struct fleet *fl, int64_t machine_id, int64_t node_id, int64_t pool_id);
/* What is known of a node's machine. */
struct machine_use {
    const char *name, *reason; /* reason: why drained, or NULL */
    bool drained, in_inventory, troubled;
};
/* False: there is no such machine. */
bool machines_use(const struct fleet *fl, int64_t machine_id, struct machine_use *out);
/* Reads again what the rows say of drained machines and claims: something was rolled back. */
void machines_reread(struct fleet *fl);
/* Is `vm_size` one of them, whatever its case? */
bool fleet_is_size_of(const char *const *sizes, const char *vm_size);
/* The sizes that nodes of this priority may have here, for people: "A, B", or "none". Arena-owned.
 */
const char *fleet_sizes(const struct fleet *fl, struct arena *a, enum vm_priority priority);
/* Why `missing` of the `target` nodes of a pool cannot be had. Arena-owned. */
const char *machines_shortage(struct fleet *fl, struct arena *a, const struct pool *p, int target,
                              int missing);

/* --- nodes ------------------------------------------------------------------------------------ */

/* Inside the transaction that releases a node: if it was given up and that is not written any more,
 * as the disk was full, it is written before others may have the node. */
int fleet_write_loss(struct fleet *fl, int64_t node_id, struct err *e) MUST_CHECK;
/* Wakes the runs that have a part of the node, once what was written so far is on disk. */
int fleet_wake_runs(struct fleet *fl, struct arena *a, int64_t node_id, struct err *e) MUST_CHECK;

/* Where people log in on a node. */
struct node_login {
    const char *address; /* arena-owned */
    int port;
};
void fleet_node_login(struct fleet *fl, struct arena *a, const struct node *row,
                      struct node_login *out);

/* Directories of jobs on a node that its rows do not keep are removed once what was written so far
 * is on disk. */
void fleet_sweep_when_durable(struct fleet *fl, int64_t node_id);

/* A directory on a node, for who looks at what is in it. */
struct output_dir {
    int64_t node_id;
    int rank;
    const char *node, *base; /* the node's name; the directory there */
    const char *job_dir;     /* the job's own, below <root>/jobs there */
    bool is_local;           /* a local node: what is on a share, the daemon sees too */
};

/* What is at `path` below it, with the rights of the job's account: see node_list_dir() and
 * node_read_file(). Answered once, later; what is lent is borrowed for the call.
 * ERR_FILE_NOT_FOUND, ERR_INVALID_PATH, ERR_IO; ERR_UNAVAILABLE (at once or later): the node cannot
 * be reached now. */
struct node_bytes;
typedef void (*fleet_dir_cb)(void *ctx, const struct err *why, const struct node_dir_entry *list,
                             size_t n);
typedef void (*fleet_bytes_cb)(void *ctx, const struct err *why, const struct node_bytes *got);
int fleet_list_dir(struct fleet *fl, const struct output_dir *at, const char *path, fleet_dir_cb cb,
                   void *ctx, struct err *e) MUST_CHECK;
int fleet_read_file(struct fleet *fl, const struct output_dir *at, const char *path, int64_t offset,
                    size_t max, fleet_bytes_cb cb, void *ctx, struct err *e) MUST_CHECK;
/* Answers all of them now, and every later one at once, with ERR_UNAVAILABLE: the daemon stops. */
void fleet_end_reads(struct fleet *fl);

/* --- file servers ---------------------------------------------------------------------------- */

/* Who serves a file server. */
struct file_server_backing {
    bool is_local;         /* `directory` is a folder of the daemon's storage */
    const char *host;      /* name or address; 127.0.0.1 for a local one */
    const char *directory; /* on that host */
    const char *options;   /* of mount(8), or NULL */
    const char *machine; /* of the inventory, that is to be made export it; NULL: it does already */
};
/* One is to be set up, by a machine (struct file_server_backing): its row is creating. */
void fleet_wake_file_server(struct fleet *fl, int64_t id);
/* False: nobody. Arena-owned texts. */
bool fleet_file_server_backing(const struct fleet *fl, struct arena *a, const struct file_server *f,
                               struct file_server_backing *out);
/* For one that is marked as deleting: true once its row may go. Else work was begun, and
 * deletion_goes_on is told when it is done. */
bool file_server_cleared(struct fleet *fl, struct arena *a, int64_t id);
/* The row was removed. */
void file_server_forget(struct fleet *fl, int64_t id);

/* The folder behind an Azure file share or blob container: <storage_dir>/<account>/files/<share> or
 * .../blobs/<container>. Lower-case names. Arena-owned; the folder is not made. */
const char *fleet_share_path(const char *storage_dir, struct arena *a,
                             const struct mount_volume *m);
/* Appends to a file of such a share, which is made if need be with the directories above it.
 * `written` is called once, later; ERR_...: it was not. */
void fleet_append_to_share(struct fleet *fl, const struct mount_volume *m, const char *path,
                           const char *text, void (*written)(void *ctx, const struct err *why),
                           void *ctx);

#endif
