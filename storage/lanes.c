/* SPDX-License-Identifier: MIT
 *
 * The threads of storage.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/work.h"
#include "storage/storage_priv.h"

/* Each lane has one piece of work at a time. */
void st_lanes_open(struct storage *st, struct loop *loop)
{
    st->sync_lane = loop_lane_create(loop, "sync", 1, 1);
    st->checkpoint_lane = loop_lane_create(loop, "checkpoint", 1, 1);
}

void st_lane_work(struct loop_lane *lane, loop_fn work, loop_work_done done, struct storage *st)
{
    if (loop_work(lane, work, done, st))
        return;
    /* If no thread can be started, no write can be acknowledged any more. */
    LOG_ERROR(st->log, "db.thread_not_started", LF_STR("why", strerror(errno)));
    work_give_up();
}
