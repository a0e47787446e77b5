/* SPDX-License-Identifier: MIT
 *
 * Tasks that wait for another task, by its name or by a range of numbers. Many tasks may wait for
 * one task, so they are released some at a time. Rows that still wait for a task that is completed
 * as they require, and ranges all of whose numbers are completed, are not yet released.
 */
#include <limits.h>

#include "model/batch/exits.h"
#include "scheduler/front/batch/front_priv.h"

/* Wakes tasks whose dependents are not all released. */
static const struct wake_kind woken_dependents = {"batch dependents", WAKE_LAST};

/* Released names and ranges per turn of the loop and task; some 10 us each. */
#define RELEASED_AT_ONCE 500

/* `again`: the task's first dependents are released already. */
static int settle(const struct batch_front *f, struct storage *st, const struct batch_task *t,
                  bool again, struct err *e)
{
    const struct st_batch_settling how = {batch_id_number(t->name), RELEASED_AT_ONCE, again};
    bool left;
    if (st_batch_wait_settle(st, t, &how, &left, e) < 0)
        return -1;
    if (left)
        wake_durable(f->wakes, &woken_dependents, t->id);
    return 0;
}

int task_dependents_settle(const struct batch_front *f, struct storage *st,
                           const struct batch_task *t, struct err *e)
{
    return settle(f, st, t, false, e);
}

int task_dependents_leave(struct storage *st, const struct batch_task *t, struct err *e)
{
    /* Settled with all ranges that contain the number, because the interval is split there. */
    const struct st_batch_settling all = {batch_id_number(t->name), INT_MAX, true};
    bool left;
    if (!t->satisfies)
        return 0;
    if (st_batch_wait_settle(st, t, &all, &left, e) < 0)
        return -1;
    return all.number < 0 ? 0 : st_batch_wait_leave(st, t, all.number, e);
}

struct more {
    const struct batch_front *f;
    int64_t id;
};

static int settle_more(struct storage *st, void *ctx, struct err *e)
{
    const struct more *m = ctx;
    struct arena a;
    struct batch_task t;
    arena_init(&a);
    int rc = st_batch_task_by_id(st, &a, m->id, &t, e);
    if (rc == 1 && t.satisfies) {
        wake_durable(m->f->wakes, &woken_job, t.job_id);
        rc = settle(m->f, st, &t, true, e);
    }
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

static void go_on(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct more m = {f, id};
    struct err e = {0};
    wake_if_lost(f->wakes, &woken_dependents, id);
    if (st_tx(f->st, "batch dependents", settle_more, &m, &e) == 0)
        return;
    LOG_ERROR(f->log, "batch_task.dependents_not_released", LF_INT("id", id), LF_STR("why", e.msg));
    wake_at(f->wakes, &woken_dependents, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
}

void task_dependents_begin(struct batch_front *f)
{
    struct err e;
    wakes_handle(f->wakes, &woken_dependents, go_on, f);
    if (wake_listed(f->wakes, &woken_dependents, st_batch_wait_unsettled, &e) < 0 ||
        wake_listed(f->wakes, &woken_dependents, st_batch_ranges_unsettled, &e) < 0)
        LOG_ERROR(f->log, "batch_task.dependents_not_listed", LF_STR("why", e.msg));
}
