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
    struct q q;
    if (q_write(&q, st, ST_BATCH_POOL_INSERT, e) < 0)
        return -1;
    q_row(&q, &batch_pool_row, &p, new->secrets);
    if (q_insert(&q, new->id, e) < 0)
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

int st_batch_pool_get(struct storage *st, struct arena *a, int64_t account_id, const char *name,
                      struct batch_pool *out, struct err *e)
{
    return q_named(st, ST_BATCH_POOL_GET, a, account_id, name, &batch_pool_row, out, e);
}

int st_batch_pool_by_id(struct storage *st, struct arena *a, int64_t id, struct batch_pool *out,
                        struct err *e)
{
    return q_known_id(st, ST_BATCH_POOL_BY_ID, a, id, &batch_pool_row, out, e);
}

int st_batch_pool_list(struct storage *st, struct arena *a, int64_t account_id,
                       const struct filter *f, const char *after, int limit,
                       struct batch_pool **rows, size_t *n, struct err *e)
{
    static const char *const columns[BATCH_POOL_PROPERTIES] = {
        [BATCH_POOL_ID] = "bp.name",
        [BATCH_POOL_STATE] = "bp.state",
        [BATCH_POOL_STATE_TIME] = "bp.state_us",
        [BATCH_POOL_ALLOCATION] = "bp.alloc_state",
        [BATCH_POOL_ALLOCATION_TIME] = "bp.alloc_us",
        [BATCH_POOL_CREATED] = "bp.created_us",
        [BATCH_POOL_MODIFIED] = "bp.updated_us",
        [BATCH_POOL_AUTO_SCALE] = "bp.auto_enabled",
        [BATCH_POOL_INTERNODE] = "json_extract(bp.doc, '$.enableInterNodeCommunication')",
        [BATCH_POOL_VM_SIZE] = "p.vm_size COLLATE NOCASE"};
    struct q q;
    void *items;
    q_read_filtered(&q, st, ST_BATCH_POOL_LIST, f, columns);
    q_int(&q, account_id);
    q_text(&q, after);
    q_int(&q, limit);
    if (q_rows(&q, a, &batch_pool_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_pool_count(struct storage *st, int64_t account_id, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_POOL_COUNT);
    q_int(&q, account_id);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_batch_pool_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                          struct err *e)
{
    return q_secret_of(st, ST_BATCH_POOL_SECRETS, a, id, secrets, e);
}

int st_batch_pool_set_doc(struct storage *st, const struct batch_pool *p, const char *secrets,
                          struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_POOL_SET_DOC, e) < 0)
        return -1;
    q_int(&q, p->id);
    q_text(&q, p->doc);
    q_sealed(&q, secrets);
    q_int(&q, p->updated_us);
    if (q_change(&q, "pool", p->id, e) < 0 || q_write(&q, st, ST_POOL_SET_SLOTS, e) < 0)
        return -1;
    q_int(&q, p->id);
    q_int(&q, p->slots);
    q_int(&q, p->spread);
    return q_change(&q, "pool", p->id, e);
}

int st_batch_pool_set_size(struct storage *st, int64_t id, const struct batch_size *size,
                           int64_t updated_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_POOL_SET_SIZE, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, size->dedicated);
    q_int(&q, size->low);
    q_int(&q, size->timeout_us);
    q_int(&q, size->state);
    q_int(&q, size->state_us);
    q_int(&q, size->began_us);
    q_text(&q, size->errors);
    q_int(&q, updated_us);
    return q_change(&q, "pool", id, e);
}

int st_batch_pool_set_scaling(struct storage *st, int64_t id, const struct batch_auto_scale *s,
                              int64_t updated_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_POOL_SET_SCALING, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, s->enabled);
    q_text(&q, s->formula);
    q_int(&q, s->interval_us);
    q_int(&q, s->evaluated_us);
    q_text(&q, s->run);
    q_int(&q, updated_us);
    return q_change(&q, "pool", id, e);
}

int st_batch_pool_mark(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_DELETE_BATCH_POOL, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, now_us);
    if (q_run(&q, e) < 0)
        return -1;
    return q_changed(st) == 1
               ? 0
               : err_set(e, ERR_CONFLICT, NULL, "the pool %lld is being deleted", (long long)id);
}

int st_batch_pool_unsettled_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                                struct err *e)
{
    return q_ids_of(st, ST_BATCH_POOL_UNSETTLED, a, ids, n, e);
}

int st_batch_pool_deleting_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                               struct err *e)
{
    return q_ids_of(st, ST_BATCH_POOL_DELETING, a, ids, n, e);
}

int st_batch_pool_removable_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                                struct err *e)
{
    return q_ids_of(st, ST_BATCH_POOL_REMOVABLE, a, ids, n, e);
}

int st_batch_pool_scaled_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                             struct err *e)
{
    return q_ids_of(st, ST_BATCH_POOL_SCALED, a, ids, n, e);
}

static int remove_both(struct storage *st, void *ctx, struct err *e)
{
    int64_t id = *(const int64_t *)ctx;
    struct q q;
    if (q_write(&q, st, ST_BATCH_POOL_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    if (q_change(&q, "pool", id, e) < 0 || st_pool_remove(st, id, e) < 0)
        return -1;
    return st_event_forget(st, RES_BATCH_POOL, id, e);
}

int st_batch_pool_remove(struct storage *st, int64_t id, struct err *e)
{
    return st_tx(st, "remove pool", remove_both, &id, e);
}
