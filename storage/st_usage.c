/* SPDX-License-Identifier: MIT
 *
 * The record of use: written when an allocation ends, with the sums of its days; read as whole days
 * from the sums, and as parts of days from the rows. It is also summed in memory (st_used.c).
 */
#include "storage/usage.h"

#include <assert.h>
#include <string.h>

#include "storage/storage_priv.h"

/* --- writing --------------------------------------------------------------------------------- */

static int find_subject(struct storage *st, const struct usage_subject *s, int64_t *id,
                        struct err *e)
{
    *id = 0;
    return st_usage_subject_add(st, s, e) < 0 ? -1 : st_usage_subject_id(st, s, id, e);
}

/* Adds the use u to the sums of each of its days, and records it for each day whose end it
 * passes. */
static int add_days(struct storage *st, const struct usage *u, struct err *e)
{
    int64_t last = usage_day(u->end_ms);
    for (int64_t day = usage_day(u->begin_ms); day <= last; day++) {
        struct usage_sums sums = {0};
        usage_add_cut(&sums, u, false, day * USAGE_DAY_MS, (day + 1) * USAGE_DAY_MS);
        if (st_usage_day_add(st, day, u->subject_id, &sums, e) < 0 ||
            (day < last && st_usage_over_add(st, day, u->id, e) < 0))
            return -1;
    }
    return 0;
}

/* --- counting -------------------------------------------------------------------------------- */

/* Adds an ended allocation to the sums for metrics at once: its use must never be missing both
 * there and among the live allocations. */
