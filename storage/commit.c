/* SPDX-License-Identifier: MIT
 *
 * Turns, savepoints and durability.
 *
 *   st_when_durable() -> turn list --st_turn_end(): COMMIT--> waiting list --sync starts--> synced
 *   list --fdatasync done--> callbacks run
 *
 * There is one sync at a time; commits made meanwhile wait for the next. The callbacks of a turn
 * whose commit failed pass through the same lists, with the reason, so that callbacks run in the
 * order in which they were registered.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/work.h"
#include "storage/storage_priv.h"

static void sync_start(struct storage *st);

static void list_add(struct durable_list *l, struct durable_call d)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 16;
        l->items = xrealloc(l->items, l->cap * sizeof *l->items);
    }
    l->items[l->n++] = d;
}

static void list_move(struct durable_list *to, struct durable_list *from)
{
    for (size_t i = 0; i < from->n; i++)
        list_add(to, from->items[i]);
    from->n = 0;
}

static void release(struct failed_turn *f)
{
    assert(!f || f->refs > 0);
    if (f && --f->refs == 0)
        free(f);
}

/* Calls all callbacks of the list. They may write and register more callbacks, which are added to
 * the turn list, never to this list. */
static void list_fire(struct durable_list *l)
{
    struct durable_list mine = *l;
    *l = (struct durable_list){0};
    for (size_t i = 0; i < mine.n; i++) {
        struct durable_call *d = &mine.items[i];
        d->cb(d->ctx, d->failed ? &d->failed->why : NULL);
        release(d->failed);
    }
    if (l->items) {
        free(mine.items);
        return;
    }
    mine.n = 0; /* keep the memory for the next time */
    *l = mine;
}

void st_commit_free(struct storage *st)
{
    struct durable_list *lists[] = {&st->turn, &st->written, &st->waiting, &st->synced};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t k = 0; k < lists[i]->n; k++)
            release(lists[i]->items[k].failed);
        free(lists[i]->items);
        *lists[i] = (struct durable_list){0};
    }
}

/* --- the turn's transaction ------------------------------------------------------------------ */

void st_turn_read(struct storage *st)
{
    if (!st->in_turn && !st->in_read && !st->turn_doomed)
        st->in_read = st_control(st, ST_BEGIN_READ, "begin to read", NULL) == 0;
}

/* Ends a transaction that only read, so nothing can be lost. */
static void read_end(struct storage *st)
{
    if (!st->in_read)
        return;
    st->in_read = false;
    if (st_control(st, ST_COMMIT, "end of reading", NULL) < 0)
        LOG_ERROR(st->log, "db.read_end_failed", LF_STR("why", st_sql_error(st)));
}

int st_turn_begin(struct storage *st, struct err *e)
{
    assert(!st->at_instant);
    if (st->turn_doomed) {
        if (e)
            *e = st->doom;
        return -1;
    }
    if (st->in_turn)
        return 0;
    read_end(st);
    if (st_control(st, ST_BEGIN, "begin", e) < 0)
        return -1;
    st->in_turn = true;
    return 0;
}

static int turn_commit(struct storage *st, struct err *why)
{
    int rc = 0;
    if (st->events_added)
        st->events_note(st);
    st->events_added = false;
    if (st->turn_doomed) {
        *why = st->doom;
        rc = -1;
    } else if (st_control(st, ST_COMMIT, "commit", why) < 0) {
        rc = -1;
    }
    if (st_sql_in_transaction(st) && st_control(st, ST_ROLLBACK, "rollback", NULL) < 0)
        LOG_ERROR(st->log, "db.rollback_failed", LF_STR("why", st_sql_error(st)));
    if (rc < 0)
        st_used_undo(st, 0);
    st_used_keep(st);
    st->in_turn = false;
    st->turn_doomed = false;
    /* the triggers are gone, too */
    st->changes_due = st->changes_due || (rc < 0 && st->changes_new);
    st->changes_new = false;
    st->dirty = st->dirty || rc == 0;
    st->counters.commits += rc == 0;
    st->counters.rollbacks += rc != 0;
    return rc;
}

static void turn_fail(struct storage *st, const struct err *why)
{
    struct durable_list *lists[] = {&st->turn, &st->written};
    size_t n = st->turn.n + st->written.n;
    LOG_ERROR(st->log, "db.transaction_lost", LF_STR("why", why->msg), LF_INT("callbacks", n));
    if (n == 0)
        return;
    struct failed_turn *f = xcalloc(1, sizeof *f);
    f->why = *why;
    f->refs = n;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            lists[k]->items[i].failed = f;
}

static void sync_or_fire(struct storage *st)
{
    if (st->syncing)
        return;
    if (st->dirty && !st->without_sync) {
        sync_start(st);
        return;
    }
    st->dirty = false;
    if (st->waiting.n > 0)
        list_fire(&st->waiting);
}

