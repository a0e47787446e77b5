/* SPDX-License-Identifier: MIT
 *
 * Tasks that wait for another task by its name. Many tasks may wait for one task, so they are
 * released some at a time. Rows that still wait for a task that is completed as they require are
 * the ones that are not yet released.
 */
#include <limits.h>

#include "model/batch/exits.h"
#include "scheduler/front/batch/front_priv.h"

/* Wakes tasks whose dependents are not all released. */
static const struct wake_kind woken_dependents = {"batch dependents", WAKE_LAST};

/* Released dependents per turn of the loop and task; some 10 us each. */
#define RELEASED_AT_ONCE 500

int task_dependents_settle(const struct batch_front *f, struct storage *st,
                           const struct batch_task *t, int64_t number, struct err *e)
{
    const struct st_batch_settling how = {number, RELEASED_AT_ONCE};
    bool left;
    if (st_batch_wait_settle(st, t, &how, &left, e) < 0)
        return -1;
    if (left)
        wake_durable(f->wakes, &woken_dependents, t->id);
    return 0;
}

int task_dependents_leave(struct storage *st, const struct batch_task *t, struct err *e)
{
    const struct st_batch_settling all = {-1, INT_MAX};
    int64_t number = batch_id_number(t->name);
    bool left;
    if (!t->satisfies)
        return 0;
    if (st_batch_wait_settle(st, t, &all, &left, e) < 0)
        return -1;
    return number < 0 ? 0 : st_batch_wait_leave(st, t, number, e);
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
        rc = task_dependents_settle(m->f, st, &t, -1, e);
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
    if (wake_listed(f->wakes, &woken_dependents, st_batch_wait_unsettled, &e) < 0)
        LOG_ERROR(f->log, "batch_task.dependents_not_listed", LF_STR("why", e.msg));
}
