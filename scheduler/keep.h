/* SPDX-License-Identifier: MIT
 *
 * Forgets rows of what has ended, by age and by count. The owner of a table describes how
 * (struct keep_kind) when the scheduler begins; the site says how long. The record of use stays:
 * its tables name nothing that can be forgotten.
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

/* What stays of a class. 0: no limit. */
struct keep_limit {
    int64_t age_us;
    int64_t most; /* of each kind */
};
struct keep_limits {
    struct keep_limit of[KEEP_CLASSES];
};

/* What goes. */
struct keep_cut {
    int64_t before_us; /* what ended earlier; 0: nothing by age */
    int64_t before;    /* what is older by the measure of keep_kind.nth; 0: nothing by count */
    int64_t now_us;
};

struct keep_kind {
    enum keep_class of;
    const char *what; /* for the log: "events" */
    /* A getter: the measure (a time or a number) of the nth newest of those that are older than
     * `before`. NULL: they are not counted. */
    int (*nth)(struct storage *st, int64_t before, int nth, int64_t *at, struct err *e);
    /* Forgets at most `limit` rows, the oldest first. Writes nothing if there is none to forget. */
    int (*forget)(void *ctx, const struct keep_cut *cut, int limit, int *gone, struct err *e);
    int limit; /* of a turn */
};

/* For the begin() of a front: `kind` is static. */
void keep_begin(struct sched *s, const struct keep_kind *kind, void *ctx);

/* What is older than this goes, by one limit or the other: for kinds whose measure is the time of
 * the end. */
static inline int64_t keep_until(const struct keep_cut *cut)
{
    return cut->before > cut->before_us ? cut->before : cut->before_us;
}

#endif
