/* SPDX-License-Identifier: MIT
 *
 * Decisions without effects: pure functions over plain structs, no I/O, no clock.
 *
 * plan_queue: which waiting runs get which idle nodes. It is asked run by run, in their turn: the
 * highest priority first, and the oldest within one priority. A run gets all its nodes at once.
 *
 * A run that does not fit blocks those behind it, because a steady stream of small runs would
 * starve a big one. With `backfill` those behind it may still start, as long as no higher one has
 * to wait longer for that, as far as time limits tell: for each run that cannot start now, the
 * earliest instant is found at which it can have its nodes, if what runs holds them up to its
 * limit; nodes are kept for it from then on, as long as its own limit is. A lower run starts if it
 * fits into what is left until its limit. So many runs as PLAN_DEPTH are kept nodes for; behind
 * the last of them nothing starts. A run that starts so never changes what a higher one is kept:
 * neither the instant nor the nodes.
 *
 * Nobody knows when a node that is unusable or out of service comes back, or one that is missing is
 * made. If a run needs such nodes they count as if they could be had now, so that nothing gets in
 * its way.
 *
 * Runs that want more nodes than the pool is scaled to stand aside until it is resized, and so do
 * those that want more of a node than any of them has: nothing that the others could wait for would
 * let them run.
 *
 * Runs that some nodes are barred to stand aside as long as the others have no room: those behind
 * them may be served by the nodes that are barred.
 *
 * Of the nodes that will do, those with the lowest ordinals are taken. So parts gather on the first
 * nodes, and others stay whole. (Were nodes preferred of which others have parts already, a lower
 * run could change which nodes a higher one gets.) A run never gets two parts of one node.
 *
 * plan_scale: how many nodes a pool gets or gives up.
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
    enum node_state state;
    int64_t
        idle_since_us; /* since when nothing is there, on the clock of plan_scale_input.now_us */
    int live;          /* allocations that it holds */
    struct capacity has;
    struct capacity left; /* what these leave of it */
    /* Its machine is drained or cannot be reached: it gets no run, automatic scaling does not count
     * on it, and among idle nodes it is the first to leave. */
    bool out_of_service;
    bool keeps;              /* idle, and what runs have left there is to stay for a while */
    bool parting;            /* somebody wants it to leave, before all others */
    enum dealloc_option how; /* parting: what becomes of the runs there */
    /* Unusable because its machine could never be reached or used: another one may take its place.
     */
    bool replaceable;
};

/* What a run that runs has of a node, and until when by its limit. */
struct plan_held {
    size_t node; /* index into the nodes of the plan */
    int64_t end_us;
    struct capacity takes;
};

struct plan_run {
    int64_t id;
    int priority;
    int nodes;
    bool part;            /* it takes only a part of each node: */
    struct capacity need; /* at least a slot */
    int64_t for_us;       /* how long it may hold its nodes, by its limit; 0: nobody knows */
    /* Of one that takes parts: */
    int64_t near;          /* the node that it gets, if there is room for it; 0: any */
    const int64_t *barred; /* nodes that it does not get, by id; borrowed */
    size_t n_barred;
};

/* How many runs that cannot start have nodes kept for them: so many are looked past. */
#define PLAN_DEPTH 32

struct plan_queue_input {
    const struct plan_node *nodes; /* borrowed as long as the plan is used */
    size_t n_nodes;
    int largest; /* plan_largest() */
    bool spread; /* parts are given of the nodes with the most slots left, not of the first */
    bool backfill;
    size_t depth;   /* of backfill; PLAN_DEPTH */
    int64_t now_us; /* on the clock of plan_held.end_us */
    /* Whether to say when the runs that wait may start; without backfill nothing else needs it. */
    bool foresee;
};

enum plan_turn {
    PLAN_STARTS,
    PLAN_WAITS,    /* for others to end */
    PLAN_TOO_MANY, /* stands aside: it wants more nodes than the pool is scaled to */
    PLAN_TOO_MUCH, /* stands aside: there are not enough nodes that have as much as it wants */
    PLAN_BARRED,   /* stands aside: where there is room, it may not go */
    PLAN_NOT_SEEN  /* it is behind the last run that is looked past */
};

