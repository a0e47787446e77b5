/* SPDX-License-Identifier: MIT
 *
 * Why a job waits, in words.
 */
#ifndef API_ADMIN_WAITS_H
#define API_ADMIN_WAITS_H

#include "api/admin/admin.h"
#include "scheduler/queue_view.h"

/* What the i-th waiting run waits for: "2 of 4 nodes free, behind j17". The request's memory; NULL:
 * err. */
const char *waits_for(struct request *r, const struct queue_view *v, size_t i, struct err *e);
/* What a run waits for that is behind `before` other runs of a pool, and behind the runs that the
 * plan foresees. */
const char *waits_behind(struct request *r, const struct pool *p, size_t before);
/* The place of a run in the queue of its pool, and the reason why it waits there. */
struct queue_place {
    size_t place; /* from 1; 0: behind the first runs that are looked at */
    const char *what;
    int64_t start_us; /* by the time limits; 0: nobody knows */
};
/* 1, 0 (there is no such pool, and *out is zero) or -1. */
int waits_in_queue(struct request *r, int64_t pool_id, int64_t run_id, struct queue_place *out,
                   struct err *e) MUST_CHECK;
/* What a held run waits for: "job a to succeed, job b to end". */
const char *waits_for_ends(struct request *r, const struct run *run, struct err *e);

#endif
