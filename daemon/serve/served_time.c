/* SPDX-License-Identifier: MIT
 *
 * Connects the machine's loop with a virtual loop whose time tests may change (with --testing).
 */
#include "daemon/serve/served_time.h"

#include "lib/loop_uv.h"
#include "lib/loop_virtual.h"
#include "storage/folders/change.h"
#include "storage/storage.h"

static bool is_busy(void *ctx)
{
    const struct served_time *t = ctx;
    return loop_uv_has_work(t->machine) || (*t->storage && st_has_pending(*t->storage));
}

/* A number that grows with each deferred call and each commit. Commits count, because the slices of
 * a large seed defer no calls, but each ends with a commit. */
static uint64_t moves(void *ctx)
{
    const struct served_time *t = ctx;
    uint64_t commits = *t->storage ? (uint64_t)st_counters(*t->storage)->commits : 0;
    return loop_uv_deferred(t->machine) + commits;
}

/* The time now if a test has changed it; 0: no test has. */
static int64_t changed_us(void *served_time)
{
    const struct served_time *t = served_time;
    struct loop_virtual_state s = {0};
    if (t->clock)
        loop_virtual_look(t->changes, &s);
    return s.touched ? loop_wall_us(t->loop) : 0;
}

void served_time_open(struct served_time *t, struct loop *machine, struct storage **storage,
                      struct files *files)
{
    *t = (struct served_time){.loop = machine, .machine = machine, .storage = storage};
    if (!files)
        return;
    struct loop_virtual *v =
        loop_virtual_create(&(struct loop_virtual_config){machine, is_busy, moves, t});
    t->loop = loop_virtual_loop(v);
    t->changes = v;
    t->clock = testing_clock_create(v);
    files_in_time(files, changed_us, t);
}

void served_time_close(struct served_time *t)
{
    testing_clock_free(t->clock);
    t->clock = NULL;
}

static int64_t wall_us(void *loop)
{
    return loop_wall_us(loop);
}

struct clock served_time_clock(const struct served_time *t)
{
    return (struct clock){wall_us, t->loop};
}
