/* SPDX-License-Identifier: MIT
 *
 * The record of use (model/usage.h); a part of storage/storage.h, which describes the common
 * behaviour of these functions. st_allocation_move() writes the record.
 */
#ifndef STORAGE_USAGE_H
#define STORAGE_USAGE_H

#include "model/usage.h"
#include "storage/sql/usage.h"
#include "storage/storage.h"

/* Calls fn with the use of each subject in [from_ms, to_ms), perhaps more than once for a subject:
 * add the parts up. An allocation that has not ended is counted up to the present, now_ms; its
 * subject has no id. */
typedef void (*st_usage_fn)(void *ctx, const struct usage_subject *s,
                            const struct usage_sums *sums);
int st_usage_each(struct storage *, int64_t from_ms, int64_t to_ms, int64_t now_ms, st_usage_fn fn,
                  void *ctx, struct err *);

/* Like st_usage_each(), but in parts, with turns of the loop between them: days, nodes and rows may
 * be many. An allocation that ends between two parts is counted once, as ended or as live. */
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
    struct arena *arena; /* for data that is kept until all is read */
    /* The members below belong to st_usage.c. */
    enum {
        USAGE_DAYS, /* whole days, up to `end` */
        USAGE_OPEN, /* live allocations, on each of `nodes` */
        USAGE_ROWS  /* rows of days that are not read as a whole */
    } phase;
    int64_t first, day, end; /* whole days; `day`: the next to read */
    /* the days that were read include all rows up to this id; rows of `days` are read up to it */
    int64_t last;
    int64_t seen; /* rows after `last` up to this id were given */
    int64_t *nodes;
    size_t n_nodes, node;
    struct st_usage_part *open; /* allocations that were given before they ended */
    size_t n_open, open_cap;
    int64_t days[2];
    size_t n_days, at;
    bool over; /* the rows that ended on the present day were read */
    struct st_usage_place place;
};
/* Call when the members up to `arena` are filled in. */
int st_usage_begin(struct storage *, struct st_usage_reading *r, struct err *) MUST_CHECK;
/* Reads at most `limit` rows of a day, and about so many nodes and allocations. *left: there may be
 * more. */
int st_usage_more(struct storage *, struct st_usage_reading *r, int limit, bool *left,
                  struct err *) MUST_CHECK;

/* The instant from which use that began at begin_ms counts up to end_ms: begin_ms, or a later
 * instant if the clock was not set at begin_ms (1970), so that no decades are counted. */
int64_t st_usage_counts_from(const struct storage *, int64_t begin_ms, int64_t end_ms);

/* Removes at most `limit` of the rows that st_usage_detach() took out. */
int st_usage_sweep(struct storage *, int limit, int *gone, struct err *) MUST_CHECK;

/* --- sums since the start, for metrics, which cannot add up the whole record each time -------- */

/* The use of the nodes of a pool's group, or the use of a principal. */
#define USAGE_OTHERS "(others)" /* the group of all that are beyond the bound of the list */
struct usage_counted {
    const char *subscription, *group; /* of the pool; "": of a principal */
    const char *owner;                /* object id; "": of a group */
    struct usage_sums sums;
    struct usage_sums shown; /* the largest GPU times that st_usage_show() has returned */
};

/* From now on adds up in memory the use, since since_us, of allocations that end: by the groups of
 * their pools and by owner. A rollback takes its allocations out again. Call it once. Borrows
 * `loop`. */
void st_usage_count_from(struct storage *, struct loop *loop, int64_t since_us);
/* *since_ms: that instant as the wall clock is set now, because somebody may have set it since.
 * False: use is not counted. */
bool st_usage_counted_since(const struct storage *, int64_t *since_ms);
/* Returns a copy in the arena, without what the present turn has added, because it may be rolled
 * back. */
const struct usage_counted *st_usage_counted(const struct storage *, struct arena *a, size_t *n);
/* Raises GPU times to those that were shown last of this group or owner: they would fall if the
 * clock was set while something ran. The times of groups and people beyond the bound of the list
 * are not changed. */
void st_usage_show(struct storage *, const char *subscription, const char *group, const char *owner,
                   struct usage_sums *sums);

#endif
