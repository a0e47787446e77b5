/* SPDX-License-Identifier: MIT
 *
 * A loop whose time can be stopped, scaled and stepped, for tests of slow processes. It is above
 * another loop, whose threads, deferred calls and turns it uses; only clocks and timers are its
 * own. Until it is touched, its clocks are those of the loop below.
 *
 * A walk moves the time forward: from each due timer to the next, and waits at each until all
 * consequences are done. So the events of six hours happen in order, each at its instant, however
 * short the walk is.
 */
#ifndef LIB_LOOP_VIRTUAL_H
#define LIB_LOOP_VIRTUAL_H

#include "lib/loop.h"

struct loop_virtual;

struct loop_virtual_config {
    struct loop *below; /* borrowed, like the rest */
    /* Some work in progress is about to have effects. */
    bool (*is_busy)(void *ctx);
    /* A number that grows whenever work moves: with each call that is deferred on the loop below,
     * and with everything else that the caller counts. */
    uint64_t (*moves)(void *ctx);
    void *ctx;
};

struct loop_virtual *loop_virtual_create(const struct loop_virtual_config *c);
/* All timers of the loop must be destroyed, and no walk running. */
void loop_virtual_free(struct loop_virtual *v);
/* The loop with virtual time. */
struct loop *loop_virtual_loop(struct loop_virtual *v);

/* The rate of time: 0 stops it, 1 is the rate below. The maximum is LOOP_RATE_MAX. */
#define LOOP_RATE_MAX 1e6
void loop_virtual_set_rate(struct loop_virtual *v, double rate);
/* Returns to the clocks of the loop below: the wall clock may go back, the monotonic clock does
 * not. */
void loop_virtual_follow(struct loop_virtual *v);

struct loop_virtual_state {
    bool touched; /* its clocks differ from the loop below */
    bool walking;
    double rate; /* during a walk: the rate afterwards */
    bool has_next;
    int64_t next_us; /* the monotonic instant of the next timer */
};
void loop_virtual_look(const struct loop_virtual *v, struct loop_virtual_state *out);

/* How a walk went. */
struct loop_walked {
    bool arrived; /* false: some work did not become quiet, and time stands there */
    uint64_t timers;
};
/* Walks to an instant of the monotonic clock, then calls `done`. No other walk may be running. */
void loop_virtual_walk(struct loop_virtual *v, int64_t to_us,
                       void (*done)(void *ctx, const struct loop_walked *how), void *ctx);
/* Ends a walk where it is. */
void loop_virtual_halt(struct loop_virtual *v);

#endif
