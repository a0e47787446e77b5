/* SPDX-License-Identifier: MIT
 *
 * Decisions without effects: pure functions over plain structs, no I/O, no clock.
 *
 * plan_queue decides which waiting runs get which idle nodes. The caller asks about each run in
 * order: the highest priority first, within one priority the oldest first. A run gets all its nodes
 * at once.
 *
 * A run that does not fit blocks the runs behind it, because otherwise a steady stream of small
 * runs would starve a big run. With `backfill` a run behind it may still start if, according to the
 * time limits, this delays no run before it. For each run that cannot start now, the plan finds the
 * earliest instant at which it can have its nodes if running runs hold theirs up to their limits;
 * nodes are reserved for it from then on, for the length of its own limit. A run behind it starts
 * if it fits into the capacity that is not reserved, until its own limit. At most PLAN_DEPTH runs
 * get reservations; no run behind the last of these starts. A start by backfill never changes the
 * instant or the nodes of an earlier run's reservation.
 *
 * The time when an unusable or missing node becomes available is unknown. If a run needs such
 * nodes, its reservation treats them as available now, so that no later run delays it.
 *
 * A run that requests more nodes than the pool's scale allows "stands aside" (it blocks no run
 * behind it) until the pool is resized. A run that requests more of a node than any node has stands
 * aside too, because the end of no other run would help it.
 *
 * A run that may not use some nodes ("barred") stands aside while the other nodes have no room:
 * runs behind it may use the barred nodes.
 *
 * A run gets the suitable nodes with the lowest ordinals. So runs with parts of nodes share the
 * first nodes, and the others stay whole. (If nodes with parts of other runs were preferred, a
 * later run could change the nodes of an earlier run.) A run never gets two parts of one node.
 *
 * plan_scale decides how many nodes a pool gets or gives up.
 */
#ifndef SCHEDULER_PLAN_H
#define SCHEDULER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "model/enums.h"
#include "model/resource.h"

struct plan_node {
    int64_t id;
    size_t at; /* index of its row in the caller's array */
    int ordinal;
    bool low; /* a low-priority node: part of struct scale.low, not of its target */
    enum node_state state;
    int64_t idle_since_us; /* when it became free, on the clock of plan_scale_input.now_us */
    int live;              /* number of its allocations */
    struct capacity has;
    struct capacity left; /* the capacity that the allocations leave free */
    /* The node's machine is drained or cannot be reached: it gets no run, automatic scaling does
     * not count it, and among idle nodes it is the first to leave. */
    bool out_of_service;
    bool keeps;              /* the files of runs on the node must stay for a while */
    bool parting;            /* a request asks this node to leave, before all others */
    enum dealloc_option how; /* parting: the treatment of its runs */
    /* Unusable because its machine could never be reached or used: another machine may replace
     * it. */
    bool replaceable;
};

/* The part of a node that a running run holds, and its end by its time limit. */
struct plan_held {
    size_t node; /* index into the nodes of the plan */
    int64_t end_us;
    struct capacity takes;
};

struct plan_run {
    int64_t id;
    int priority;
    int nodes;
    bool part;            /* it requests only a part of each node */
    struct capacity need; /* what it requests of each node: at least a slot */
    int64_t for_us;       /* how long it may hold its nodes, by its limit; 0: not known */
    /* Only for a run that requests parts of nodes: */
    int64_t near;          /* id of the node that it prefers if there is room; 0: none */
    const int64_t *barred; /* ids of nodes that it may not have; borrowed */
    size_t n_barred;
};

/* How many runs that cannot start get reservations. */
#define PLAN_DEPTH 32

struct plan_queue_input {
    const struct plan_node *nodes; /* borrowed as long as the plan is used */
    size_t n_nodes;
    int largest; /* the result of plan_largest() */
    bool spread; /* parts are taken from the nodes with the most free slots, instead of the first
                    nodes */
    bool backfill;
    size_t depth;   /* for backfill: the number of reservations (PLAN_DEPTH) */
    int64_t now_us; /* present time, on the clock of plan_held.end_us */
    /* Whether to compute when waiting runs may start. Without backfill only the display needs
     * this. */
    bool foresee;
};

enum plan_turn {
    PLAN_STARTS,
    PLAN_WAITS,    /* until other runs end */
    PLAN_TOO_MANY, /* stands aside: it requests more nodes than the pool's scale allows */
    PLAN_TOO_MUCH, /* stands aside: too few nodes have the capacity that it requests */
    PLAN_BARRED,   /* stands aside: only barred nodes have room */
    PLAN_NOT_SEEN  /* it is behind the last run with a reservation */
};

