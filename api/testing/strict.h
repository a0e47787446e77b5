/* SPDX-License-Identifier: MIT
 *
 * Strict mode. In a subscription that turns it on, operations take as long as in Azure, resources
 * pass through the states that they have in Azure, requests are throttled as there, and replies
 * have headers that are otherwise left out. Times follow the daemon's clock.
 *
 * strict.c reads requests that change profiles, strict_profile.c finds the profile of a
 * subscription, strict_limits.c applies limits to requests, and strict_counts.c keeps the counts.
 */
#ifndef API_TESTING_STRICT_H
#define API_TESTING_STRICT_H

#include "api/testing/strict_counts.h"
#include "api/testing/testing.h"
#include "model/pace.h"

/* The settings of strict mode of one subscription. */
struct strict_profile {
    char *subscription; /* NULL: of all subscriptions that have no profile */
    bool on;
    int64_t takes_us[PACE_STEPS];
    int most[STRICT_LIMITS_END];
    struct strict_profile *next;
};

struct testing_strict {
    struct pace pace;
    struct storage *storage; /* borrowed, as is access */
    const struct access *access;
    bool begun_on;                  /* the daemon was started with strict mode on */
    struct strict_profile *first;   /* owned, like `general` */
    struct strict_profile *general; /* of all subscriptions that have no profile */
    struct strict_counts *counts;   /* owned */
};

/* --- strict_profile.c --------------------------------------------------------------------------
 */

/* The profile that applies in a subscription. Never NULL. */
const struct strict_profile *strict_profile_of(const struct testing_strict *s,
                                               const char *subscription);
/* Functions for struct pace; ctx is a struct testing_strict. */
bool strict_is_on(const void *ctx, const char *subscription);
int64_t strict_takes_us(const void *ctx, const char *subscription, enum pace_step step);

/* --- strict_limits.c -------------------------------------------------------------------------- */

/* Counts a request before it is carried out. Returns the error reply if the limit was reached
 * already, else NULL. */
const struct injected *strict_count_request(struct testing_strict *s, struct request *r);

#endif
