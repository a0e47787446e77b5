/* SPDX-License-Identifier: MIT
 *
 * Forgets rows of ended resources, by age and by count. When the scheduler begins, the owner of a
 * table describes how its rows are forgotten (struct keep_kind). The site sets how long they are
 * kept. The record of use stays: its tables do not refer to rows that can be forgotten.
 *
 * Each kind is checked every ten minutes and when the limits change. A check counts and forgets a
 * few rows in each turn of the loop, so that it does not block the loop.
 */
#ifndef SCHEDULER_KEEP_H
#define SCHEDULER_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct sched;
struct storage;

enum keep_class { KEEP_OWNERS, KEEP_EVENTS, KEEP_OPERATIONS, KEEP_OUTPUTS, KEEP_CLASSES };

/* The limits for the rows that are kept. 0: no limit. */
struct keep_limit {
    int64_t age_us;
    int64_t most; /* the most rows of each kind */
};
struct keep_limits {
    struct keep_limit of[KEEP_CLASSES];
};

/* The rows to forget. */
struct keep_cut {
    int64_t before_us; /* rows that ended earlier are forgotten; 0: age is no reason to forget */
    /* rows whose measure (keep_kind.nth) is lower are forgotten; 0: number is no reason to
     * forget */
    int64_t before;
    int64_t now_us;
};

struct keep_kind {
    enum keep_class of;
    const char *what; /* for the log: "events" */
    /* Gets the measure (a time or a number) of the nth newest of the rows whose measure is below
     * `before`. 1: found; 0: there are fewer rows; -1: error. The function NULL: rows are not
     * counted. */
    int (*nth)(struct storage *st, int64_t before, int nth, int64_t *at, struct err *e);
    /* Forgets at most `limit` rows, the oldest first. Writes nothing if there is no row to
     * forget. */
    int (*forget)(void *ctx, const struct keep_cut *cut, int limit, int *gone, struct err *e);
    int limit; /* rows to forget in one turn of the loop */
};

/* For the begin() of a front: `kind` is static. */
void keep_begin(struct sched *s, const struct keep_kind *kind, void *ctx);

/* The instant before which ended rows are forgotten, by age or by number: for kinds whose measure
 * is the time of the end. */
static inline int64_t keep_until(const struct keep_cut *cut)
{
    return cut->before > cut->before_us ? cut->before : cut->before_us;
}

#endif
