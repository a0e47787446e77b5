/* SPDX-License-Identifier: MIT
 *
 * Pools of Azure Batch.
 */
#include "storage/storage_priv.h"

struct new_pool {
    const struct batch_pool *p;
    const char *secrets;
    int64_t *id;
};

static int insert_both(struct storage *st, void *ctx, struct err *e)
{
    const struct new_pool *new = ctx;
    struct batch_pool p = *new->p;
    const struct pool core = {
        .kind = RES_BATCH_POOL,
        .vm_size = p.vm_size,
        .vm_priority = VM_DEDICATED,
        .scale = {SCALE_MANUAL, p.size.dedicated, .dealloc = p.dealloc, .low = p.size.low},
        .alloc_state = ALLOC_RESIZING,
        .alloc_us = p.created_us,
        .is_new = true,
        .slots = p.slots,
        .spread = p.spread};
    if (st_pool_insert(st, &core, &p.id, e) < 0)
        return -1;
    if (st_batch_pool_insert_row(st, &p, new->secrets, new->id, e) < 0)
        return -1;
    const struct event ev = {.at_us = p.created_us,
                             .kind = RES_BATCH_POOL,
                             .resource_id = p.id,
                             .to = (int)core.alloc_state};
    return st_event_add(st, &ev, e);
}

int st_batch_pool_insert(struct storage *st, const struct batch_pool *p, const char *secrets,
                         int64_t *id, struct err *e)
{
    struct new_pool new = {p, secrets, id};
    return st_tx(st, "insert pool", insert_both, &new, e);
}

int st_batch_pool_set_doc(struct storage *st, const struct batch_pool *p, const char *secrets,
                          struct err *e)
{
    return st_batch_pool_write_doc(st, p, secrets, e) < 0 ? -1 : st_pool_set_slots(st, p, e);
}

int st_batch_pool_mark(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    if (st_batch_pool_delete(st, id, now_us, e) < 0)
        return -1;
    return q_changed(st) == 1
               ? 0
               : err_set(e, ERR_CONFLICT, NULL, "the pool %lld is being deleted", (long long)id);
}

static int remove_both(struct storage *st, void *ctx, struct err *e)
{
    int64_t id = *(const int64_t *)ctx;
    if (st_batch_pool_remove_row(st, id, e) < 0 || st_pool_remove(st, id, e) < 0)
        return -1;
    return st_event_forget(st, RES_BATCH_POOL, id, e);
}

int st_batch_pool_remove(struct storage *st, int64_t id, struct err *e)
{
    return st_tx(st, "remove pool", remove_both, &id, e);
}
