/* SPDX-License-Identifier: MIT
 *
 * The scheduler: a set of level-triggered reconcilers. Each compares the desired with the actual
 * state (both in the database), takes the next step, writes it down, and repeats. Any reconciler
 * may run again at any time without harm. So the start after kill -9 needs no special case: the
 * daemon reads the database, opens a link to each node, asks for its known tasks, and continues.
 *
 * api/ writes rows through storage/ and wakes the reconcilers here; sched_turn() runs the woken
 * reconcilers in the same loop turn and so in the same transaction as the request. Effects on nodes
 * happen only when the decision is on disk (st_when_durable).
 *
 * Independent of HTTP. Owns fleet and runs; borrows storage, loop, log and providers.
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
#include "scheduler/keep.h"
#include "scheduler/site/site.h"
#include "scheduler/wake/wake.h"

struct fleet;
struct runs;
struct sched;
struct storage;
struct files;
struct loop_lane;

/* A test's gate that keeps new nodes from pools. */
struct sched_gate {
    /* Whether the pool gets no nodes now, although it lacks some. *error: the text for its errors,
     * as failure_append() writes it, in the arena; NULL: none. Asked again after
     * sched_gate_opened(). */
    bool (*is_shut)(void *ctx, struct arena *a, const struct pool *p, const char **error);
    void *ctx;
};

struct sched_config {
    struct loop *loop; /* borrowed */
    struct storage *storage;
    struct files *files;         /* must not stop before the scheduler has */
    struct transfers *transfers; /* borrowed too; NULL: foreign URLs are not available */
    struct share_server *shares; /* NULL: no shares for machines; see struct fleet_config */
    const char *shares_address;
    struct loop_lane *login_lane; /* writes the files for logins on local nodes */
    const struct log *log;
    int sample_every_s; /* see struct fleet_config, as for the next member */
    struct history *samples;
    /* providers of nodes; borrowed. machines: NULL without a site */
    struct node_provider *local, *machines;
    /* Local nodes of a pool are fake if its vmSize matches this pattern (fnmatch(3), without regard
     * to case). NULL: none are. */
    struct node_provider *scripted;
    const char *scripted_sizes;
    struct sched_gate gate; /* is_shut NULL: no gate */
    const char *nodes_dir;  /* the parent directory of local node roots */
    /* the parent directory of the folders of shares: see fleet_share_path() */
    const char *storage_dir;
    int local_nodes;                   /* the most local nodes of all pools together */
    const char *const *local_vm_sizes; /* upper-case, NULL-terminated; NULL or empty: any size */
    int autoscale_idle_s; /* how long (s) a node is idle before automatic scaling removes it */
    int mount_timeout_s;  /* time limit of a mount command; 0: 60 */
    int kill_timeout_s;   /* time limit (s) for tasks to end after SIGKILL: then their node becomes
                             unusable; 0: 60 */
    struct fronts fronts; /* the services that own these pools and runs */
    /* fnmatch(3) patterns of the pools with backfill (plan.h): for their names or, with a slash,
     * for the text of front_ops.pool_path. Copied. */
    const char *const *backfill;
    size_t n_backfill;
    int kept_outputs;        /* how many ended runs may keep output on a node's disk */
    struct keep_limits keep; /* how long ended resources are kept */
    const struct site *site; /* borrowed; NULL: the embedded default, local nodes only */
};

/* Wakes pools by the ids of their rows. */
WAKE_KIND(woken_pool, "pool", WAKE_POOLS);

/* Settings that may change while the scheduler runs. */
struct sched_settings {
    const struct site *site; /* see fleet_use_site() */
    int autoscale_idle_s, kept_outputs;
    const char *const *backfill;
    size_t n_backfill;
    struct keep_limits keep;
};
/* Changes the settings. -1: err, and nothing has changed. */
int sched_change(struct sched *s, const struct sched_settings *c, struct err *e) MUST_CHECK;

struct sched *sched_create(const struct sched_config *c);
/* Reads the database and resumes. */
int sched_start(struct sched *s, struct err *e) MUST_CHECK;
/* Closes the links (tasks continue), then calls `cb` and frees s. Until then the caller must keep
 * calling st_turn_end(), because the scheduler waits for callbacks of storage; sched_turn() does
 * nothing any more. */
void sched_stop(struct sched *s, void (*cb)(void *ctx), void *ctx);

/* Runs the woken reconcilers. Call at each turn end, before st_turn_end(). */
void sched_turn(struct sched *s);

