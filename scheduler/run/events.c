/* SPDX-License-Identifier: MIT
 *
 * Calls from runs to those above them.
 */
#include "scheduler/run/run_priv.h"

void runs_tell_over(struct runs *rs, int64_t pool_id)
{
    rs->events->run_over(rs->events_ctx, pool_id);
}

void runs_tell_deletion(struct runs *rs)
{
    rs->events->deletion_goes_on(rs->events_ctx);
}
