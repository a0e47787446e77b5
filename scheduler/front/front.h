/* SPDX-License-Identifier: MIT
 *
 * The interface that a service above the core implements. The service owns resources
 * and their documents; the core knows pools and runs, and neither reads a document
 * nor calls a service by name. The core asks the front what to run and mount. It tells the front
 * what became of a run inside the transaction that writes the change, so there is nothing to tell
 * again after a crash.
 *
 * The first member of the service's own struct; the core borrows it for its whole life. Several
 * services may stand on one core: each pool, run and file server belongs to the one that owns its
 * kind (front_of()).
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
    bool was_queued; /* it never had a node */
    bool succeeded;
    bool stopped; /* as its user asked */
    bool has_exit_code;
    int exit_code;
    const struct failure *why; /* NULL: succeeded */
    int64_t now_us;
};

/* How a preparation ended on one of a run's nodes. */
struct run_prep {
    int rank; /* of the node */
    bool has_exit_code;
    int exit_code;
    const struct failure *why; /* NULL: well */
    int64_t now_us;
};

/* The container that has started on one of a run's nodes. */
struct run_container {
    int rank; /* of the node */
    const char *id;
};

/* How many of the nodes that a pool is scaled to it has. */
struct pool_nodes {
    int usable;  /* fit for runs, or will be when they are prepared */
    int no_use;  /* unusable, or taken out of service */
    int missing; /* there is no capacity for them */
};

/* What a pool has of what it is scaled to. */
struct pool_scaled {
    bool settled;        /* it has all of it, and nothing leaves any more */
    int missing;         /* nodes for which there is no capacity */
    const char *refused; /* a list of errors of the service (JSON): it gets none; NULL: it may */
};

/* A secret of a Key Vault that a run refers to or, without a run, its pool. */
struct secret_wish {
    const char *url;
    int64_t pool_id;
    const struct run *run;
};
struct secret_answer {
    const char *value;          /* to be wiped; NULL: it cannot be had */
    const char *cause, *remedy; /* why not, and what helps */
};

/* What the core does at once, but may have taken its time in the service that a front stands for.
 */
enum front_step {
    STEP_POOL_CREATION,   /* a new pool gets no nodes */
    STEP_ALLOCATION,      /* a pool that wants another size gets no new nodes */
    STEP_AUTO_ALLOCATION, /* likewise, if it scales by itself */
    STEP_AUTO_IDLE,       /* a node idles before automatic scaling lets it go */
    STEP_NODE_CREATION,   /* a new node says nothing */
    STEP_NODE_START,      /* it says something, and its preparation has not begun */
    STEP_NODE_SETUP,      /* its set-up task, if it has one */
    STEP_NODE_LEAVING,
    STEP_RUN_START, /* a run waits for its first nodes */
    STEP_RUN_STOP,  /* a run that its user ends goes on */
    STEP_FILE_SERVER_CREATION,
    FRONT_STEPS
};

/* How a front reads what it has: from where, and into whose arena. */
struct front_read {
    struct storage *st;
    struct arena *a;
    bool secrets; /* with them; else there are none in what is read */
};

/* Which run waits, and why it cannot have its nodes. */
enum run_waits {
    /* It wants more nodes than its pool is scaled to now, so others go ahead of it. Said once for
     * each size of the pool. */
    WAITS_FOR_SCALE,
    /* It wants more of each node than any node of its pool has, so others go ahead of it. Said
     * once. */
    WAITS_FOR_LARGER_NODES,
    /* It is the first that waits and cannot get its nodes now, even if all of them become idle;
     * those behind it wait too. Said once for each number of usable nodes. */
    WAITS_FOR_NODES
};
struct run_waiting {
    const struct pool *pool;
    const struct run *run;
    enum run_waits why;
    const struct pool_nodes *have; /* WAITS_FOR_NODES */
};

/* Where nothing else is said, a function that is NULL counts as one that does nothing and returns
 * 0. No front lacks load_pool, pool_name, run_name, load and ended. */
