/* SPDX-License-Identifier: MIT
 *
 * Allocations: the parts of nodes that runs hold, and the nodes of ended runs.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

#include <assert.h>

static int take(struct storage *st, const struct allocation *al, struct err *e)
{
    if (st_allocation_take(st, al, e) < 0)
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
    assert(al->state == ALLOCATION_HELD && al->node_id != 0 && al->takes.slots >= 0);
    return take(st, al, e) < 0 ? -1 : st_allocation_insert_row(st, al, e);
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

/* Gives the part of the node back. The node becomes idle now, if it has no other allocation. */
static int give_back(struct storage *st, const struct allocation *al, int64_t now_us, struct err *e)
{
    if (al->takes.slots == 0 && st_allocation_free_aside(st, al->node_id, e) < 0)
        return -1;
    return st_allocation_free(st, al->node_id, now_us, e);
}

static int not_moved(const struct allocation *al, enum allocation_state to, struct err *e)
{
    return err_set(e, ERR_CONFLICT, NULL,
                   "Allocation %lld, attempt %d, rank %d cannot go from %s to %s: it is not %s.",
                   (long long)al->run_id, al->attempt, al->rank,
                   enum_to_name(allocation_state_names, (int)al->state),
                   enum_to_name(allocation_state_names, (int)to),
                   enum_to_name(allocation_state_names, (int)al->state));
}

static int move(struct storage *st, struct arena *a, const struct allocation *al,
                const struct allocation_end *end, struct err *e)
{
    struct usage_live use;
    int rc = st_usage_of(st, a, al, &use, e);
    if (rc < 0 || st_allocation_move_row(st, al, end->to, end->now_us, e) < 0)
        return -1;
    if (q_changed(st) != 1)
        return not_moved(al, end->to, e);
    st->counters.released++;
    if (rc == 1 && st_usage_write(st, &use, end, e) < 0)
        return -1;
    return give_back(st, al, end->now_us, e);
}

int st_allocation_move(struct storage *st, const struct allocation *al,
                       const struct allocation_end *end, struct err *e)
{
    struct arena a;
    assert(end->to == ALLOCATION_RELEASED || end->to == ALLOCATION_LOST);
    arena_init(&a);
    int rc = move(st, &a, al, end, e);
    arena_free(&a);
    return rc;
}

int st_allocation_keep(struct storage *st, const struct allocation *al, bool kept, int keep,
                       struct err *e)
{
    if (st_allocation_mark_kept(st, al, kept, e) < 0)
        return -1;
    return kept ? st_allocation_trim(st, al->node_id, keep, e) : 0;
}
