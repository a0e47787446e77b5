/* SPDX-License-Identifier: MIT
 *
 * The interface that a service above the core implements. The service ("front") owns resources and
 * their documents; the core handles pools and runs, and neither reads a document nor calls a
 * service by name. The core asks the front for the settings of runs and mounts. The core reports
 * the results of a run inside the transaction that writes them, so nothing must be repeated after a
 * crash.
 *
 * struct front is the first member of the service's struct; the core borrows it for its whole life.
 * Several services may use one core: each pool, run and file server belongs to the front that owns
 * its kind (front_of()).
 */
#ifndef SCHEDULER_FRONT_FRONT_H
#define SCHEDULER_FRONT_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/failure.h"
#include "model/front_words.h"
#include "model/resource.h"
#include "model/spec.h"

struct sched;
struct storage;
struct front;

/* How a run ended. */
struct run_end {
    bool was_queued; /* the run never had a node */
    bool succeeded;
    bool stopped; /* its user stopped it */
    bool has_exit_code;
    int exit_code;
    const struct failure *why; /* NULL: succeeded */
    int64_t now_us;
};

/* The end of a preparation on one of a run's nodes. */
struct run_prep {
    int rank; /* of the node */
    bool has_exit_code;
    int exit_code;
    const struct failure *why; /* NULL: well */
    int64_t now_us;
};

/* A container that has started on one of a run's nodes. */
struct run_container {
    int rank; /* of the node */
    const char *id;
};

/* How many of its target nodes a pool has. */
struct pool_nodes {
    int usable;  /* ready for runs, or being prepared */
    int no_use;  /* unusable, or out of service */
    int missing; /* target nodes for which there is no capacity */
};

/* The nodes of a pool compared with its target. */
struct pool_scaled {
    bool settled; /* the pool has reached the target, and no node is leaving */
    int missing;  /* nodes for which there is no capacity */
    /* not NULL: the pool gets no nodes, because of these errors of the service (a JSON list) */
    const char *refused;
};

/* A secret of a Key Vault that a run or, without a run, its pool refers to. */
struct secret_wish {
    const char *url;
    int64_t pool_id;
    const struct run *run;
};
struct secret_answer {
    const char *value;          /* must be wiped; NULL: not available */
    const char *cause, *remedy; /* the cause of a failure, and its remedy */
};

/* Steps that the core takes at once, but that took some time in the real service (strict mode). */
enum front_step {
    STEP_POOL_CREATION,   /* a new pool gets no nodes */
    STEP_ALLOCATION,      /* a resized pool gets no new nodes */
    STEP_AUTO_ALLOCATION, /* a pool with automatic scaling gets no new nodes */
    STEP_AUTO_IDLE,       /* a node is idle before automatic scaling removes it */
    STEP_NODE_CREATION,   /* a new node is not visible */
    STEP_NODE_START,      /* a new node is visible, and its preparation has not begun */
    STEP_NODE_SETUP,      /* the set-up task of a new node runs, if it has one */
    STEP_NODE_LEAVING,
    STEP_RUN_START, /* a run waits for its first nodes */
    STEP_RUN_STOP,  /* a terminated run continues */
    STEP_FILE_SERVER_CREATION,
    FRONT_STEPS
};

/* How a front reads its documents: the storage, and the arena. */
struct front_read {
    struct storage *st;
    struct arena *a;
    bool secrets; /* the result contains secrets */
};

/* The reasons why a run waits for its nodes. */
enum run_waits {
    /* The run requests more nodes than its pool has at its present scale, so other runs overtake
     * it. Reported once for each size of the pool. */
    WAITS_FOR_SCALE,
    /* The run requests more of each node than any node of its pool has, so other runs overtake it.
     * Reported once. */
    WAITS_FOR_LARGER_NODES,
    /* The run is first in the queue and cannot get its nodes now, even if all become idle; the runs
     * behind it wait too. Reported once for each number of usable nodes. */
    WAITS_FOR_NODES
};
struct run_waiting {
    const struct pool *pool;
    const struct run *run;
    enum run_waits why;
    const struct pool_nodes *have; /* for WAITS_FOR_NODES only */
};

/* Unless its comment differs, a function may be NULL, which means: does nothing and returns 0.
 * Every front has load_pool, pool_name, run_name, load and ended. */
