/* SPDX-License-Identifier: MIT
 *
 * The record of use: each allocation that has ended is in it once, with its own time and GPUs, also
 * after its job is gone; and it says the same whichever cuts of time are added up.
 */
#include <string.h>

#include "storage/usage.h"
#include "test/sim/sim_view.h"

/* An ended allocation has a record, and a live one has none. The record begins with the allocation,
 * unless the clock was set meanwhile. */
static const char ended[] =
    "SELECT printf('rank %d of attempt %d of run %d has ended, and its record is not there or says "
    "otherwise', a.rank, a.attempt, a.run_id) FROM allocation a "
    "LEFT JOIN usage r ON r.run_id = a.run_id AND r.attempt = a.attempt AND r.rank = a.rank "
    "WHERE (a.state = 1) <> (r.id IS NULL) "
    "OR abs(r.begin_ms - a.created_us / 1000) BETWEEN 1 AND 1000 "
    "OR r.end_ms <> max(r.begin_ms, a.released_us / 1000) "
    "OR r.gpus < 1000 * a.gpus OR a.devices IS NOT NULL AND a.slots > 0 AND r.owner_kind = 6 "
    "AND r.gpus <> 1000 * a.gpus LIMIT 1";

/* An attempt is lost if another follows, or its run waits for one. */
static const char again[] =
    "SELECT printf('attempt %d of run %d is %s, and the run is in attempt %d', r.attempt, "
    "r.run_id, "
    "iif(r.again, 'lost', 'kept'), u.attempt) FROM usage r JOIN run u ON u.id = r.run_id "
    "WHERE NOT r.again AND (r.attempt < u.attempt OR u.phase = 1) "
    "OR r.again AND r.attempt = u.attempt AND u.phase IN (2, 3) LIMIT 1";

/* The sums of days are those of the rows. */
static const char days[] =
    "SELECT printf('the days have %d ms of GPUs in %d attempts, and the records %d ms in %d', d.g, "
    "d.n, r.g, r.n) FROM (SELECT ifnull(sum(gpu_ms), 0) g, ifnull(sum(attempts), 0) n, "
    "ifnull(sum(lost_ms), 0) l FROM usage_day) d, (SELECT ifnull(sum((end_ms - begin_ms) * gpus / "
    "1000), 0) g, count(iif(rank = 0, 1, NULL)) n, ifnull(sum(iif(again, (end_ms - begin_ms) * "
    "gpus "
    "/ 1000, 0)), 0) l FROM usage) r WHERE d.g <> r.g OR d.n <> r.n OR d.l <> r.l";

static void add(void *ctx, const struct usage_subject *s, const struct usage_sums *sums)
{
    (void)s;
    usage_add(ctx, sums);
}

static bool read_cut(struct view *v, int64_t from_ms, int64_t to_ms, struct usage_sums *to)
{
    struct err e;
    int64_t now = v->m->latest_wall_us / 1000;
    int rc = st_usage_each(v->m->life->st, from_ms, to_ms, now, add, to, &e);
    return sim_ok(v->m, rc, &e, "read the record of use");
}

/* At places that the step chooses. */
static void check_cuts(struct view *v)
{
    struct usage_sums whole = {0}, parts = {0};
    int64_t now = v->m->latest_wall_us / 1000, far = now + 100 * USAGE_DAY_MS;
    int64_t one = now - v->m->step * INT64_C(977), two = one + v->m->step * INT64_C(91);
    if (read_cut(v, 0, far, &whole) && read_cut(v, 0, one, &parts) &&
        read_cut(v, one, two, &parts) && read_cut(v, two, far, &parts) &&
        memcmp(&whole, &parts, sizeof whole) != 0)
        sim_fail(v->m, "the record has %lld ms of GPUs, and its parts %lld ms",
                 (long long)whole.gpu_ms, (long long)parts.gpu_ms);
}

void sim_usage_check(struct view *v)
{
    if (sim_view_none(v, ended) && sim_view_none(v, again) && sim_view_none(v, days))
        check_cuts(v);
}
