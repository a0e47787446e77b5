/* SPDX-License-Identifier: MIT
 *
 * The scheduler: a set of level-triggered reconcilers. Each compares the desired with the actual
 * state (both in the database), takes the next step, writes it down, and repeats. Any reconciler
 * may run again at any time without harm; that is also how the daemon starts after kill -9: it
 * reads the database, opens a link to each node, asks which tasks it knows, and goes on.
 *
 * api/ writes rows through storage/ and wakes the reconcilers here; sched_turn() runs those that
 * were woken, in the same loop turn and so in the same transaction as the request. Effects on nodes
 * happen only once the decision is on disk (st_when_durable).
 *
 * Knows nothing of HTTP. Owns fleet and runs; borrows storage, loop, log and providers.
 */
#ifndef SCHEDULER_SCHEDULER_H
#define SCHEDULER_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/log.h"
#include "lib/timefmt.h"
#include "model/resource.h"
#include "model/spec.h"
#include "scheduler/front/front.h"
#include "scheduler/site/site.h"
#include "scheduler/wake/wake.h"

struct fleet;
struct runs;
struct sched;
struct storage;
struct files;
struct loop_lane;

/* Somebody who keeps new nodes from pools: a test. */
struct sched_gate {
    /* Whether the pool, which lacks nodes, is to get none now. *error: what its errors say of it,
     * as failure_append() writes it, in the arena; NULL: nothing. Asked again after
     * sched_gate_opened(). */
    bool (*is_shut)(void *ctx, struct arena *a, const struct pool *p, const char **error);
    void *ctx;
};

struct sched_config {
    struct loop *loop; /* borrowed */
    struct storage *storage;
    struct files *files;          /* must not stop before the scheduler has */
    struct transfers *transfers;  /* likewise; NULL: URLs of others cannot be had */
    struct loop_lane *login_lane; /* writes what logins on local nodes need */
    const struct log *log;
    struct node_provider *local, *machines; /* of nodes; borrowed. machines: NULL without a site */
    /* Local nodes that run no processes are those of the pools whose vmSize fits this pattern
     * (fnmatch(3), in any case). NULL: none. */
    struct node_provider *scripted;
    const char *scripted_sizes;
    struct sched_gate gate;            /* is_shut NULL: there is none */
    const char *nodes_dir;             /* local node roots are made below it */
    const char *storage_dir;           /* shares are folders below it: see fleet_share_path() */
    int local_nodes;                   /* how many local nodes there may be in all */
    const char *const *local_vm_sizes; /* upper-case, NULL-terminated; NULL or empty: any */
    int autoscale_idle_s; /* how long a node idles before automatic scaling lets it go */
    int mount_timeout_s;  /* for one mount command; 0: 60 */
    int kill_timeout_s; /* for tasks to be gone after SIGKILL: then their node is unusable; 0: 60 */
    struct fronts fronts; /* the services whose pools and runs these are */
    /* fnmatch(3) patterns of the pools with backfill (plan.h): of their names or, with a slash, of
     * what front_ops.pool_path says. Copied. */
    const char *const *backfill;
    size_t n_backfill;
    int kept_outputs;        /* for how many ended runs a node keeps output on its own disk */
    const struct site *site; /* borrowed; NULL: the embedded default, local nodes only */
};

/* Pools by the ids of their rows. */
WAKE_KIND(woken_pool, "pool", WAKE_POOLS);

struct sched *sched_create(const struct sched_config *c);
/* Reads the database and resumes. */
int sched_start(struct sched *s, struct err *e) MUST_CHECK;
/* Closes the links (tasks go on), then calls `cb` and frees s. Until then the caller goes on
 * calling st_turn_end(), because the scheduler waits for callbacks of storage; sched_turn() does
 * nothing any more. */
void sched_stop(struct sched *s, void (*cb)(void *ctx), void *ctx);

/* Runs the reconcilers that were woken. Call at each turn end, before st_turn_end(). */
void sched_turn(struct sched *s);

/* Wakes the reconciler: the pool's scale, nodes or queue changed. */
void sched_wake_pool(struct sched *s, int64_t pool_id);
/* The first run of `owner`, which wants this many nodes, was queued: wakes its pool. If the pool is
 * too small for it as it is scaled now, the front is told at once (front_ops.waits). */
void sched_run_queued(struct sched *s, int64_t pool_id, const struct scale *scale,
                      enum resource_kind owner, int64_t owner_id, int nodes);
/* For a pool that is being deleted. cleared: whether nothing waits in it any more. removed: its row
 * is gone. */
int sched_pool_cleared(struct sched *s, struct arena *a, int64_t pool_id, bool *cleared,
                       struct err *e) MUST_CHECK;
void sched_pool_gone(struct sched *s, int64_t pool_id);

/* Asks a node for something (WISH_LEAVE to WISH_REST; WISH_NOTHING: takes that back); `how`: what
 * becomes of the runs there. A node that is asked to leave leaves as soon as its pool has more
 * nodes than it is scaled to. */
int sched_node_ask(struct sched *s, const struct node *nd, enum node_wish wish,
                   enum dealloc_option how, struct err *e) MUST_CHECK;
/* Gives it no further run; `off`: what becomes of those there. 0: it may get runs again. */
int sched_node_set_off(struct sched *s, const struct node *nd, enum dealloc_option off,
                       struct err *e) MUST_CHECK;
/* The row of a pool that was being deleted is gone: the fronts look at what it kept. */
void sched_row_gone(struct sched *s);

/* Pools that lacked nodes may get some: see struct sched_gate. */
void sched_gate_opened(struct sched *s);

/* For direct calls to machines, nodes and runs. */
struct fleet *sched_fleet(const struct sched *s);
struct runs *sched_runs(const struct sched *s);
struct wakes *sched_wakes(const struct sched *s);

/* What the nodes of a pool are: machines of the inventory that serve its vmSize with its
 * vmPriority, if there is any such machine; otherwise local nodes, if they serve the size. A
 * machine is claimed by one pool alone, as long as the node exists. A pool never has both: as long
 * as it has nodes, new ones are of the same kind, even if the inventory has changed.
 *
 * Local nodes are limited by configuration, and a pool that asks for more is refused. A pool waits
 * for machines: it stays resizing, says in its errors who has them, and goes on when they become
 * free or the inventory grows. */

/* Whether new nodes of such a pool would be local. */
bool sched_is_local(const struct sched *s, const char *vm_size, enum vm_priority priority);
/* False: runs of such a pool reach the daemon's own files, so they are the first principal's. */
bool sched_is_for_all(const struct sched *s, const char *vm_size, enum vm_priority priority);
/* Whether they would be local although nobody knows a size of this name: neither the site's
 * configuration nor the service that this stands for. */
bool sched_serves_any_size(const struct sched *s, const char *vm_size, enum vm_priority priority);
/* Refuses a size that is not served here, and more nodes than there can ever be. Target is the
 * property path. */
int sched_check_scale(const struct sched *s, enum resource_kind kind, const char *vm_size,
                      enum vm_priority priority, const struct scale *scale,
                      struct err *e) MUST_CHECK;
/* The most nodes that a run of such a pool may ask for; with more it would wait for ever. */
int sched_most_nodes(const struct sched *s, const char *vm_size, enum vm_priority priority,
                     const struct scale *scale);
/* Whether a node of such a pool can have as much, as far as is known: fleet_part_fits(). If not,
 * *most (the arena's) says how much nodes have at most. */
bool sched_part_fits(const struct sched *s, struct arena *a, const char *vm_size,
                     enum vm_priority priority, const struct capacity *need, const char **most);

#endif