static int count(struct storage *st, const struct usage_live *l, struct err *e)
{
    struct usage_sums sums = {0};
    struct pool_place place;
    struct arena a;
    int64_t since_ms;
    if (!st_usage_counted_since(st, &since_ms))
        return 0;
    arena_init(&a);
    int rc = st_pool_place(st, &a, l->pool_id, &place, e);
    usage_add_cut(&sums, &l->row, false, since_ms, INT64_MAX);
    if (rc == 1 && place.group)
        st_used_add(st, place.subscription, place.group, "", &sums);
    if (rc >= 0)
        st_used_add(st, "", "", l->subject.owner, &sums);
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

/* --- writing an end -------------------------------------------------------------------------- */

/* If the wall clock differs by more than this from the time that has passed, it was set
 * meanwhile. */
#define STEP_MS 1000

/* No allocation lasts so long. If it seems to, it began when the clock was not set yet, and it
 * would have thousands of days. */
#define LONGEST_MS (INT64_C(10) * 365 * USAGE_DAY_MS)

static bool may_last(int64_t begin_ms, int64_t end_ms)
{
    return end_ms >= begin_ms && end_ms - begin_ms < LONGEST_MS;
}

/* If the duration is not credible, the use counts from the daemon's start, because the allocation
 * has existed at least since then. */
int64_t st_usage_counts_from(const struct storage *st, int64_t begin_ms, int64_t end_ms)
{
    if (may_last(begin_ms, end_ms))
        return begin_ms;
    return end_ms > begin_ms && may_last(st->opened_ms, end_ms) ? st->opened_ms : end_ms;
}

/* Sets the begin and the end of the use. If the wall clock was set meanwhile, the begin is the end
 * minus the measured duration. */
static void set_time(const struct storage *st, struct usage *u, const struct allocation_end *end)
{
    int64_t held = end->held_us / 1000;
    u->end_ms = end->now_us / 1000;
    int64_t off = u->end_ms - u->begin_ms - held;
    if (end->held_us > 0 && (off > STEP_MS || off < -STEP_MS))
        u->begin_ms = u->end_ms > held ? u->end_ms - held : 0;
    if (u->end_ms < u->begin_ms)
        u->end_ms = u->begin_ms;
    u->begin_ms = st_usage_counts_from(st, u->begin_ms, u->end_ms);
    /* it was queued when the clock was not set yet, so the waiting time is not known */
    if (!may_last(0, u->wait_ms))
        u->wait_ms = 0;
}

int st_usage_write(struct storage *st, struct usage_live *live, const struct allocation_end *end,
                   struct err *e)
{
    struct usage *u = &live->row;
    set_time(st, u, end);
    u->again = end->again;
    u->used = end->used;
    usage_sampled(u, end->busy_us, end->idle_us);
    usage_believe(u);
    if (find_subject(st, &live->subject, &u->subject_id, e) < 0 ||
        st_usage_insert_row(st, u, &u->id, e) < 0 || add_days(st, u, e) < 0)
        return -1;
    return count(st, live, e);
}

/* --- reading --------------------------------------------------------------------------------- */

/* How many days are read at once: a year of a busy site takes 80 ms. */
#define DAYS_AT_ONCE 30

/* Gives the part of the use that is within [from_ms, to_ms). */
static void give(const struct st_usage_reading *r, const struct usage_live *l, int64_t from_ms,
                 int64_t to_ms, bool open)
{
    struct usage_sums sums = {0};
    usage_add_cut(&sums, &l->row, open, from_ms > r->from_ms ? from_ms : r->from_ms,
                  to_ms < r->to_ms ? to_ms : r->to_ms);
    r->fn(r->ctx, &l->subject, &sums);
}

static int read_days(struct storage *st, struct arena *a, const struct st_usage_reading *r,
                     int64_t first, int64_t end, struct err *e)
{
    struct usage_total *rows;
    size_t n;
    if (st_usage_of_days(st, a, first, end, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        r->fn(r->ctx, &rows[i].subject, &rows[i].sums);
    return 0;
}

/* Adds the rows that have ended since the days were read, as far as they concern these days. */
static int catch_up(struct storage *st, struct arena *a, struct st_usage_reading *r, struct err *e)
{
    struct usage_live *rows;
    size_t n;
    if (st_usage_since(st, a, r->last, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (r->day > r->first)
            give(r, &rows[i], r->first * USAGE_DAY_MS, r->day * USAGE_DAY_MS, false);
        r->last = rows[i].row.id;
    }
    return 0;
}

static void begin_day(struct st_usage_reading *r)
{
    int64_t begin_ms = r->n_days > r->at ? r->days[r->at] * USAGE_DAY_MS : 0;
    r->over = false;
    r->place = (struct st_usage_place){begin_ms > r->from_ms ? begin_ms : r->from_ms, 0};
}

/* Ends the reading of whole days. The day in which the period ends is read as a whole if no use
 * ended after the period; otherwise its rows are read. */
static int end_days(struct storage *st, struct arena *a, struct st_usage_reading *r, struct err *e)
{
    int64_t end_ms;
    if (st_usage_last_end(st, &end_ms, e) < 0)
        return -1;
    if (r->end >= r->first && end_ms < r->to_ms) {
        if (read_days(st, a, r, r->end, r->end + 1, e) < 0)
            return -1;
    } else if (r->end * USAGE_DAY_MS < r->to_ms) {
        r->days[r->n_days++] = r->end;
    }
    r->seen = r->last;
    r->phase = USAGE_OPEN;
    begin_day(r);
    return st_node_ids(st, r->arena, &r->nodes, &r->n_nodes, e);
}

static int some_days(struct storage *st, struct arena *a, struct st_usage_reading *r, int limit,
                     struct err *e)
{
    int64_t to = r->end - r->day > DAYS_AT_ONCE ? r->day + DAYS_AT_ONCE : r->end;
    (void)limit;
    if (catch_up(st, a, r, e) < 0 || (r->day < to && read_days(st, a, r, r->day, to, e) < 0))
        return -1;
    r->day = r->day < to ? to : r->day;
    return r->day < r->end ? 0 : end_days(st, a, r, e);
}

static bool was_open(const struct st_usage_reading *r, const struct usage *u)
{
    for (size_t i = 0; i < r->n_open; i++)
        if (r->open[i].run_id == u->run_id && r->open[i].attempt == u->attempt &&
            r->open[i].rank == u->rank)
            return true;
    return false;
}

static void note_open(struct st_usage_reading *r, const struct usage *u)
{
    if (r->n_open == r->open_cap) {
        r->open_cap = r->open_cap ? 2 * r->open_cap : 64;
        struct st_usage_part *more = arena_alloc(r->arena, r->open_cap * sizeof *more);
        if (r->n_open > 0)
            memcpy(more, r->open, r->n_open * sizeof *more);
        r->open = more;
    }
    r->open[r->n_open++] = (struct st_usage_part){u->run_id, u->attempt, u->rank};
}

/* Gives the rows that have ended since the days were read, unless their allocations were given
 * before they ended. */
static int give_ended(struct storage *st, struct arena *a, struct st_usage_reading *r,
                      struct err *e)
{
    struct usage_live *rows;
    size_t n;
    if (st_usage_since(st, a, r->seen, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!was_open(r, &rows[i].row))
            give(r, &rows[i], r->from_ms, r->to_ms, false);
        r->seen = rows[i].row.id;
    }
    return 0;
}

static int node_open(struct storage *st, struct arena *a, struct st_usage_reading *r, size_t *n,
                     struct err *e)
{
    struct usage_live *rows;
    if (st_usage_live_on(st, a, r->nodes[r->node++], &rows, n, e) < 0)
        return -1;
    for (size_t i = 0; i < *n; i++) {
        struct usage *u = &rows[i].row;
        u->end_ms = r->now_ms > u->begin_ms ? r->now_ms : u->begin_ms;
        u->begin_ms = st_usage_counts_from(st, u->begin_ms, u->end_ms);
        give(r, &rows[i], r->from_ms, r->to_ms, true);
        note_open(r, u);
    }
    return 0;
}

/* Gives the allocations that have not ended, node by node. */
static int some_open(struct storage *st, struct arena *a, struct st_usage_reading *r, int limit,
                     struct err *e)
{
    if (give_ended(st, a, r, e) < 0)
        return -1;
    for (size_t cost = 0, n; r->node < r->n_nodes && cost < (size_t)limit; cost += n + 1)
        if (node_open(st, a, r, &n, e) < 0)
            return -1;
    if (r->node == r->n_nodes)
        r->phase = USAGE_ROWS;
    return 0;
}

/* Begins a reading. Days before the first recorded day are skipped. */
int st_usage_begin(struct storage *st, struct st_usage_reading *r, struct err *e)
{
    int64_t first;
    assert(r->from_ms >= 0 && r->phase == USAGE_DAYS && r->arena);
    if (r->to_ms <= r->from_ms) {
        r->phase = USAGE_ROWS; /* there is no day to read */
        return 0;
    }
    r->first = usage_day(r->from_ms + USAGE_DAY_MS - 1);
    r->end = usage_day(r->to_ms);
    if (r->first <= r->end && r->first * USAGE_DAY_MS > r->from_ms)
        r->days[r->n_days++] = r->first - 1;
    if (st_usage_last(st, &r->last, e) < 0 || st_usage_first_day(st, &first, e) < 0)
        return -1;
    r->day = first > r->end ? r->end : first > r->first ? first : r->first;
    return 0;
}

static int read_rows(struct storage *st, struct arena *a, const struct st_usage_reading *r,
                     int limit, struct usage_live **rows, size_t *n, struct err *e)
{
    int64_t day = r->days[r->at];
    return r->over ? st_usage_over(st, a, day, r->place.id, r->last, limit, rows, n, e)
                   : st_usage_ended(st, a, &r->place, (day + 1) * USAGE_DAY_MS, r->last, limit,
                                    rows, n, e);
}

/* After the rows that ended on the day, continues with the rows that ended later; after these, with
 * the next day. */
static void go_on(struct st_usage_reading *r)
{
    if (!r->over) {
        r->over = true;
        r->place.id = 0;
        return;
    }
    r->at++;
    begin_day(r);
}

static int some_rows(struct storage *st, struct arena *a, struct st_usage_reading *r, int limit,
                     struct err *e)
{
    struct usage_live *rows;
    size_t n = 0;
    if (r->at == r->n_days)
        return 0;
    if (read_rows(st, a, r, limit, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int64_t day = r->days[r->at];
        give(r, &rows[i], day * USAGE_DAY_MS, (day + 1) * USAGE_DAY_MS, false);
        r->place = (struct st_usage_place){rows[i].row.end_ms, rows[i].row.id};
    }
    if (n < (size_t)limit)
        go_on(r);
    return 0;
}

int st_usage_more(struct storage *st, struct st_usage_reading *r, int limit, bool *left,
                  struct err *e)
{
    static int (*const phases[])(struct storage * st, struct arena * a, struct st_usage_reading * r,
                                 int limit, struct err *e) = {
        [USAGE_DAYS] = some_days, [USAGE_OPEN] = some_open, [USAGE_ROWS] = some_rows};
    struct arena a;
    arena_init(&a);
    int rc = phases[r->phase](st, &a, r, limit, e);
    arena_free(&a);
    *left = r->phase != USAGE_ROWS || r->at < r->n_days;
    return rc;
}

/* How many rows st_usage_each() reads at once. */
#define AT_ONCE 1000

int st_usage_each(struct storage *st, int64_t from_ms, int64_t to_ms, int64_t now_ms,
                  st_usage_fn fn, void *ctx, struct err *e)
{
    struct arena a;
    struct st_usage_reading r = {
        .from_ms = from_ms, .to_ms = to_ms, .now_ms = now_ms, .fn = fn, .ctx = ctx, .arena = &a};
    bool left = true;
    arena_init(&a);
    int rc = st_usage_begin(st, &r, e);
    while (rc == 0 && left)
        rc = st_usage_more(st, &r, AT_ONCE, &left, e);
    arena_free(&a);
    return rc;
}

int st_usage_sweep(struct storage *st, int limit, int *gone, struct err *e)
{
    bool any;
    *gone = 0;
    if (st_usage_any_detached(st, &any, e) < 0)
        return -1;
    if (!any)
        return 0;
    if (st_usage_sweep_over(st, limit, e) < 0 || st_usage_sweep_rows(st, limit, gone, e) < 0)
        return -1;
    if (*gone == limit)
        return 0;
    return st_usage_sweep_days(st, e) < 0 ? -1 : st_usage_sweep_subjects(st, e);
}