/* Call when the pool's scale, nodes or queue changed: wakes its reconciler. */
void sched_wake_pool(struct sched *s, int64_t pool_id);
/* Call when the first run of `owner`, with this number of nodes, was queued: wakes its pool. If the
 * pool's present scale is too small for the run, this is reported to the front at once
 * (front_ops.waits). */
void sched_run_queued(struct sched *s, int64_t pool_id, const struct scale *scale,
                      enum resource_kind owner, int64_t owner_id, int nodes);
/* For a pool that is being deleted. sched_pool_cleared(): *cleared is whether no run waits in the
 * pool any more. sched_pool_gone(): call when the pool's row was removed. */
int sched_pool_cleared(struct sched *s, struct arena *a, int64_t pool_id, bool *cleared,
                       struct err *e) MUST_CHECK;
void sched_pool_gone(struct sched *s, int64_t pool_id);

/* Records a request about a node (WISH_LEAVE to WISH_REST; WISH_NOTHING: withdraws it); `how`: the
 * treatment of its runs. A node that is asked to leave does so as soon as its pool has more nodes
 * than its target. A node that rests, and is asked to leave, rests again if this is withdrawn; a
 * node that is to be wiped, or is being wiped, is wiped then. */
int sched_node_ask(struct sched *s, const struct node *nd, enum node_wish wish,
                   enum dealloc_option how, struct err *e) MUST_CHECK;
/* Excludes the node from further runs; `off`: the treatment of its present runs. 0: it may get runs
 * again. */
int sched_node_set_off(struct sched *s, const struct node *nd, enum dealloc_option off,
                       struct err *e) MUST_CHECK;
/* Call when the row of a deleted pool was removed: the fronts check the resources that waited for
 * this. */
void sched_row_gone(struct sched *s);
/* Call when resources were marked for deletion: the fronts continue to delete their own resources
 * in them. */
void sched_marked(struct sched *s);

/* Call when pools that lacked nodes may get some: see struct sched_gate. */
void sched_gate_opened(struct sched *s);

/* For direct calls to machines, nodes and runs. */
struct fleet *sched_fleet(const struct sched *s);
struct runs *sched_runs(const struct sched *s);
struct wakes *sched_wakes(const struct sched *s);

/* The kind of a pool's nodes: machines of the inventory that serve its vmSize with its vmPriority,
 * if there is any such machine; otherwise local nodes, if they serve the size. A machine is claimed
 * by one pool alone, as long as the node exists. A pool never has both: as long as it has nodes,
 * new nodes are of the same kind, even if the inventory has changed.
 *
 * Local nodes are limited by configuration, and a pool that requests more is refused. A pool waits
 * for machines: it stays resizing, its errors name their holders, and it continues when they become
 * free or the inventory grows. */

/* Whether new nodes of such a pool would be local. */
bool sched_is_local(const struct sched *s, const char *vm_size, enum vm_priority priority);
/* Whether new nodes of such a pool would mount this share or container from the daemon. Local nodes
 * do, and so do machines for which the site has no rule to mount it. */
bool sched_mounts_own(const struct sched *s, const char *vm_size, enum vm_priority priority,
                      const struct mount_volume *m);
/* True: any principal may use such a pool. False: runs in it can reach the files of the daemon, so
 * only the first principal may use it. */
bool sched_is_for_all(const struct sched *s, const char *vm_size, enum vm_priority priority);
/* Whether its nodes would be local although the size is unknown: neither in the site's
 * configuration nor a size of the service. */
bool sched_serves_any_size(const struct sched *s, const char *vm_size, enum vm_priority priority);
/* Checks a scale: refuses a size that is not served here, and more nodes than possible. The error's
 * target is the path of the property. */
int sched_check_scale(const struct sched *s, enum resource_kind kind, const char *vm_size,
                      enum vm_priority priority, const struct scale *scale,
                      struct err *e) MUST_CHECK;
/* The most nodes that a run of such a pool may request; with more it would wait forever. */
int sched_most_nodes(const struct sched *s, const char *vm_size, enum vm_priority priority,
                     const struct scale *scale);
/* Whether a node of such a pool can have `need`, as far as is known: fleet_part_fits(). If not,
 * *most (in the arena) is a text with the largest capacity. */
bool sched_part_fits(const struct sched *s, struct arena *a, const char *vm_size,
                     enum vm_priority priority, const struct capacity *need, const char **most);

#endif