void st_turn_end(struct storage *st)
{
    assert(st->open_queries == 0 && !(st->in_turn && st->in_read) && !st->at_instant);
    struct err why;
    read_end(st);
    bool wrote = st->in_turn;
    if (wrote && turn_commit(st, &why) < 0)
        turn_fail(st, &why);
    assert(!st->in_turn && !st->turn_doomed);
    list_move(&st->waiting, &st->turn);
    if (st->disk_full)
        st_shed_wal(st);
    if (st->finish_checkpoint && (wrote || st->sheds_wal))
        st_checkpoint_rest(st);
    sync_or_fire(st);
    if (st->written.n > 0)
        list_fire(&st->written);
}

void st_when_committed(struct storage *st, st_durable_cb cb, void *ctx)
{
    list_add(&st->written, (struct durable_call){.cb = cb, .ctx = ctx});
}

void st_when_durable(struct storage *st, st_durable_cb cb, void *ctx)
{
    assert(cb);
    list_add(&st->turn, (struct durable_call){.cb = cb, .ctx = ctx});
}

bool st_has_pending(const struct storage *st)
{
    return st->in_turn || st->dirty || st->syncing;
}

/* Rolls back a part of the turn, unless the whole turn is rolled back anyway. `n`: the number of
 * uses that were counted before the part. */
static void part_undo(struct storage *st, size_t n)
{
    if (st->turn_doomed)
        return;
    st_used_undo(st, n);
    st_rows_undone(st); /* SQLite's hook reports only the rollback of a whole transaction */
    st->changes_due = st->changes_due || st->changes_new;
    struct err e;
    if (st_control(st, ST_ROLLBACK_PART, "rollback to", &e) == 0 &&
        st_control(st, ST_RELEASE, "release", &e) == 0)
        return;
    /* The part's writes cannot be separated from the rest any more: the whole turn is rolled
     * back. */
    st->turn_doomed = true;
    st->doom = e;
}

/* Runs the function of a part. It must end its statements even if it fails: a running statement
 * would block the rollback of the savepoint. */
static int run_part(struct storage *st, st_tx_fn fn, void *ctx, struct err *e)
{
    int open = st->open_queries;
    int rc = fn(st, ctx, e);
    assert(st->open_queries == open);
    (void)open;
    return rc;
}

int st_tx(struct storage *st, const char *name, st_tx_fn fn, void *ctx, struct err *e)
{
    if (st_turn_begin(st, e) < 0)
        return -1;
    if (st_control(st, ST_SAVEPOINT, name, e) < 0)
        return -1;
    size_t used = st_used_in_turn(st);
    if (run_part(st, fn, ctx, e) < 0) {
        part_undo(st, used);
        return -1;
    }
    if (st->turn_doomed) {
        if (e)
            *e = st->doom;
        return -1;
    }
    return st_control(st, ST_RELEASE, name, e);
}

int st_whole(struct storage *st, st_tx_fn fn, void *ctx, struct err *e)
{
    struct err local;
    struct err *why = e ? e : &local;
    if (st_turn_begin(st, why) < 0)
        return -1;
    int64_t before = st_sql_changes(st);
    int rc = run_part(st, fn, ctx, why);
    if (rc < 0 && !st->turn_doomed && st_sql_changes(st) != before) {
        st->turn_doomed = true;
        st->doom = *why;
    }
    if (rc == 0 && st->turn_doomed) {
        *why = st->doom;
        rc = -1;
    }
    return rc;
}

/* --- the sync -------------------------------------------------------------------------------- */

static void sync_work(void *ctx)
{
    struct storage *st = ctx;
    int rc;
    do
        rc = st->sync_fn(st->wal_fd);
    while (rc < 0 && errno == EINTR);
    st->sync_errno = rc < 0 ? errno : 0;
}

static void sync_done(void *ctx, enum loop_work_end how)
{
    struct storage *st = ctx;
    assert(st->syncing && how == LOOP_WORK_DONE); /* the lane is closed after the last */
    (void)how;
    if (st->sync_errno != 0) {
        /* The kernel may have dropped the pages and would report success next time. The state on
         * disk is consistent, so the daemon must start again from there. */
        LOG_ERROR(st->log, "db.sync_failed", LF_STR("why", strerror(st->sync_errno)));
        work_give_up();
    }
    st->syncing = false;
    st->counters.syncs++;
    list_fire(&st->synced);
    if (!st->syncing && st->dirty)
        sync_start(st);
    else if (!st->syncing && st->waiting.n > 0)
        list_fire(&st->waiting);
    st_checkpoint_maybe(st);
    if (st->closing)
        st->close_step(st);
}

static void sync_start(struct storage *st)
{
    assert(!st->syncing && st->synced.n == 0);
    struct durable_list empty = st->synced;
    st->synced = st->waiting;
    st->waiting = empty;
    st->dirty = false;
    st->syncing = true;
    st_lane_work(st->sync_lane, sync_work, sync_done, st);
}