struct plan_verdict {
    enum plan_turn turn;
    const struct plan_node **nodes; /* PLAN_STARTS: by rank, as many as it wants */
    int room;                       /* how many nodes have room for it now */
    int64_t behind;   /* the run that those are kept for, or that blocks it; 0: none */
    int64_t start_us; /* when it may start, if it waits and this was foreseen; 0: nobody knows */
    int lacking;      /* it waits for so many nodes that are missing or cannot be used now */
    int coming;       /* and for so many that are being prepared */
};

struct plan_queue;
/* Arena-owned. */
struct plan_queue *plan_queue_new(struct arena *a, const struct plan_queue_input *in);
/* Whether those that ask next may still start, or be foreseen. */
bool plan_queue_goes_on(const struct plan_queue *q);
/* Whether plan_queue_hold() is to be called before the next plan_queue_ask(), because a run behind
 * one that waits is asked for. */
bool plan_queue_wants_held(const struct plan_queue *q);
/* All that runs on these nodes; borrowed. */
void plan_queue_hold(struct plan_queue *q, const struct plan_held *held, size_t n);
/* The next run, in its turn; it takes its nodes if it starts. */
struct plan_verdict plan_queue_ask(struct plan_queue *q, const struct plan_run *r);

/* Whether runs may have parts of this node. */
bool plan_may_serve(const struct plan_node *n);

/* The most nodes that a pool has with these scale settings: runs that want more stand aside. */
int plan_largest(const struct scale *scale);

/* Runs that want parts of nodes, in turn, and what a node has that holds nothing. */
struct plan_parts {
    const struct plan_run *runs;
    size_t n_runs;
    struct capacity node;
    int most; /* nodes that there may be */
};
/* How many nodes that hold nothing they need, besides what is left of those that hold runs. A run
 * that wants more than a node has counts for nothing. */
int plan_parts_demand(struct arena *a, const struct plan_node *nodes, size_t n_nodes,
                      const struct plan_parts *in);

/* Why a pool changes its size; said in its events and the log. */
enum plan_why {
    PLAN_AS_ASKED, /* manual scaling, or it is deleted */
    PLAN_DEMAND,   /* the queue wants more nodes */
    PLAN_BOUNDS,   /* there are fewer than the minimum (or, at first, than initially), or more than
                      the maximum */
    PLAN_IDLE,     /* nodes have idled for long enough */
    PLAN_REPLACED  /* of a node that could never be used */
};

struct plan_scale_input {
    struct scale scale;
    bool deleting; /* the pool is being deleted: its target is 0 */
    bool initial;  /* never been steady: automatic scaling starts with .initial nodes */
    const struct plan_node *nodes;
    size_t n_nodes;
    int64_t demand;          /* nodes that the waiting runs want, in all */
    int64_t now_us, idle_us; /* automatic scaling lets go of nodes that idled this long */
    int free_capacity;       /* how many more nodes there may be, over all pools */
    int good_capacity; /* how many of them are in no trouble, and so worth replacing a node for */
};

struct plan_scale_result {
    int target;                     /* how many nodes the pool should have now */
    int add;                        /* to make */
    int missing;                    /* wanted too, but there is no capacity */
    const struct plan_node **leave; /* arena-owned */
    size_t n_leave;
    int replaced;          /* how many of the nodes that leave are replaced by added ones */
    enum plan_why why;     /* of what is added, or leaves */
    int waiting;           /* should leave, but hold runs, or data, that are waited for */
    int64_t look_again_us; /* when an idle node will have idled long enough; 0: never */
};

void plan_scale(struct arena *a, const struct plan_scale_input *in, struct plan_scale_result *out);

/* For the queue the nodes that are to leave when their runs have ended, or what these left is no
 * longer kept, are leaving already: they would never be empty if they got others meanwhile. */
void plan_empty(struct arena *a, const struct scale *scale, struct plan_node *nodes, size_t n);

/* The lowest positive ordinals that no node has; fills out[0..n). */
void plan_ordinals(struct arena *a, const struct plan_node *nodes, size_t n_nodes, int *out, int n);

#endif
