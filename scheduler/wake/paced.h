/* SPDX-License-Identifier: MIT
 *
 * Steps that are held up (model/pace.h): whoever is about to take one asks, and is woken again when
 * its time has come.
 */
#ifndef SCHEDULER_WAKE_PACED_H
#define SCHEDULER_WAKE_PACED_H

#include "model/pace.h"
#include "scheduler/wake/wake.h"

/* Before anything is woken; borrowed. Without it nothing is held up. */
void wakes_set_pace(struct wakes *w, const struct pace *pace);
const struct pace *wakes_pace(const struct wakes *w); /* may be NULL */
/* Things take another time than before: wakes all that wait for an instant. */
void wakes_pace_changed(struct wakes *w);

/* A step that began at an instant of the wall clock, in a subscription or, if that is NULL, in that
 * of a pool. */
struct paced {
    enum pace_step step;
    const char *subscription;
    int64_t pool_id;
    int64_t since_us;
    int64_t before_us; /* how long another takes first, since that instant */
};
/* The instant of wakes_mono() until which it takes; 0: it takes no longer. */
int64_t wakes_paced_until(const struct wakes *w, const struct paced *what);
/* Whether it takes longer. Then (kind, id) is woken when it does not any more. */
bool wake_paced(struct wakes *w, const struct wake_kind *kind, int64_t id,
                const struct paced *what);
/* How long a step takes in a pool; whether anything is held up there. */
int64_t wakes_pace_us(const struct wakes *w, int64_t pool_id, enum pace_step step);
bool wakes_pace_is_on(const struct wakes *w, int64_t pool_id);

#endif
