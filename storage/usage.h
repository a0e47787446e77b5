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

/* The same in parts, with turns of the loop between them: days, nodes and rows may be many. What
 * ends between two parts counts once, as ended or as it was before. */
struct st_usage_place {
    int64_t end_ms, id;
};
struct st_usage_part {
    int64_t run_id;
    int attempt, rank;
};
struct st_usage_reading {
    int64_t from_ms, to_ms, now_ms;
    st_usage_fn fn;
    void *ctx;
    struct arena *arena; /* for what is kept until all is read */
    /* Below: of st_usage.c. */
    enum {
        USAGE_DAYS, /* whole days, up to `end` */
        USAGE_OPEN, /* what has not ended, on each of `nodes` */
        USAGE_ROWS  /* of days that are not read as a whole */
    } phase;
    int64_t first, day, end; /* whole days; `day`: the next to read */
    int64_t last; /* the days that were read have all rows up to this one, as have `days` */
    int64_t seen; /* rows behind `last` up to this one are given */
    int64_t *nodes;
    size_t n_nodes, node;
    struct st_usage_part *open; /* given before they ended */
    size_t n_open, open_cap;
    int64_t days[2];
    size_t n_days, at;
    bool over; /* of the day, those that ended on it were read */
    struct st_usage_place place;
};
/* Fill in the first members. */
int st_usage_begin(struct storage *, struct st_usage_reading *r, struct err *) MUST_CHECK;
/* At most so many rows of a day, and about so many nodes and allocations. *left: there may be
 * more. */
int st_usage_more(struct storage *, struct st_usage_reading *r, int limit, bool *left,
                  struct err *) MUST_CHECK;

/* Removes at most `limit` rows of what st_usage_detach() took out. */
int st_usage_sweep(struct storage *, int limit, int *gone, struct err *) MUST_CHECK;

/* --- counted since the start, for metrics, which cannot add up the whole record each time --------
 */

/* The use of the nodes of a pool's group, or that of a principal. */
#define USAGE_OTHERS "(others)" /* the group of all that are beyond the bound of the list */
struct usage_counted {
    const char *subscription, *group; /* of the pool; "": of a principal */
    const char *owner;                /* object id; "": of a group */
    struct usage_sums sums;
    struct usage_sums shown; /* the largest GPU times of st_usage_show() */
};

/* Counts in memory what allocations that end from now on had since since_ms, by the groups of their
 * pools and by owner. What a rollback undoes does not count. Call it once. */
void st_usage_count_from(struct storage *, int64_t since_ms);
/* Borrowed until the next allocation ends. */
const struct usage_counted *st_usage_counted(const struct storage *, size_t *n);
/* Raises GPU times that are to be shown to those that were shown of the same before: they fall if
 * the clock was set while something ran. Groups and people beyond the bound stay as they are. */
void st_usage_show(struct storage *, const char *subscription, const char *group, const char *owner,
                   struct usage_sums *sums);

#endif