struct front_ops {
    /* begin: the scheduler has started, and the front may go on with its own work (deletions of its
     * resources). end: nothing is called any more. */
    void (*begin)(struct front *f, struct sched *s);
    void (*end)(struct front *f);
    /* What the nodes of a pool need. 1, 0 (the pool is gone) or -1. To be wiped with
     * node_setup_wipe(). */
    int (*load_pool)(const struct front *f, const struct front_read *how, int64_t pool_id,
                     struct node_setup_spec *out, struct err *e);
    /* Adds to `out` the users of one node, with their passwords. */
    int (*load_users)(const struct front *f, const struct front_read *how, int64_t node_id,
                      int64_t now_us, struct node_setup_spec *out, struct err *e);
    /* The names that people know a pool and a run by; "" if it is gone. The arena's. `full`: says
     * also what it is and where, for users of another pool. */
    const char *(*pool_name)(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id, bool full);
    /* What patterns of the site name a pool by: PLACE/NAME. "" if it is gone. The arena's. NULL: no
     * such pattern names a pool of this front. */
    const char *(*pool_path)(const struct front *f, struct storage *st, struct arena *a,
                             int64_t pool_id);
    const char *(*run_name)(const struct front *f, struct storage *st, struct arena *a,
                            const struct run *r);
    /* What a run is to do. To be wiped with run_spec_wipe(). */
    int (*load)(const struct front *f, const struct front_read *how, const struct run *r,
                struct run_spec *out, struct err *e);
    /* How long a step takes at least, in a pool or for a file server (else NULL), as strict mode
     * wants it. */
    int64_t (*takes_us)(const struct front *f, enum front_step step, int64_t pool_id,
                        const struct file_server *server);
    /* Reads it, for those whom the resource is made for. Texts are the arena's. NULL: none of the
     * front's can be read. */
    int (*read_secret)(const struct front *f, struct storage *st, struct arena *a,
                       const struct secret_wish *w, struct secret_answer *out, struct err *e);
    /* *held: its nodes must do something else first (place_spec.held); the front wakes the run when
     * that has changed. */
    int (*is_held)(const struct front *f, struct storage *st, const struct run *r, bool *held,
                   struct err *e);
    /* It has nodes. */
    int (*started)(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                   struct err *e);
    /* Its nodes are prepared, and its processes begin. For people alone: nothing is told of a run
     * that needs no preparation, nor of one that was under way when the daemon started. */
    int (*prepared)(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                    struct err *e);
    /* A preparation has ended on one of its nodes; may be called again for the same one. */
    int (*part_prepared)(const struct front *f, struct storage *st, const struct run *r,
                         const struct run_prep *part, struct err *e);
    /* Its container has started on one of its nodes; may be called again for the same one. */
    int (*contained)(const struct front *f, struct storage *st, const struct run *r,
                     const struct run_container *c, struct err *e);
    /* It runs, and is to be ended. */
    int (*stopping)(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                    struct err *e);
    int (*ended)(const struct front *f, struct storage *st, const struct run *r,
                 const struct run_end *end, struct err *e);
    /* Its nodes are gone, and it waits for others; `why` says why in a line. */
    int (*requeued)(const struct front *f, struct storage *st, const struct run *r, const char *why,
                    int64_t now_us, struct err *e);
    /* It has ended and holds nothing, so those who wait for that may be told. May be called again.
     */
    int (*may_forget)(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e);
    /* For people alone. */
    void (*waits)(const struct front *f, struct storage *st, const struct run_waiting *w);

    /* A pass over a pool has decided on its nodes; in its transaction. */
    int (*scaled)(const struct front *f, struct storage *st, const struct pool *p,
                  const struct pool_scaled *s, int64_t now_us, struct err *e);
    /* For how long what its runs have left on a node is to stay there; 0: nothing is. */
    int (*kept_for)(const struct front *f, struct storage *st, const struct node *nd,
                    int64_t *left_us, struct err *e);
    /* Nothing waits in the pool, and its nodes have room. */
    void (*has_room)(const struct front *f, const struct pool *p);

    /* Something that may have kept a resource from being removed is gone or over: a node, a run, a
     * pool's queue, work for a file server. */
    void (*may_remove)(struct front *f);
    /* Whether the front is about to remove waiting runs. Such runs need not be failed although
     * their pool is deleted: may_remove() is not called for them, and the front wakes the pool
     * afterwards. */
    bool (*removes_runs)(const struct front *f);

    /* The file server that a mount names; *out is NULL if there is none, or if it is being deleted.
     */
    int (*find_file_server)(const struct front *f, struct storage *st, struct arena *a,
                            const char *name, struct file_server **out, struct err *e);
    /* A file server that was creating has been set up (FAIL_NONE in `why`), or has failed. */
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
    const struct front_words *words; /* for all that users read of pools and runs */
    uint32_t owns; /* FRONT_OWNS() of the kinds of its pools, owners of runs and file servers */
};

/* The services on one core. No two own things of one kind. */
#define FRONTS_MAX 4
struct fronts {
    struct front *all[FRONTS_MAX + 1]; /* borrowed; ends with a NULL */
};
/* Whose a pool, an owner of runs or a file server is; storage gives nobody a kind that none owns.
 */
struct front *front_of(const struct fronts *fronts, enum resource_kind kind);
/* How long a step takes at least in a pool of the front; 0: no time. */
int64_t front_takes_us(const struct front *f, enum front_step step, int64_t pool_id);

#endif
