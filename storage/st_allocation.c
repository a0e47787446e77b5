/* SPDX-License-Identifier: MIT
 *
 * Allocations: which run has what of which node, and where ended runs ran.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

#include <assert.h>

static int allocations(struct q *q, struct arena *a, struct allocation **rows, size_t *n,
                       struct err *e)
{
    void *items;
    if (q_rows(q, a, &allocation_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

/* Takes the run's part of the node, if the node is idle and has that much left. Whoever has the
 * whole of it (no list of devices) shares it with nobody, whatever its capacity has become since.
 */
static int take(struct storage *st, const struct allocation *al, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ALLOCATION_TAKE, e) < 0)
        return -1;
    q_int(&q, al->node_id);
    q_int(&q, al->takes.slots);
    q_int(&q, al->takes.gpus);
    q_int(&q, al->takes.cores);
    q_int(&q, al->takes.memory);
    q_int(&q, !al->devices);
    if (q_run(&q, e) < 0)
        return -1;
    if (q_changed(st) == 1)
        return 0;
    return err_set(e, ERR_CONFLICT, NULL,
                   "Node %s is not idle, or has less left than %d slots, %d GPUs, %d cores and "
                   "%lld bytes of memory, which run %lld wants.",
                   al->node_name, al->takes.slots, al->takes.gpus, al->takes.cores,
                   (long long)al->takes.memory, (long long)al->run_id);
}

static int insert_one(struct storage *st, const struct allocation *al, struct err *e)
{
    struct q q;
    assert(al->state == ALLOCATION_HELD && al->node_id != 0 && al->takes.slots >= 0);
    if (take(st, al, e) < 0 || q_write(&q, st, ST_ALLOCATION_INSERT, e) < 0)
        return -1;
    q_row(&q, &allocation_row, al, NULL);
    return q_run(&q, e);
}

struct many {
    const struct allocation *rows;
    size_t n;
};

static int insert_all(struct storage *st, void *ctx, struct err *e)
{
    const struct many *m = ctx;
    for (size_t i = 0; i < m->n; i++)
        if (insert_one(st, &m->rows[i], e) < 0)
            return -1;
    return 0;
}

int st_allocation_insert(struct storage *st, const struct allocation *rows, size_t n, struct err *e)
{
    struct many m = {rows, n};
    if (st_tx(st, "allocate", insert_all, &m, e) < 0)
        return -1;
    st->counters.allocations += (int64_t)n;
    return 0;
}

const char *st_task_prefix(struct storage *st, struct arena *a, const struct run *r, int rank)
{
    return arena_printf(a, "%s-%d-%s-%d-", r->guid, r->attempt, st->epoch.text, rank);
}

int st_allocation_of_run(struct storage *st, struct arena *a, int64_t run_id, int attempt,
                         struct allocation **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ALLOCATION_OF_RUN);
    q_int(&q, run_id);
    q_int(&q, attempt);
    return allocations(&q, a, rows, n, e);
}

int st_allocation_of_run_all(struct storage *st, struct arena *a, int64_t run_id,
                             struct allocation **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ALLOCATION_OF_RUN_ALL);
    q_int(&q, run_id);
    return allocations(&q, a, rows, n, e);
}

int st_allocation_before(struct storage *st, struct arena *a, const struct st_released *w,
                         struct allocation *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ALLOCATION_BEFORE);
    q_int(&q, w->node_id);
    q_int(&q, w->run_id);
    q_int(&q, w->since_us);
    q_int(&q, w->until_us);
    return q_one(&q, a, &allocation_row, out, e);
}

int st_allocation_of_node(struct storage *st, struct arena *a, int64_t node_id,
                          struct allocation **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ALLOCATION_OF_NODE);
    q_int(&q, node_id);
    return allocations(&q, a, rows, n, e);
}

/* The node is idle since now, if nothing else is there. */
static int give_back(struct storage *st, const struct allocation *al, int64_t now_us, struct err *e)
{
    struct q q;
    if (al->takes.slots == 0) {
        if (q_write(&q, st, ST_ALLOCATION_FREE_ASIDE, e) < 0)
            return -1;
        q_int(&q, al->node_id);
        if (q_run(&q, e) < 0)
            return -1;
    }
    if (q_write(&q, st, ST_ALLOCATION_FREE, e) < 0)
        return -1;
    q_int(&q, al->node_id);
    q_int(&q, now_us);
    return q_run(&q, e);
}

static void bind_key(struct q *q, const struct allocation *al)
{
    q_int(q, al->run_id);
    q_int(q, al->attempt);
    q_int(q, al->rank);
}

int st_allocation_move(struct storage *st, const struct allocation *al, enum allocation_state to,
                       int64_t now_us, struct err *e)
{
    struct q q;
    assert(to == ALLOCATION_RELEASED || to == ALLOCATION_LOST);
    if (q_write(&q, st, ST_ALLOCATION_MOVE, e) < 0)
        return -1;
    bind_key(&q, al);
    q_int(&q, al->state);
    q_int(&q, to);
    q_int(&q, now_us);
    if (q_run(&q, e) < 0)
        return -1;
    st->counters.released += q_changed(st) == 1;
    if (q_changed(st) == 1)
        return give_back(st, al, now_us, e);
    return err_set(e, ERR_CONFLICT, NULL,
                   "Allocation %lld, attempt %d, rank %d cannot go from %s to %s: it is not %s.",
                   (long long)al->run_id, al->attempt, al->rank,
                   enum_to_name(allocation_state_names, (int)al->state),
                   enum_to_name(allocation_state_names, (int)to),
                   enum_to_name(allocation_state_names, (int)al->state));
}

static int trim_kept(struct storage *st, int64_t node_id, int keep, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ALLOCATION_TRIM, e) < 0)
        return -1;
    q_int(&q, node_id);
    q_int(&q, keep);
    return q_run(&q, e);
}

int st_allocation_keep(struct storage *st, const struct allocation *al, bool kept, int keep,
                       struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ALLOCATION_KEEP, e) < 0)
        return -1;
    bind_key(&q, al);
    q_int(&q, kept);
    if (q_run(&q, e) < 0)
        return -1;
    return kept ? trim_kept(st, al->node_id, keep, e) : 0;
}

int st_allocation_kept_dirs(struct storage *st, struct arena *a, int64_t node_id,
                            struct kept_dir **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ALLOCATION_KEPT_DIRS);
    q_int(&q, node_id);
    void *items;
    if (q_rows(&q, a, &kept_dir_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}