struct front_ops {
    /* begin: the scheduler has started, and the front may continue its own work (deletions of its
     * resources). end: no function is called any more. */
    void (*begin)(struct front *f, struct sched *s);
    void (*end)(struct front *f);
    /* Loads the settings of a pool's nodes, to be wiped with node_setup_wipe(). 1: loaded; 0: the
     * pool is deleted; -1: error. */
    int (*load_pool)(const struct front *f, const struct front_read *how, int64_t pool_id,
                     struct node_setup_spec *out, struct err *e);
    /* Adds the users of one node, with their passwords, to `out`. */
    int (*load_users)(const struct front *f, const struct front_read *how, int64_t node_id,
                      int64_t now_us, struct node_setup_spec *out, struct err *e);
    /* The names of a pool and a run for people; "" if it is deleted. In the arena. `full`: with its
     * kind and place, for users of another pool. */
    const char *(*pool_name)(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id, bool full);
    /* The name of a pool for patterns of the site: PLACE/NAME. "" if it is deleted. In the arena.
     * NULL: patterns match no pool of this front. */
    const char *(*pool_path)(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id);
    const char *(*run_name)(const struct front *f, struct storage *st, struct arena *a,
                            const struct run *r);
    /* Loads the spec of a run, to be wiped with run_spec_wipe(). */
    int (*load)(const struct front *f, const struct front_read *how, const struct run *r,
                struct run_spec *out, struct err *e);
    /* The least duration of a step (strict mode), in a pool or for a file server (otherwise
     * NULL). */
    int64_t (*takes_us)(const struct front *f, enum front_step step, int64_t pool_id,
                        const struct file_server *server);
    /* Reads a secret with the rights of the resource's owner. Texts are in the arena. NULL: the
     * front has no secrets. */
    int (*read_secret)(const struct front *f, struct storage *st, struct arena *a,
                       const struct secret_wish *w, struct secret_answer *out, struct err *e);
    /* *held: the run's nodes must complete another step first (place_spec.held); the front wakes
     * the run when that has changed. */
    int (*is_held)(const struct front *f, struct storage *st, const struct run *r, bool *held,
                   struct err *e);
    /* The run got its nodes. */
    int (*started)(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                   struct err *e);
    /* The run's nodes are prepared, and its processes begin. Only for display: not called for a run
     * without preparation, or a run that was in progress at the daemon's start. */
    int (*prepared)(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                    struct err *e);
    /* A preparation has ended on one of the run's nodes; may be called twice for a node. */
    int (*part_prepared)(const struct front *f, struct storage *st, const struct run *r,
                         const struct run_prep *part, struct err *e);
    /* The run's container has started on one of its nodes; may be called twice for a node. */
    int (*contained)(const struct front *f, struct storage *st, const struct run *r,
                     const struct run_container *c, struct err *e);
    /* The run is in progress, and is being terminated. */
    int (*stopping)(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                    struct err *e);
    int (*ended)(const struct front *f, struct storage *st, const struct run *r,
                 const struct run_end *end, struct err *e);
    /* The run lost its nodes, and waits for others; `why` is the reason in one line. */
    int (*requeued)(const struct front *f, struct storage *st, const struct run *r, const char *why,
                    int64_t now_us, struct err *e);
    /* The run has ended and its nodes are free, so waiting clients may be informed. May be called
     * again. */
    int (*may_forget)(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e);
    /* Informs people that a run waits; nothing else depends on it. */
    void (*waits)(const struct front *f, struct storage *st, const struct run_waiting *w);

    /* A pass over a pool has decided on its nodes; called in the pass's transaction. */
    int (*scaled)(const struct front *f, struct storage *st, const struct pool *p,
                  const struct pool_scaled *s, int64_t now_us, struct err *e);
    /* *left_us: how long the files of runs still stay on a node; 0: they do not stay. */
    int (*kept_for)(const struct front *f, struct storage *st, const struct node *nd,
                    int64_t *left_us, struct err *e);
    /* The pool's nodes have room, but no run in the queue can use it: no run waits, or too many of
     * the waiting runs may not use these nodes. */
    void (*has_room)(const struct front *f, const struct pool *p);

    /* Called when an obstacle to the removal of a resource may be gone: a node, a run, a pool's
     * queue, work for a file server. */
    void (*may_remove)(struct front *f);
    /* Another front has marked resources for deletion that contain resources of this front. */
    void (*marked)(struct front *f);
    /* Whether the front is about to remove waiting runs. Such runs need not fail although their
     * pool is deleted: may_remove() is not called for them, and the front wakes the pool
     * afterwards. */
    bool (*removes_runs)(const struct front *f);

    /* The file server of a mount; *out is NULL if there is none, or it is being deleted. */
    int (*find_file_server)(const struct front *f, struct storage *st, struct arena *a,
                            const char *name, struct file_server **out, struct err *e);
    /* A file server in state creating has been set up (`why` has code FAIL_NONE), or has failed. */
    int (*file_server_made)(const struct front *f, struct storage *st, int64_t id,
                            const struct failure *why, int64_t now_us, struct err *e);
};

#define KEPT_FOR_EVER INT64_MAX

#define FRONT_OWNS(kind) (UINT32_C(1) << (kind))

/* Calls a function that returns a number and may be NULL. */
#define FRONT_ASK(front, function, ...)                                                            \
    ((front)->ops->function ? (front)->ops->function((front), __VA_ARGS__) : 0)

struct front {
    const struct front_ops *ops;
    const struct front_words *words; /* the words for all texts about pools and runs */
    uint32_t owns; /* FRONT_OWNS() of the kinds of its pools, owners of runs and file servers */
};

/* The services on one core. Each kind has one owner. */
#define FRONTS_MAX 4
struct fronts {
    struct front *all[FRONTS_MAX + 1]; /* borrowed; ends with a NULL */
};
/* The owner of a kind of pool, run owner or file server; storage accepts only kinds with an
 * owner. */
struct front *front_of(const struct fronts *fronts, enum resource_kind kind);
/* The least duration of a step in a pool of the front; 0: none. */
int64_t front_takes_us(const struct front *f, enum front_step step, int64_t pool_id);

#endif
