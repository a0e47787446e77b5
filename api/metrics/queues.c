/* SPDX-License-Identifier: MIT
 *
 * Counts waiting runs. A hundred thousand runs take tens of milliseconds, so they are counted in
 * ranges of ids: for each pool first the runs that may start, by priority, then the held runs, by
 * the reason of the hold. A run that changes its place in the queue during this may be counted
 * twice or not at all.
 */
#include "api/metrics/facts.h"
#include "lib/arena.h"

#define PIECE  4000 /* ids in one range; also the runs that one turn of the loop counts */
#define QUERY  20   /* a query takes as much time as counting this many runs */
#define AT_END INT64_MAX

struct queue_reading {
    struct storage *st;
    struct arena *a;
    int64_t *pools;
    size_t n_pools, at;
    /* the n queues that have runs, and after them the queue that is being counted */
    struct queue_facts *list;
    size_t n;
    int64_t priority, after; /* position in the pool that is being counted */
    enum run_hold hold;
    bool listed;
};

struct queue_reading *queues_begin(struct arena *a, struct storage *st)
{
    struct queue_reading *rd = arena_alloc(a, sizeof *rd);
    *rd = (struct queue_reading){.st = st, .a = a};
    return rd;
}

static int begin_pool(struct queue_reading *rd, struct err *e)
{
    struct queue_facts *q = &rd->list[rd->n];
    *q = (struct queue_facts){.pool_id = rd->pools[rd->at]};
    rd->priority = INT64_MAX;
    rd->after = AT_END;
    rd->hold = HOLD_NOT;
    return st_pool_kind(rd->st, q->pool_id, &q->kind, e);
}

static int list_pools(struct queue_reading *rd, struct err *e)
{
    if (st_pool_ids(rd->st, rd->a, &rd->pools, &rd->n_pools, e) < 0)
        return -1;
    rd->list = arena_alloc(rd->a, (rd->n_pools + 1) * sizeof *rd->list);
    rd->listed = true;
    return rd->n_pools > 0 && begin_pool(rd, e) < 0 ? -1 : 0;
}

/* Continues with the next priority; after the last one with the held runs. */
static int next_priority(struct queue_reading *rd, struct err *e)
{
    int rc = st_queue_priority(rd->st, rd->list[rd->n].pool_id, rd->priority, &rd->priority, e);
    rd->after = 0;
    if (rc == 0)
        rd->hold = HOLD_WAITS;
    return rc < 0 ? -1 : 0;
}

static int count_free(struct queue_reading *rd, int64_t *cost, struct err *e)
{
    int64_t first, n = 0;
    struct queue_facts *q = &rd->list[rd->n];
    if (rd->after == AT_END)
        return next_priority(rd, e);
    if (st_queue_next(rd->st, q->pool_id, rd->priority, rd->after, &first, e) < 0)
        return -1;
    rd->after = first ? first + PIECE - 1 : AT_END;
    if (first && st_queue_count(rd->st, q->pool_id, rd->priority, first, rd->after, &n, e) < 0)
        return -1;
    q->waiting += n;
    q->oldest = first && (q->oldest == 0 || first < q->oldest) ? first : q->oldest;
    *cost += n;
    return 0;
}

static int count_held(struct queue_reading *rd, int64_t *cost, struct err *e)
{
    int64_t first, n = 0;
    struct queue_facts *q = &rd->list[rd->n];
    if (st_queue_held_next(rd->st, q->pool_id, rd->hold, rd->after, &first, e) < 0)
        return -1;
    rd->after = first ? first + PIECE - 1 : 0;
    if (first && st_queue_held_count(rd->st, q->pool_id, rd->hold, first, rd->after, &n, e) < 0)
        return -1;
    q->held += n;
    rd->hold += !first;
    *cost += n;
    return 0;
}

static int end_pool(struct queue_reading *rd, struct err *e)
{
    rd->n += rd->list[rd->n].waiting > 0 || rd->list[rd->n].held > 0;
    rd->at++;
    return rd->at < rd->n_pools && begin_pool(rd, e) < 0 ? -1 : 0;
}

int queues_read(struct queue_reading *rd, struct err *e)
{
    int64_t cost = 0;
    int rc = rd->listed ? 0 : list_pools(rd, e);
    for (; rc == 0 && rd->at < rd->n_pools && cost < PIECE; cost += QUERY) {
        if (rd->hold == HOLD_NOT)
            rc = count_free(rd, &cost, e);
        else if (rd->hold <= HOLD_TURN)
            rc = count_held(rd, &cost, e);
        else
            rc = end_pool(rd, e);
    }
    return rc < 0 ? -1 : rd->at < rd->n_pools;
}

void queues_end(const struct queue_reading *rd, struct metric_facts *f)
{
    f->queues = rd->list;
    f->n_queues = rd->n;
}
