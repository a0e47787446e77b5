/* SPDX-License-Identifier: MIT
 *
 * The times that written files get if a test sets the clock.
 */
#include "storage/folders/change.h"
#include "storage/folders/share_priv.h"

#define NS_PER_US 1000
/* If the clock is behind the last time by less than this, it counts as standing still, not as set
 * back. */
#define STANDS_NS INT64_C(1000000000)

void files_in_time(struct files *f, int64_t (*now_us)(void *ctx), void *ctx)
{
    f->time = (struct clock){now_us, ctx};
}

/* The time for a write. While the clock stands still, each time is a nanosecond later than the one
 * before. The last digits grow in any case, so that a clock that was set back and reaches an
 * instant again gives other times. */
int64_t files_time_ns(struct files *f)
{
    int64_t now_us = f->time.now_us ? clock_now(&f->time) : 0;
    if (now_us == 0)
        return FILES_TIME_KEPT;
    int64_t ns = now_us * NS_PER_US + (int64_t)(f->times++ % NS_PER_US);
    bool stands = ns <= f->last_time_ns && f->last_time_ns - ns < STANDS_NS;
    f->last_time_ns = stands ? f->last_time_ns + 1 : ns;
    return f->last_time_ns;
}
