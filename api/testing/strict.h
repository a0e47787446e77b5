/* SPDX-License-Identifier: MIT
 *
 * Strict mode: in the subscriptions that ask for it, things take the time that they took in the
 * service, pass through its states, and are throttled as they were there; and headers are sent
 * that are left out otherwise. By the clock of what is served.
 *
 * strict.c reads what is asked for (profiles), strict_profile.c finds it, strict_limits.c counts
 * requests, and strict_counts.c keeps how many there were.
 */
#ifndef API_TESTING_STRICT_H
#define API_TESTING_STRICT_H

#include "api/testing/strict_counts.h"
#include "api/testing/testing.h"
#include "model/pace.h"

/* What one subscription asks for. */
struct strict_profile {
    char *subscription; /* NULL: all that ask for nothing themselves */
    bool on;
    int64_t takes_us[PACE_STEPS];
    int most[STRICT_LIMITS_END];
    struct strict_profile *next;
};

struct testing_strict {
    struct pace pace;
    struct storage *storage; /* borrowed, as is access */
    const struct access *access;
    bool begun_on;                  /* the daemon was started so */
    struct strict_profile *first;   /* owned, as the next */
    struct strict_profile *general; /* of all that ask for nothing themselves */
    struct strict_counts *counts;   /* owned */
};

/* --- strict_profile.c --------------------------------------------------------------------------
 */

/* The profile that holds in a subscription. Never NULL. */
const struct strict_profile *strict_profile_of(const struct testing_strict *s,
                                               const char *subscription);
/* Of struct pace; ctx is a struct testing_strict. */
bool strict_is_on(const void *ctx, const char *subscription);
int64_t strict_takes_us(const void *ctx, const char *subscription, enum pace_step step);

/* --- strict_limits.c -------------------------------------------------------------------------- */

/* Counts a request that is about to be carried out; not NULL: there were too many before it. */
const struct injected *strict_count_request(struct testing_strict *s, struct request *r);

#endif
