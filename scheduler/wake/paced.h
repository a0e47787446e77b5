/* SPDX-License-Identifier: MIT
 *
 * Steps that strict mode delays (model/pace.h): the code before such a step asks whether it must
 * wait, and is woken again when the delay is over.
 */
#ifndef SCHEDULER_WAKE_PACED_H
#define SCHEDULER_WAKE_PACED_H

#include "model/pace.h"
#include "scheduler/wake/wake.h"

/* Call before the first wake; `pace` is borrowed. Without it no step is delayed. */
void wakes_set_pace(struct wakes *w, const struct pace *pace);
const struct pace *wakes_pace(const struct wakes *w); /* may be NULL */
/* Call when the pace has changed: wakes all ids that have a deadline. */
void wakes_pace_changed(struct wakes *w);

/* A step that began at an instant of the wall clock, in a subscription or, if that is NULL, in a
 * pool's subscription. */
struct paced {
    enum pace_step step;
    const char *subscription;
    int64_t pool_id;
    int64_t since_us;
    /* how long (us) the step before it takes, since that instant; this step follows */
    int64_t before_us;
};
/* When the step ends, by the clock of wakes_mono(); 0: it has ended. */
int64_t wakes_paced_until(const struct wakes *w, const struct paced *what);
/* Whether the step has not ended yet. If so, (kind, id) is woken at its end. */
bool wake_paced(struct wakes *w, const struct wake_kind *kind, int64_t id,
                const struct paced *what);
/* How long a step takes in a pool; whether strict mode is on there. */
int64_t wakes_pace_us(const struct wakes *w, int64_t pool_id, enum pace_step step);
bool wakes_pace_is_on(const struct wakes *w, int64_t pool_id);

#endif
