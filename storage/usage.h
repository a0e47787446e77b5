/* SPDX-License-Identifier: MIT
 *
 * The record of use (model/usage.h); a part of storage/storage.h, which describes the common
 * behaviour of these functions. st_allocation_move() writes it.
 */
#ifndef STORAGE_USAGE_H
#define STORAGE_USAGE_H

#include "model/usage.h"
#include "storage/sql/usage.h"
#include "storage/storage.h"

/* Calls fn for what each subject had in [from_ms, to_ms), perhaps more than once for a subject: the
 * parts are to be added. The present is now_ms: what has not ended counts until then. Subjects of
 * what has not ended have no id. */
typedef void (*st_usage_fn)(void *ctx, const struct usage_subject *s,
                            const struct usage_sums *sums);
int st_usage_each(struct storage *, int64_t from_ms, int64_t to_ms, int64_t now_ms, st_usage_fn fn,
                  void *ctx, struct err *);

/* The same in parts: the rows of a day that is not read as a whole may be many. What ends between
 * two parts counts as it was at the beginning. */
struct st_usage_place {
    int64_t end_ms, id;
};
struct st_usage_reading {
    int64_t from_ms, to_ms, now_ms;
    st_usage_fn fn;
    void *ctx;
    /* Below: of st_usage.c. */
    int64_t last;    /* later rows are not read */
    int64_t days[2]; /* that are not read as a whole */
    size_t n_days, at;
    bool over; /* of the day, those that ended on it were read */
    struct st_usage_place place;
};
/* Fill in the first members. */
int st_usage_begin(struct storage *, struct st_usage_reading *r, struct err *) MUST_CHECK;
/* So many rows. *left: there may be more. */
int st_usage_more(struct storage *, struct st_usage_reading *r, int limit, bool *left,
                  struct err *) MUST_CHECK;

/* --- counted since the start, for metrics, which cannot add up the whole record each time --------
 */

/* The use of the nodes of a pool's group, or that of a principal. */
#define USAGE_OTHERS "(others)" /* the group of all that are beyond the bound of the list */
struct usage_counted {
    const char *subscription, *group; /* of the pool; "": of a principal */
    const char *owner;                /* object id; "": of a group */
    struct usage_sums sums;
};

/* Counts in memory what allocations that end from now on had since since_ms, by the groups of their
 * pools and by owner. What a rollback undoes does not count. Call it once. */
void st_usage_count_from(struct storage *, int64_t since_ms);
/* Borrowed until the next allocation ends. */
const struct usage_counted *st_usage_counted(const struct storage *, size_t *n);

#endif