struct plan_verdict {
    enum plan_turn turn;
    const struct plan_node **nodes; /* PLAN_STARTS: by rank, as many as it requested */
    int room;                       /* how many nodes have room for it now */
    int64_t behind; /* id of the run whose reservation it would break, or that blocks it; 0: none */
    int64_t start_us; /* when it may start, if it waits and `foresee` is set; 0: not known */
    int lacking;      /* how many missing or unusable nodes it waits for */
    int coming;       /* how many nodes in preparation it waits for */
};

struct plan_queue;
/* Makes a plan; it is in the arena. */
struct plan_queue *plan_queue_new(struct arena *a, const struct plan_queue_input *in);
/* Whether later runs may still start, or their starts can be computed. */
bool plan_queue_goes_on(const struct plan_queue *q);
/* Whether plan_queue_hold() must be called before the next plan_queue_ask(), because the next run
 * is behind a waiting run. */
bool plan_queue_wants_held(const struct plan_queue *q);
/* Passes all running runs on these nodes; borrowed. */
void plan_queue_hold(struct plan_queue *q, const struct plan_held *held, size_t n);
/* Asks for the next run in order; it takes its nodes if it starts. */
struct plan_verdict plan_queue_ask(struct plan_queue *q, const struct plan_run *r);

/* Whether runs may have parts of this node. */
bool plan_may_serve(const struct plan_node *n);

/* The most nodes that a pool has with these scale settings: runs that request more nodes stand
 * aside. */
int plan_largest(const struct scale *scale);

/* Runs that request parts of nodes, in order, and the capacity of a free node. */
struct plan_parts {
    const struct plan_run *runs;
    size_t n_runs;
    struct capacity node;
    int most; /* the most nodes that may be counted */
};
/* How many free nodes the runs need, in addition to free parts of nodes with runs. A run that
 * requests more than a node has is ignored. */
int plan_parts_demand(struct arena *a, const struct plan_node *nodes, size_t n_nodes,
                      const struct plan_parts *in);

/* The reason of a pool's resize, for its events and the log. */
enum plan_why {
    PLAN_AS_ASKED, /* manual scaling, or the pool is deleted */
    PLAN_DEMAND,   /* the queue wants more nodes */
    PLAN_BOUNDS,  /* there are fewer nodes than the minimum (or, at first, than the initial number),
                     or more than the maximum */
    PLAN_IDLE,    /* nodes have idled for long enough */
    PLAN_REPLACED /* a node that could never be used is replaced */
};

struct plan_scale_input {
    struct scale scale;
    bool deleting; /* the pool is being deleted: its target is 0 */
    bool initial;  /* the pool was never steady: automatic scaling starts with .initial nodes */
    const struct plan_node *nodes;
    size_t n_nodes;
    int64_t demand;          /* nodes that the waiting runs request together */
    int64_t now_us, idle_us; /* automatic scaling removes nodes that were idle this long */
    int free_capacity;       /* how many more nodes are available, for all pools */
    /* how many of the available nodes have no problem, and so may replace a node */
    int good_capacity;
};

struct plan_scale_result {
    int target;  /* how many nodes the pool should have now */
    int add;     /* nodes to make */
    int missing; /* further nodes that should be made, but there is no capacity */
    const struct plan_node **leave; /* arena-owned */
    size_t n_leave;
    int replaced;      /* how many of the leaving nodes are replaced by added nodes */
    enum plan_why why; /* the reason of the additions or removals */
    int waiting;       /* nodes that should leave, but hold runs or data that must stay for now */
    int64_t look_again_us; /* when an idle node will have been idle long enough; 0: never */
};

void plan_scale(struct arena *a, const struct plan_scale_input *in, struct plan_scale_result *out);

/* For the queue, nodes that will leave after their runs, or after the retention of files, are
 * treated as leaving already, because they would never become empty if they got further runs. Each
 * class of nodes has a separate target. */
void plan_empty(struct arena *a, const struct scale *scale, struct plan_node *nodes, size_t n);

/* The lowest positive ordinals that no node has, in out[0..n). */
void plan_ordinals(struct arena *a, const struct plan_node *nodes, size_t n_nodes, int *out, int n);

#endif
