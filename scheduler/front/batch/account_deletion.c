/* SPDX-License-Identifier: MIT
 *
 * Marks the jobs of accounts that are being deleted: some at a time, because an account may have
 * any number. The account's pools were marked together with the account, so they start no task
 * meanwhile. No job and no pool is made in such an account, because nothing would mark it.
 */
#include <stdlib.h>

#include "scheduler/front/batch/front_priv.h"

/* One reconcile for all accounts that are being deleted. */
static const struct wake_kind woken_accounts = {"batch accounts", WAKE_LAST};

/* Jobs per pass, some 20 us each. While unmarked jobs remain, there is one pass in each turn of the
 * loop. */
#define MARKED_AT_ONCE 100

struct account_pass {
    struct batch_front *f;
    struct arena *a;
    int64_t account_id;
    struct batch_job_rows rows;
};

/* The next pass begins with the first account and its first job; it skips jobs that are marked
 * already. */
static void begin_anew(struct batch_front *f)
{
    free(f->doomed_after);
    f->doomed_after = NULL;
    f->doomed_account = 0;
}

static int mark_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct account_pass *p = ctx;
    if (st_batch_job_list(st, p->a, p->account_id, NULL,
                          &(struct st_names){.after = p->f->doomed_after, .limit = MARKED_AT_ONCE},
                          &p->rows, e) < 0)
        return -1;
    for (size_t i = 0; i < p->rows.n; i++)
        if (p->rows.items[i].state != BATCH_JOB_DELETING &&
            batch_job_delete(p->f, &p->rows.items[i], wakes_wall(p->f->wakes), e) < 0)
            return -1;
    return 0;
}

/* 1: there may be more jobs to mark; 0: all are marked. */
static int mark_some(struct batch_front *f, struct arena *a, struct err *e)
{
    struct account_pass p = {.f = f, .a = a, .account_id = f->doomed_account};
    if (st_batch_account_deleting(f->st, f->doomed_account, &p.account_id, e) < 0)
        return -1;
    if (p.account_id != f->doomed_account)
        begin_anew(f);
    f->doomed_account = p.account_id;
    if (p.account_id == 0) {
        bool again = f->doomed_again;
        f->doomed_again = false;
        return again;
    }
    if (st_tx(f->st, "mark jobs", mark_in_tx, &p, e) < 0)
        return -1;
    begin_anew(f);
    if (p.rows.n < MARKED_AT_ONCE) {
        f->doomed_account = p.account_id + 1;
        return 1;
    }
    f->doomed_account = p.account_id;
    f->doomed_after = xstrdup(p.rows.items[p.rows.n - 1].name);
    return 1;
}

static void effect_marked(void *ctx, int64_t id, const struct err *why)
{
    struct batch_front *f = ctx;
    if (!why)
        return;
    begin_anew(f);
    wake_at(f->wakes, &woken_accounts, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
}

static void reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct err e = {0};
    arena_init(&a);
    int rc = mark_some(f, &a, &e);
    if (rc < 0) {
        LOG_ERROR(f->log, "batch_account.jobs_not_marked", LF_STR("why", e.msg));
        begin_anew(f);
        wake_at(f->wakes, &woken_accounts, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    } else if (rc > 0) {
        wake_when_durable(f->wakes, effect_marked, f, id);
        wake_at(f->wakes, &woken_accounts, id, wakes_mono(f->wakes)); /* in the next turn */
    }
    arena_free(&a);
}

void account_marked(struct front *base)
{
    struct batch_front *f = batch_self_rw(base);
    f->doomed_again = f->doomed_again || f->doomed_account != 0; /* its id may be lower */
    wake(f->wakes, &woken_accounts, WAKE_ALL);
    pools_may_remove(base);
}

void account_deletions_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_accounts, reconcile, f);
    wake(f->wakes, &woken_accounts, WAKE_ALL);
}

void account_deletions_end(struct batch_front *f)
{
    begin_anew(f);
}
