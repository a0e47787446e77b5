/* SPDX-License-Identifier: MIT
 *
 * Forgets rows of ended resources, by age and by count. The owner of a table describes how (struct
 * keep_kind) when the scheduler begins; the site says how long they are kept. The record of use
 * stays: its tables do not refer to rows that can be forgotten.
 *
 * Each kind is looked at every ten minutes and when the limits change. A look counts and forgets a
 * few rows a turn, so that the loop is not held.
 */
#ifndef SCHEDULER_KEEP_H
#define SCHEDULER_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct sched;
struct storage;

enum keep_class { KEEP_OWNERS, KEEP_EVENTS, KEEP_OPERATIONS, KEEP_OUTPUTS, KEEP_CLASSES };

/* The rows of a class that are kept. 0: no limit. */
struct keep_limit {
    int64_t age_us;
    int64_t most; /* of each kind */
};
struct keep_limits {
    struct keep_limit of[KEEP_CLASSES];
};

/* The rows to forget. */
struct keep_cut {
    int64_t before_us; /* rows whose end is earlier; 0: none because of their age */
    /* rows whose measure (keep_kind.nth) is lower; 0: none because of their number */
    int64_t before;
    int64_t now_us;
};

struct keep_kind {
    enum keep_class of;
    const char *what; /* for the log: "events" */
    /* A getter: the measure (a time or a number) of the nth newest row, of the rows below the
     * measure `before`. NULL: rows are not counted. */
    int (*nth)(struct storage *st, int64_t before, int nth, int64_t *at, struct err *e);
    /* Forgets at most `limit` rows, the oldest first. Writes nothing if there is none to forget. */
    int (*forget)(void *ctx, const struct keep_cut *cut, int limit, int *gone, struct err *e);
    int limit; /* of a turn */
};

/* For the begin() of a front: `kind` is static. */
void keep_begin(struct sched *s, const struct keep_kind *kind, void *ctx);

/* Rows that ended before this are forgotten, by one limit or the other: for kinds whose measure is
 * the time of the end. */
static inline int64_t keep_until(const struct keep_cut *cut)
{
    return cut->before > cut->before_us ? cut->before : cut->before_us;
}

#endif
