/* SPDX-License-Identifier: MIT
 *
 * A loop whose time can be stopped, scaled and stepped, for tests of what takes hours. It stands on
 * another one, whose threads, deferred calls and turns it uses; only clocks and timers are its own.
 * Until it is touched, its clocks are those of the loop below.
 *
 * A walk takes the time forward: from each timer that is due to the next, and at each until all
 * that follows from it has come to rest. So what happens within six hours happens in its order,
 * each thing at its instant, however short the walk is.
 */
#ifndef LIB_LOOP_VIRTUAL_H
#define LIB_LOOP_VIRTUAL_H

#include "lib/loop.h"

struct loop_virtual;

struct loop_virtual_config {
    struct loop *below; /* borrowed, like the rest */
    /* Something is under way that is about to have effects. */
    bool (*is_busy)(void *ctx);
    /* A number that grows whenever something was deferred on the loop below. */
    uint64_t (*deferred)(void *ctx);
    void *ctx;
};

struct loop_virtual *loop_virtual_create(const struct loop_virtual_config *c);
/* Its timers must be destroyed, and no walk be on. */
void loop_virtual_free(struct loop_virtual *v);
/* For those who live in its time. */
struct loop *loop_virtual_loop(struct loop_virtual *v);

/* How fast time goes: 0 stops it, 1 is as below. The longest is LOOP_RATE_MAX. */
#define LOOP_RATE_MAX 1e6
void loop_virtual_set_rate(struct loop_virtual *v, double rate);
/* The clocks of the loop below again: the wall clock may go back, the monotonic one does not. */
void loop_virtual_follow(struct loop_virtual *v);

struct loop_virtual_state {
    bool touched; /* not the clocks of the loop below */
    bool walking;
    double rate; /* while it walks: the one afterwards */
    bool has_next;
    int64_t next_us; /* the monotonic instant of the next timer */
};
void loop_virtual_look(const struct loop_virtual *v, struct loop_virtual_state *out);

/* How a walk went. */
struct loop_walked {
    bool arrived; /* false: something did not come to rest, and time stands there */
    uint64_t timers;
};
/* Walks to an instant of the monotonic clock, then calls `done`. Must not be on already. */
void loop_virtual_walk(struct loop_virtual *v, int64_t to_us,
                       void (*done)(void *ctx, const struct loop_walked *how), void *ctx);
/* Ends a walk where it is. */
void loop_virtual_halt(struct loop_virtual *v);

#endif
