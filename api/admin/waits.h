/* SPDX-License-Identifier: MIT
 *
 * Texts that explain why a job waits.
 */
#ifndef API_ADMIN_WAITS_H
#define API_ADMIN_WAITS_H

#include "api/admin/admin.h"
#include "scheduler/queue_view.h"

/* What the i-th waiting run waits for: "2 of 4 nodes free, behind j17". In the request's arena;
 * NULL: err. */
const char *waits_for(struct request *r, const struct queue_view *v, size_t i, struct err *e);
/* What a run waits for that is not in the plan. `before`: how many runs are before it. */
const char *waits_behind(struct request *r, const struct pool *p, size_t before);
/* The place of a run in the queue of its pool, and the reason why it waits there. */
struct queue_place {
    size_t place; /* from 1; 0: after the runs that were checked */
    const char *what;
    int64_t start_us; /* expected start by the time limits; 0: unknown */
};
/* 1, 0 (there is no such pool, and *out is zero) or -1. */
int waits_in_queue(struct request *r, int64_t pool_id, int64_t run_id, struct queue_place *out,
                   struct err *e) MUST_CHECK;
/* What a run waits for that depends on other jobs: "job a to succeed, job b to end". */
const char *waits_for_ends(struct request *r, const struct run *run, struct err *e);

#endif
