/* SPDX-License-Identifier: MIT
 *
 * The clock of leases: the time of the daemon's start plus the monotonic time since then, so a
 * change of the system clock neither ends nor prolongs a lease. If a lease has more time left than
 * its duration, the system clock was set back, and then the daemon restarted; such a lease ends its
 * duration after that restart.
 */
#ifndef STORAGE_SHARES_LEASE_CLOCK_H
#define STORAGE_SHARES_LEASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/resource.h"

struct loop;

struct lease_clock {
    struct loop *loop;               /* borrowed */
    int64_t begun_us, begun_mono_us; /* wall clock and monotonic clock at the daemon's start */
};

struct lease {
    enum lease_state state; /* the stored state */
    const char *id;         /* NULL: there was no lease yet */
    int duration_s;         /* seconds, or LEASE_INFINITE */
    int64_t until_us;       /* 0: it does not end */
};

#define LEASE_LONGEST_S 60 /* of a finite lease, or of the end of a broken one */

struct lease_clock lease_clock_begin(struct loop *loop);
int64_t lease_clock_us(const struct lease_clock *c);
/* The time at which the lease ends; 0: it has no end. */
int64_t lease_ends_us(const struct lease_clock *c, const struct lease *l);
/* The present state: the stored state after the time that has passed. */
enum lease_state lease_state_now(const struct lease_clock *c, const struct lease *l);
/* Whether an object with a lease in this state may be changed only by the lease's holder. */
bool lease_is_held(enum lease_state s);

struct lease lease_of_share(const struct share *s);

#endif
