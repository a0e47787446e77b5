/* SPDX-License-Identifier: MIT
 *
 * A loop whose time can be stopped, scaled and stepped, for tests of slow processes. It is built on
 * another loop (the loop below) and uses that loop's threads, deferred calls and iterations; only
 * its clocks and timers are its own. Until somebody sets a rate or starts a walk, its clocks are
 * the clocks of the loop below.
 *
 * A walk moves the virtual time forward from each due timer to the next, and waits at each timer
 * until the work that it caused is done. So the events of six virtual hours happen in order, each
 * at its virtual instant, however little real time the walk takes.
 */
#ifndef LIB_LOOP_VIRTUAL_H
#define LIB_LOOP_VIRTUAL_H

#include "lib/loop.h"

struct loop_virtual;

struct loop_virtual_config {
    struct loop *below; /* borrowed, like the rest */
    /* Returns true while work is in progress that will have further effects. */
    bool (*is_busy)(void *ctx);
    /* Returns a number that grows whenever work makes progress: with each call that is deferred on
     * the loop below, and with all other events that the caller counts. */
    uint64_t (*moves)(void *ctx);
    void *ctx;
};

struct loop_virtual *loop_virtual_create(const struct loop_virtual_config *c);
/* Before the call, all timers of the loop must be destroyed, and no walk may be running. */
void loop_virtual_free(struct loop_virtual *v);
/* The loop with virtual time. */
struct loop *loop_virtual_loop(struct loop_virtual *v);

/* The rate of virtual time: 0 stops it, 1 is the rate of the loop below. The maximum is
 * LOOP_RATE_MAX. */
#define LOOP_RATE_MAX 1e6
void loop_virtual_set_rate(struct loop_virtual *v, double rate);
/* Returns to the clocks of the loop below: the wall clock may go back, the monotonic clock does
 * not. */
void loop_virtual_follow(struct loop_virtual *v);

struct loop_virtual_state {
    bool touched; /* its clocks differ from the clocks of the loop below */
    bool walking;
    double rate; /* during a walk: the rate that applies after the walk */
    bool has_next;
    int64_t next_us; /* the monotonic instant of the next timer */
};
void loop_virtual_look(const struct loop_virtual *v, struct loop_virtual_state *out);

/* The result of a walk. */
struct loop_walked {
    bool arrived; /* false: some work did not end, or the walk was halted; the time stands where it
                     was then */
    uint64_t timers;
};
/* Walks to an instant of the monotonic clock, then calls `done`. No other walk may be running. */
void loop_virtual_walk(struct loop_virtual *v, int64_t to_us,
                       void (*done)(void *ctx, const struct loop_walked *how), void *ctx);
/* Ends a walk at the instant that it has reached. */
void loop_virtual_halt(struct loop_virtual *v);

#endif
