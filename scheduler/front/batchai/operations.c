/* SPDX-License-Identifier: MIT
 *
 * Forgets asynchronous operations a day after their end, because clients do not poll any more.
 * Purges soft-deleted vaults and secrets after their retention, and remains of vaults and of
 * changes after resets.
 */
#include "scheduler/front/batchai/front_priv.h"
#include "storage/changes.h"

/* All of them. */
static const struct wake_kind woken_operations = {"operations", WAKE_LAST};

#define KEPT_US         (24LL * 3600 * 1000000)
#define EXPIRE_EVERY_US (600LL * 1000000)
/* Per pass: some 10 us each; the next pass follows at once while there are more. */
#define EXPIRE_PER_PASS 500
#define PURGE_PER_PASS  50 /* vaults and secrets */
#define SWEEP_PER_PASS  500

static void expire(void *ctx, int64_t id)
{
    struct batchai_front *f = ctx;
    struct err e = {0};
    int64_t now_us = wakes_steady_wall(f->wakes);
    int gone = 0, purged = 0, swept = 0;
    bool any; /* a pass without need must not write */
    if (st_op_any_expired(f->st, now_us - KEPT_US, &any, &e) != 0 ||
        (any && st_op_expire(f->st, now_us - KEPT_US, EXPIRE_PER_PASS, &gone, &e) != 0))
        LOG_ERROR(f->log, "operations.not_expired", LF_STR("why", e.msg));
    if (st_vault_expire(f->st, now_us, PURGE_PER_PASS, &purged, &e) != 0)
        LOG_ERROR(f->log, "vaults.not_purged", LF_STR("why", e.msg));
    if (st_changes_sweep(f->st, SWEEP_PER_PASS, &swept, &e) != 0)
        LOG_ERROR(f->log, "changes.not_removed", LF_STR("why", e.msg));
    if (purged > 0)
        LOG_INFO(f->log, "vaults.purged", LF_INT("count", purged));
    if (gone == EXPIRE_PER_PASS || purged >= PURGE_PER_PASS || swept == SWEEP_PER_PASS)
        wake_at(f->wakes, &woken_operations, id, wakes_mono(f->wakes)); /* next turn */
    else
        wake_at(f->wakes, &woken_operations, id, wakes_mono(f->wakes) + EXPIRE_EVERY_US);
}

void operations_begin(struct batchai_front *f)
{
    wakes_handle(f->wakes, &woken_operations, expire, f);
    wake(f->wakes, &woken_operations, WAKE_ALL);
}

void batchai_wake_burials(struct batchai_front *f)
{
    batchai_wake_deletions(f);
    wake(f->wakes, &woken_operations, WAKE_ALL);
}
