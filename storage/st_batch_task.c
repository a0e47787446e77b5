/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's tasks and their dependencies. A task that waits for a range of numbers has one open
 * range (batch_wait), until one interval of numbers that are done (batch_done) has all of it. A
 * number that is done no more leaves its interval, but stays done for the ranges that are open
 * then.
 */
#include "storage/batch_jobs.h"
#include "storage/storage_priv.h"

int st_batch_task_remove_some(struct storage *st, int64_t job_id, int limit, bool *left,
                              struct err *e)
{
    int gone;
    if (st_batch_task_remove_up_to(st, job_id, limit, &gone, e) < 0)
        return -1;
    *left = gone == limit;
    return 0;
}

int st_batch_job_remove_numbers(struct storage *st, int64_t id, int limit, bool *left,
                                struct err *e)
{
    int gone;
    if (st_batch_done_remove(st, id, limit, &gone, e) < 0)
        return -1;
    *left = gone == limit;
    return 0;
}

/* --- dependencies --- */

/* An interval of completed numbers. */
struct tasks_done {
    int64_t low, high;
};

/* 1: *in is the interval that contains n; 0: none contains it. */
static int interval_of(struct storage *st, int64_t job_id, int64_t n, struct tasks_done *in,
                       struct err *e)
{
    int rc = st_batch_done_at(st, job_id, n, &in->low, &in->high, e);
    return rc == 1 && in->high < n ? 0 : rc;
}

/* Adds n to the intervals; *with becomes the interval that contains it now. 0: n was in an interval
 * already. */
static int add_done(struct storage *st, int64_t job_id, int64_t n, struct tasks_done *with,
                    struct err *e)
{
    struct tasks_done before, behind;
    int rc = st_batch_done_at(st, job_id, n, &before.low, &before.high, e);
    if (rc < 0)
        return -1;
    if (rc == 1 && before.high >= n)
        return 0;
    *with = (struct tasks_done){rc == 1 && before.high == n - 1 ? before.low : n, n};
    rc = n < INT64_MAX ? st_batch_done_at(st, job_id, n + 1, &behind.low, &behind.high, e) : 0;
    if (rc < 0)
        return -1;
    if (rc == 1 && behind.low == n + 1) {
        with->high = behind.high;
        if (st_batch_done_drop(st, job_id, behind.low, e) < 0)
            return -1;
    }
    return st_batch_done_put(st, job_id, with->low, with->high, e) < 0 ? -1 : 1;
}

/* A range that n completes begins in the interval up to n and ends in the interval from n on.
 * Ranges that begin or end in the shorter interval are checked: it is at most half of the merged
 * one, so each beginning and each end is checked at most log2(numbers) times, in whatever order the
 * numbers come. *gone: how many ranges were settled. */
static int settle_number(struct storage *st, int64_t job_id, const struct st_batch_settling *how,
                         int *gone, struct err *e)
{
    struct tasks_done in;
    int64_t n = how->number;
    int rc = how->again ? interval_of(st, job_id, n, &in, e) : add_done(st, job_id, n, &in, e);
    *gone = 0;
    if (rc <= 0)
        return rc;
    if (n - in.low <= in.high - n)
        return st_batch_ranges_met_by_low(st, job_id, in.low, n, in.high, how->limit, e) < 0
                   ? -1
                   : st_batch_ranges_remove_by_low(st, job_id, in.low, n, in.high, how->limit, gone,
                                                   e);
    return st_batch_ranges_met_by_high(st, job_id, in.low, n, in.high, how->limit, e) < 0
               ? -1
               : st_batch_ranges_remove_by_high(st, job_id, in.low, n, in.high, how->limit, gone,
                                                e);
}

int st_batch_wait_settle(struct storage *st, const struct batch_task *t,
                         const struct st_batch_settling *how, bool *left, struct err *e)
{
    int gone, ranges = 0;
    if (st_batch_wait_met(st, t, how->limit, e) < 0 ||
        st_batch_wait_remove_met(st, t, how->limit, &gone, e) < 0 ||
        (how->number >= 0 && settle_number(st, t->job_id, how, &ranges, e) < 0))
        return -1;
    *left = gone == how->limit || ranges == how->limit;
    return 0;
}

/* Open ranges keep all numbers of the interval, so that the numbers which follow from it cost
 * nothing more. */
static int cut_ranges(struct storage *st, int64_t job_id, const struct tasks_done *in,
                      struct err *e)
{
    if (st_batch_ranges_count_parts(st, job_id, in->low, in->high, e) < 0 ||
        st_batch_ranges_add_parts(st, job_id, in->low, in->high, e) < 0 ||
        st_batch_ranges_end_before(st, job_id, in->low, e) < 0)
        return -1;
    return st_batch_ranges_begin_behind(st, job_id, in->low, in->high, e);
}

static int remove_done(struct storage *st, int64_t job_id, int64_t n, const struct tasks_done *from,
                       struct err *e)
{
    if (st_batch_done_drop(st, job_id, from->low, e) < 0)
        return -1;
    if (from->low < n && st_batch_done_put(st, job_id, from->low, n - 1, e) < 0)
        return -1;
    return n < from->high ? st_batch_done_put(st, job_id, n + 1, from->high, e) : 0;
}

int st_batch_wait_leave(struct storage *st, const struct batch_task *t, int64_t number,
                        struct err *e)
{
    struct tasks_done in;
    bool other;
    if (st_batch_number_satisfied(st, t, number, &other, e) < 0)
        return -1;
    int rc = other ? 0 : st_batch_done_at(st, t->job_id, number, &in.low, &in.high, e);
    if (rc <= 0 || in.high < number)
        return rc;
    return cut_ranges(st, t->job_id, &in, e) < 0 ? -1 : remove_done(st, t->job_id, number, &in, e);
}
