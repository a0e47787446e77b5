/* SPDX-License-Identifier: MIT
 *
 * Forgets asynchronous operations a day after their end: nobody polls for them any more.
 */
#include "front/front_priv.h"

#define KEPT_US         (24LL * 3600 * 1000000)
#define EXPIRE_EVERY_US (600LL * 1000000)
/* Per pass: some 10 us each; a pass follows at once while there are more. */
#define EXPIRE_PER_PASS 500

static void expire(void *ctx, int64_t id)
{
    struct batchai_front *f = ctx;
    struct err e = {0};
    int gone = 0;
    if (st_op_expire(f->st, wakes_steady_wall(f->wakes) - KEPT_US, EXPIRE_PER_PASS, &gone, &e) != 0)
        LOG_ERROR(f->log, "operations.not_expired", LF_STR("why", e.msg));
    if (gone == EXPIRE_PER_PASS)
        wake(f->wakes, WAKE_OPERATIONS, id);
    else
        wake_at(f->wakes, WAKE_OPERATIONS, id, wakes_mono(f->wakes) + EXPIRE_EVERY_US);
}

void operations_begin(struct batchai_front *f)
{
    wakes_handle(f->wakes, WAKE_OPERATIONS, expire, f);
    wake(f->wakes, WAKE_OPERATIONS, WAKE_ALL);
}
